"""What is read stays, also what was decided and is not written after all, until the cursor leaves it."""

from __future__ import annotations

import pytest
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Clock, hand_in_plan, opened
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("long_grace")]


@cases
async def test_a_request_that_is_read_stays_with_what_became_of_it_and_no_key_acts_on_another(
    team: MemoryTeam, clock: Clock, how: str, place: str, inside: bool
) -> None:
    first = hand_in_plan(team)
    clock.advance(1)
    hand_in_plan(team, "The dates of it", "1. Lay the dates", by="schedule-manager")
    async with opened(team) as desk:
        await desk.press(place, *(("enter",) if place == "2" else ()), "g")
        await desk.press(*("j" if "1. Split" not in desk.detail else ""), *(("enter",) if inside else ()))
        await desk.reads("1. Split")
        if how == "withdrawn":
            asking.withdraw(Caller(team, AUTHOR), request_id=first, reason="found a bug in it")
        elif how == "decided":
            requests.reject(Caller(team, LEAD), request_id=first, reason="another console was faster")
        else:
            hand_in_plan(team, "A quite different plan of today", "rm everything")
        words = {"withdrawn": "withdrawn", "decided": f"rejected by {LEAD}", "superseded": "version 2 is here"}[how]
        await desk.until(lambda: words in desk.detail and "· n next" in " ".join(desk.detail.split()), "its fate")
        before = len(team.audit())
        for key in ("a", "r"):
            await desk.press(key)
            assert desk.front is desk.app.main
        assert any(words in toast for toast in desk.toasts)
        assert "1. Split" in desk.detail
        await desk.press("n")
        await desk.until(lambda: words not in desk.detail.partition("──")[0], "the next thing")
        assert len(team.audit()) == before
