"""Sending, as the desk promises it."""

from __future__ import annotations

import json

import pytest
from team_console.store.model.errors import Code
from team_console.store.service import sending

from tests.equipment.asking import refusal
from tests.equipment.memory_team import MemoryTeam
from tests.service.conftest import SeatOf


@pytest.mark.parametrize("bad", ["\ud83d", {"n": float("nan")}, {"k": object()}, {1: "a"}])
def test_what_could_not_be_read_back_is_refused_with_its_place(team: MemoryTeam, caller: SeatOf, bad: object) -> None:
    payload = {"extra": bad}
    refused = refusal(sending.send, caller("ceo"), to="file-manager", content="c", summary="s", payload=payload)
    assert (refused.code, "payload.extra" in refused.message) == (Code.INVALID_FIELD, True)


def test_a_large_sprint_message_stays_whole_and_one_above_the_limit_is_refused(
    team: MemoryTeam, caller: SeatOf
) -> None:
    body = {"msg_type": "AGENT_COMPLETE", "status": "success", "results": {"log": "x" * 70_000}}
    content = f"AGENT_COMPLETE: {json.dumps(body)}"
    sending.send(caller("task-manager"), to="file-manager", content=content, summary="Story 3-1 is complete and tested")
    assert team.snapshot().messages[0].content == content
    caught = refusal(
        sending.send, caller("ceo"), to=["file-manager", "task-manager"], content="x" * 1_100_000, summary="s"
    )
    assert (caught.code, len(team.snapshot().messages)) == (Code.CONTENT_TOO_LARGE, 1)
