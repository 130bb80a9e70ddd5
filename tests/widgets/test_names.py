"""Names are cut at their end, and joined emoji are never broken apart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_console.console.tui.modes.agents import roster_lines
from team_console.store.views.rows import AgentState, RosterRow
from team_console.widgets.row_list import Drawing
from team_console.widgets.signs import AGENTS
from team_console.widgets.text import crop, pad, text_of, width_of, wrap

FAMILY = "👩\u200d👩\u200d👧"


@given(st.text(st.sampled_from("ab-日🙂\u0301"), max_size=40), st.integers(0, 30))
def test_a_shortened_name_never_exceeds_its_cells(name: str, width: int) -> None:
    assert width_of(((crop(name, width), ""),)) <= width
    assert width_of(((pad(name, width), ""),)) == width


@pytest.mark.parametrize("width", [22, 30, 37])
def test_the_roster_shows_the_beginning_of_a_long_name_and_what_is_unread(width: int) -> None:
    row = RosterRow("agent-with-quite-a-long-name-17", "member", AgentState.ACTIVE, unread=12)
    line = text_of(roster_lines(row, Drawing(width, datetime.now(UTC), 1), AGENTS[row.state])[0])
    assert "agent-" in line
    assert "12" in line


def test_a_name_that_has_room_is_whole_before_the_role_has_any() -> None:
    row = RosterRow("infra-observability-worker-12", "resident", AgentState.ACTIVE)
    lines = [
        text_of(roster_lines(row, Drawing(width, datetime.now(UTC), 1), AGENTS[row.state])[0]) for width in (56, 80)
    ]
    assert all("infra-observability-worker-12 " in line for line in lines)
    assert ["resident" in line for line in lines] == [False, True]


def test_wrapping_breaks_no_joined_emoji_apart() -> None:
    lines = wrap(((FAMILY * 10, ""),), 8)
    assert [text_of(line) for line in lines] == [FAMILY * 4, FAMILY * 4, FAMILY * 2]
