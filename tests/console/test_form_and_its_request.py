"""While a form about a request is open, that request stays beside it, and what becomes of it is said at once."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from tests.console.conftest import Clock, Desk, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
OTHER = "schedule-manager"


def of_another(team: MemoryTeam) -> None:
    """A plan of another agent, which is next in the list."""
    assert isinstance(team.clock, Clock)
    team.clock.advance(1)
    hand_in_plan(team, "The dates of the next release", "1. Lay the dates", by=OTHER)


def outcome(desk: Desk) -> str:
    """What the form says of its request."""
    return " ".join(str(desk.front.query_one("#outcome", Static).content).split())


@pytest.mark.parametrize("place", ["1", "right", "2"])
async def test_a_superseded_plan_stays_beside_its_form_which_says_so_at_once(team: MemoryTeam, place: str) -> None:
    hand_in_plan(team)
    of_another(team)
    async with opened(team) as desk:
        await desk.press(place)
        if place == "2":
            await desk.shows("Refactor the report")
            await desk.press("enter")
        await desk.press("g", *("j" if "1. Split" not in desk.detail else ""))
        await desk.reads("1. Split")
        await desk.asks("a")
        hand_in_plan(team, "A quite different plan of today", "rm everything")
        await desk.until(lambda: "version 2 is here" in outcome(desk), "what became of the plan")
        assert "version 2 is here: +1 −2" in outcome(desk)
        assert "1. Split" in desk.detail
        assert "version 2 is here: +1 −2" in desk.detail
        assert "rm everything" not in desk.detail
        assert "Lay the dates" not in desk.detail
        await desk.press("n")
        await desk.type("kept")
        await desk.press("enter")
        await desk.until(lambda: "superseded by" in desk.said, "a refusal")
        assert verdicts(team) == []
