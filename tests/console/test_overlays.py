"""What lies over the list is closed once, however often it is asked to; the list is never closed with it."""

from __future__ import annotations

import pytest
from team_console.console.tui.commands import looking

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_a_form_that_comes_late_leaves_an_open_one_where_it_is(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("a")
        looking.pipe(desk.app.main, desk.app.main.context())
        await desk.tells("Another form is open")
        assert desk.front is form
        await desk.press("enter")
        await desk.decided(team)
