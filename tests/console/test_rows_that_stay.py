"""What was decided and is not written after all stays in its list: if it leaves later, the next key is guarded."""

from __future__ import annotations

from math import inf

import pytest
from team_console.store.desk import requests
from team_console.store.desk.caller import Caller

from tests.console.conftest import LEAD, Clock, Desk, hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


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
    await desk.press("g", "a")
    await desk.form()
    await desk.press("enter")
    await desk.until(lambda: len(desk.app.main.unwritten) == 1, "a decision in its grace")
    return first


async def is_guarded_when_it_leaves(desk: Desk, team: MemoryTeam, first: str) -> bool:
    """Whether keys are guarded once somebody else decided about the row under the cursor."""
    main = desk.app.main
    listing = main.panes.listing
    assert listing is not None
    listing.rows.select(first)
    listing.rows._disturbed_at = -inf
    request = main.subject().selection.request
    assert request is not None
    requests.reject(Caller(team, LEAD), request_id=request.request_id, reason="another console was faster")
    await desk.until(lambda: first not in desk.rows, "the list without it")
    return listing.undisturbed_for() < inf


async def test_what_was_taken_back_from_another_mode_stays(team: MemoryTeam, clock: Clock) -> None:
    async with opened(team) as desk:
        first = await decide_on_the_first_of_two(desk, team, clock)
        await desk.press("2", "U")
        await desk.until(lambda: len(desk.app.main.unwritten) == 0, "nothing unwritten")
        await desk.press("1")
        assert await is_guarded_when_it_leaves(desk, team, first)


async def test_what_could_not_be_written_stays(team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(team) as desk:
        first = await decide_on_the_first_of_two(desk, team, clock)
        with monkeypatch.context() as patch:
            patch.setattr(team, "read_only", True)
            await desk.press("W")
            await desk.until(lambda: any("Not written" in toast for toast in desk.toasts), "why it was not written")
        assert await is_guarded_when_it_leaves(desk, team, first)
