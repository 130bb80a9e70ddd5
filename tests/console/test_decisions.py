"""The mode Decisions: the ledger beside the other modes, read anew when something was decided."""

from __future__ import annotations

import pytest
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def decide(team: MemoryTeam, words: str, *, approve: bool = True) -> None:
    request_id = hand_in_plan(team, f"A plan that is answered with {words}")
    if approve:
        requests.approve(Caller(team, "ceo"), request_id=request_id, note=words)
    else:
        requests.reject(Caller(team, "ceo"), request_id=request_id, reason=words)


async def test_a_ledger_that_could_not_be_read_is_read_again(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    decide(team, "go-on")
    async with opened(team) as desk:
        with monkeypatch.context() as patch:
            patch.setattr("team_console.console.tui.modes.decisions.ledger_of_team", fails)
            await desk.press("3", "right")
            await desk.shows("Not read: ")
        desk.app._tick()
        await desk.shows("Decisions · 1")
        assert "not read again" not in desk.text
