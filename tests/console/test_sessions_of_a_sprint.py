"""Sessions of a sprint are groups of its list."""

from __future__ import annotations

from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.modes.sprint import SprintListing
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.text import text_of

from tests.equipment.chronicle import LEAD, Chronicle
from tests.equipment.memory_team import MemoryTeam


def test_of_several_sessions_each_is_a_group_with_its_stories_counted() -> None:
    story = Chronicle()
    for session, stories in (("s1", ["3-1", "3-2"]), ("s2", ["4-1"])):
        batches = [{"batch_id": 1, "stories": stories}]
        story.sprint("scrum-master", LEAD, "BATCH_PLAN_READY", session_id=session, batches=batches)
    view, listing = story.view(), SprintListing(ScreenCache(MemoryTeam()))
    rows = listing.rows_of(view)
    assert [listing.group_of(row) for row in rows] == ["s1", "s2"]
    drawn = text_of(listing.heading(rows[:1], Drawing(60, view.now, 1)))
    assert drawn.split() == ["session", "s1", "0/2"]
