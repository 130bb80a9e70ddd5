"""Answering many requests one after the other: each is judged on what stands when it is answered."""

from __future__ import annotations

from functools import partial

import pytest
from team_console.console.decisions import rehearse
from team_console.store.model.errors import TeamError
from team_console.store.service import requests
from team_console.store.service.caller import Caller, Receipt

from tests.service.conftest import SeatOf

NAMES = ("task-manager", "file-manager", "knowledge-manager")


def plan(caller: SeatOf, name: str) -> str:
    """A plan of `name`; its request id."""
    return str(requests.submit_plan(caller(name), content="1. Do it", summary="A plan for this day").request_id)


def approve(request_id: str, caller: Caller) -> Receipt:
    return requests.approve(caller, request_id=request_id)


def test_a_plan_superseded_between_two_answers_is_refused(caller: SeatOf) -> None:
    first, other = plan(caller, "task-manager"), plan(caller, "file-manager")
    rehearse(caller("ceo"), partial(approve, other))
    plan(caller, "task-manager")
    with pytest.raises(TeamError, match="superseded"):
        approve(first, caller("ceo"))
