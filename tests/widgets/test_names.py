"""Names are cut at their end, and joined emoji are never broken apart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from team_console.console.tui.modes.agents import roster_lines
from team_console.store.views.rows import AgentState, RosterRow
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.signs import AGENTS
from team_console.widgets.text import text_of, wrap

FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize("width", [22, 30, 37])
def test_the_roster_shows_the_beginning_of_a_long_name_and_what_is_unread(width: int) -> None:
    row = RosterRow("agent-with-quite-a-long-name-17", "member", AgentState.ACTIVE, unread=12)
    line = text_of(roster_lines(row, Drawing(width, datetime.now(UTC), 1), AGENTS[row.state])[0])
    assert "agent-" in line
    assert "12" in line


def test_wrapping_breaks_no_joined_emoji_apart() -> None:
    lines = wrap(((FAMILY * 10, ""),), 8)
    assert [text_of(line) for line in lines] == [FAMILY * 4, FAMILY * 4, FAMILY * 2]
