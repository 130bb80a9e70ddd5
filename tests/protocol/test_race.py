"""Two consoles answer the same request at the same moment, many times: one answer stands, on every store (D8)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.equipment.asking import plan, row
from tests.equipment.teams import FACTORIES, FakeClock

pytestmark = pytest.mark.slow
ROUNDS = 12
ANSWERS: tuple[Callable[..., object], ...] = (requests.approve, partial(requests.reject, reason="rejected"))


def answered(act: Callable[..., object], team: Team, request_id: str, start: Barrier) -> TeamError | None:
    """Answer as soon as the other console does; return the refusal, if it is one."""
    start.wait(60)
    try:
        act(Caller(team, "ceo", wait=60.0), request_id=request_id)
    except TeamError as error:
        return error
    return None


@pytest.mark.parametrize("store", FACTORIES)
def test_of_two_simultaneous_answers_exactly_one_stands_and_the_other_learns_who_and_when(
    store: str, tmp_path: Path
) -> None:
    start = Barrier(2)
    with FACTORIES[store](tmp_path, FakeClock()) as make, ThreadPoolExecutor(2) as consoles:
        teams = (make(), make())
        for _ in range(ROUNDS):
            request_id = plan(make())
            both = [
                consoles.submit(answered, act, team, request_id, start)
                for act, team in zip(ANSWERS, teams, strict=True)
            ]
            told = [one.result(120) for one in both]
            stands = row(make(), request_id)
            assert (len(stands.answers), told[not stands.is_approved]) == (1, None)
            refused = told[stands.is_approved]
            assert refused is not None
            facts = refused.facts
            assert (refused.code, facts["answered_by"]) == (Code.ALREADY_ANSWERED, "ceo")
            assert stands.verdict is not None
            assert facts["answered_at"] == stands.verdict.created
