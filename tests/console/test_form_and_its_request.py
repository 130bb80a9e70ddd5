"""While a form about a request is open, that request stays beside it, and what becomes of it is said at once."""

from __future__ import annotations

import pytest
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from textual.widgets import Static

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
OTHER = "schedule-manager"


def of_another(team: MemoryTeam) -> None:
    """A plan of another agent, which is next in the list."""
    assert isinstance(team.clock, Clock)
    team.clock.advance(1)
    requests.submit_plan(Caller(team, OTHER), content="1. Lay the dates", summary="The dates of the next release")


def outcome(desk: Desk) -> str:
    """What the form says of its request."""
    return " ".join(str(desk.front.query_one("#outcome", Static).content).split())


async def form_on_the_plan(desk: Desk, key: str = "a") -> None:
    """A form about the plan of the author, which is under the cursor."""
    assert f"Plan · {AUTHOR}" in desk.text
    await desk.asks(key)


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


async def test_after_the_form_its_request_stays_until_the_cursor_leaves_it_and_no_key_decides(
    team: MemoryTeam,
) -> None:
    hand_in_plan(team)
    of_another(team)
    async with opened(team) as desk:
        await form_on_the_plan(desk)
        hand_in_plan(team, "A quite different plan of today", "rm everything")
        await desk.until(lambda: "version 2 is here" in outcome(desk), "what became of the plan")
        await desk.press("escape", "a")
        await desk.until(lambda: "approve: version 2 is here" in "".join(desk.toasts), "why it cannot be approved")
        assert desk.front is desk.app.main
        assert "1. Split" in desk.detail
        assert "enter shows · n next" in " ".join(desk.detail.split())
        await desk.press("enter")
        await desk.reads("rm everything")
        assert len(desk.rows) == 2


@pytest.mark.parametrize("key", ["a", "r"])
async def test_a_verdict_of_another_console_is_said_with_who_gave_it(team: MemoryTeam, key: str) -> None:
    request_id = hand_in_plan(team)
    of_another(team)
    async with opened(team) as desk:
        await form_on_the_plan(desk, key)
        requests.reject(Caller(team, LEAD), request_id=request_id, reason="another console was faster")
        await desk.until(lambda: f"rejected by {LEAD}" in outcome(desk), "who decided it")
        assert f"rejected by {LEAD}" in desk.detail
        assert "another console was faster" in desk.detail


async def test_a_request_that_is_taken_back_says_why(team: MemoryTeam) -> None:
    question = [{"question": "Which one?", "options": [{"label": "This"}, {"label": "That"}]}]
    request_id = asking.ask_question(Caller(team, AUTHOR), questions=question).request_id
    of_another(team)
    async with opened(team) as desk:
        await desk.lists(2)
        await desk.press(*("j" if "Which one?" not in desk.detail else ""))
        await desk.asks("a")
        asking.withdraw(Caller(team, AUTHOR), request_id=str(request_id), reason="the session ended")
        await desk.until(lambda: ": the session ended" in outcome(desk), "why it waits no more")
        assert "withdrawn" in outcome(desk)
        assert "Which one?" in desk.detail


async def test_a_request_that_ends_by_itself_says_so(team: MemoryTeam, clock: Clock) -> None:
    end = clock.now.replace(minute=clock.now.minute + 1)
    requests.submit_plan(Caller(team, AUTHOR), content="1. Split", summary="A plan for this minute", expires=end)
    async with opened(team) as desk:
        await form_on_the_plan(desk)
        clock.advance(61)
        desk.app.look()
        await desk.until(lambda: ": timed out" in outcome(desk), "that it ended")
        assert "withdrawn" in outcome(desk)
        assert "1. Split" in desk.detail


async def test_a_form_says_nothing_of_a_request_that_waits(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await form_on_the_plan(desk)
        of_another(team)
        await desk.until(lambda: len(desk.app.main.pane.rows.rows) == 2, "another row")
        assert outcome(desk) == ""
        assert "1. Split" in desk.detail
