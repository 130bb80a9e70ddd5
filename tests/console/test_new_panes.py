"""A mode that is gone to for the first time has no widgets yet: whatever comes in that moment asks it for none."""

from __future__ import annotations

import pytest
from team_console.console.selection import Mode

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_nothing_that_comes_before_a_pane_is_complete_is_a_defect(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(80, 24)) as desk:
        main = desk.app.main
        for mode in Mode:
            if mode is Mode.NEEDS:
                continue
            main.lists.go(mode)
            assert not main.pane.is_complete
            main.lists.step_on({"a request"})
            main.lists.seek("a request")
            main.back()
            main.show_pending()
            main.lists.go_to_row(mode, "a row")
            main.tick(main.now)
            main.lists.go_to_agent("nobody")
            for action in ("back", "open", "mark_all", "filter", "approve", "copy_text"):
                main.action_perform(action)
            main.lists.go(mode)
            await desk.until(lambda: main.pane.is_complete, "the pane")
            assert desk.app.faults.all == (), mode
