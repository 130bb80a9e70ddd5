"""Marks of agents: how many there are is said, and what is copied is what the cursor is on."""

from __future__ import annotations

import pytest
from team_console.console.tui.modes.agents import AgentsPane

from tests.console.conftest import opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


async def test_marked_agents_are_counted_and_the_one_under_the_cursor_is_copied(team: MemoryTeam) -> None:
    async with opened(team) as desk:
        await desk.press("2")
        pane = desk.app.main.pane
        assert isinstance(pane, AgentsPane)
        await desk.press("space", "space")
        await desk.shows("* 2 marked")
        under = pane.roster.cursor_key
        assert under not in pane.roster.marks
        await desk.press("y")
        assert desk.app.clipboard == under
        await desk.press("escape")
        await desk.until(lambda: "marked" not in desk.text, "no marks")
