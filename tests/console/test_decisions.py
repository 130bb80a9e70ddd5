"""The mode Decisions: the ledger beside the other modes, read anew when something was decided."""

from __future__ import annotations

import pytest
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, Clock, hand_in_plan, opened
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


async def test_history_has_what_was_decided_and_how_other_requests_ended(team: MemoryTeam, clock: Clock) -> None:
    decide(team, "go-on")
    clock.advance(60)
    withdrawn = hand_in_plan(team, "A plan with a bug in it")
    asking.withdraw(Caller(team, AUTHOR), request_id=withdrawn, reason="found a bug")
    async with opened(team) as desk:
        await desk.press("right")
        await desk.shows("No request is open")
        await desk.press("3", "right")
        await desk.shows(
            "Decisions · 1 · 1 ended without one", "withdrawn plan: A plan with a bug in it", "found a bug"
        )
        await desk.reads("1. Split")
        await desk.press("j")
        await desk.reads("go-on", "1. Split")
        await desk.press("c")
        await desk.shows("Conversation")
        await desk.press("escape", "slash")
        await desk.type("status:withdrawn")
        await desk.shows("Decisions · 1 of 2")
