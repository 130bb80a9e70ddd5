"""What is read stays, also what was decided and is not written after all, until the cursor leaves it."""

from __future__ import annotations

import pytest
from team_console.store.service import asking, inbox, requests, sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(autouse=True)
def long_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grace that ends only when a test ends it."""
    monkeypatch.setenv("TEAM_CONSOLE_GRACE", "60")


async def decide_on_the_first_of_two(desk: Desk, team: MemoryTeam, clock: Clock) -> str:
    """Two plans, of which the first is approved and waits; the key of its row."""
    hand_in_plan(team)
    clock.advance(1)
    requests.submit_plan(Caller(team, "schedule-manager"), content="1. Do it", summary="A plan for today")
    await desk.until(lambda: len(desk.rows) == 2, "two plans")
    (first, _) = desk.rows
    await desk.asks("g", "a")
    await desk.press("enter")
    await desk.until(lambda: len(desk.app.main.pending_decisions) == 1, "a decision in its grace")
    return first


async def stays_when_it_is_decided_elsewhere(desk: Desk, team: MemoryTeam, first: str) -> bool:
    """Whether the row under the cursor stays once somebody else decided about it."""
    main = desk.app.main
    listing = main.lists.complete_front
    assert listing is not None
    listing.rows.select(first)
    request = main.context().selection.request
    assert request is not None
    requests.reject(Caller(team, LEAD), request_id=request.request_id, reason="another console was faster")
    await desk.reads(f"rejected by {LEAD}")
    return first in desk.rows


async def test_what_could_not_be_written_stays(team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(team) as desk:
        first = await decide_on_the_first_of_two(desk, team, clock)
        with monkeypatch.context() as patch:
            patch.setattr(team, "read_only", True)
            await desk.press("W")
            await desk.tells("Not written")
        assert await stays_when_it_is_decided_elsewhere(desk, team, first)


@pytest.mark.parametrize(
    ("how", "place", "inside"),
    [("withdrawn", "1", True), ("superseded", "1", False), ("decided", "2", False), ("withdrawn", "right", False)],
)
async def test_a_request_that_is_read_stays_with_what_became_of_it_and_no_key_acts_on_another(
    team: MemoryTeam, clock: Clock, how: str, place: str, inside: bool
) -> None:
    first = hand_in_plan(team)
    clock.advance(1)
    requests.submit_plan(Caller(team, "schedule-manager"), content="1. Lay the dates", summary="The dates of it")
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


async def test_a_message_that_is_read_elsewhere_stays_under_the_cursor(team: MemoryTeam) -> None:
    for number in (1, 2):
        sending.send(Caller(team, AUTHOR), to=LEAD, summary=f"Report number {number} for you", content=f"Text {number}")
    message = team.snapshot().messages[0]
    async with opened(team) as desk:
        await desk.until(lambda: len(desk.rows) == 2, "both")
        await desk.press("g", *("j" if "Text 1" not in desk.detail else ""))
        inbox.read_message(Caller(team, LEAD), agent=LEAD, message_id=message.message_id)
        await desk.reads("no longer waits here")
        assert "Text 1" in desk.detail
        await desk.press("n")
        await desk.until(lambda: len(desk.rows) == 1 and "Text 2" in desk.detail, "the other one alone")
