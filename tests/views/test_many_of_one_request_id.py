"""Any number of requests and answers under one id, as an agent may write them, take work that grows as they do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from team_console.store.model.message import Message, from_record
from team_console.store.views.projection import Projection

from tests.equipment.counting import calls_of
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, config

_ASKED = 'BROWSER_REQUEST: {"request_id": "B-1", "operation": "open"}'
_ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "named": {"request_id": "B-1", "approve": True, "request_sha256": "a" * 64},
    "by their place": {"request_id": "B-1", "approve": True},
    "taking back": {"request_id": "B-1", "reason": "not needed"},
}


def pairs(number: int, kind: str, answer: Mapping[str, Any]) -> tuple[Message, ...]:
    """Questions of one agent under one id, each followed by what may answer it."""
    envelope = {"created": "2026-02-24T10:30:15.123Z", "status": "pending", "priority": "high"}
    ways = (("dev", "ceo", "message", {"content": _ASKED}), ("ceo", "dev", kind, answer))
    return tuple(
        from_record(
            {**envelope, "message_id": f"M-{place}", "from": sender, "to": to, "type": name, "payload": dict(payload)}
        )
        for place, (sender, to, name, payload) in enumerate(ways * number)
    )


@pytest.mark.parametrize("answer", _ANSWERS)
def test_twice_as_many_are_asked_about_twice_as_often(answer: str) -> None:
    seen = []
    for number in (40, 80):
        team = MemoryTeam(config=config(), clock=FakeClock())
        team._state.messages = pairs(number, "message", _ANSWERS[answer])
        seen.append(calls_of(partial(Projection("ceo").update, team.snapshot(), team.clock())))
    assert seen[1] <= 2.5 * seen[0]
