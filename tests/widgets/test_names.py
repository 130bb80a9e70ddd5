"""Names are shortened in the middle, and joined emoji are never broken apart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_console.store.views.rows import AgentState, RosterRow
from team_console.widgets.row_list import Drawing
from team_console.widgets.rows import roster_lines
from team_console.widgets.signs import AGENTS
from team_console.widgets.text import pad_name, padded_name, short_names, shorten, text_of, width_of, wrap

FAMILY = "👩\u200d👩\u200d👧"


@given(st.text(st.sampled_from("ab-日🙂\u0301"), max_size=40), st.integers(0, 30))
def test_a_shortened_name_never_exceeds_its_cells(name: str, width: int) -> None:
    assert width_of(((shorten(name, width), ""),)) <= width
    assert width_of(((pad_name(name, width), ""),)) == width


def test_names_that_differ_at_the_end_stay_different() -> None:
    names = {shorten(f"agent-with-long-name-{number}", 14) for number in range(60)}
    assert len(names) == 60
    assert shorten("agent-with-long-name-17", 14) == "agent-…name-17"


@pytest.mark.parametrize("width", [22, 30, 37])
def test_the_roster_shows_the_end_of_a_long_name(width: int) -> None:
    row = RosterRow("agent-with-quite-a-long-name-17", "member", AgentState.ACTIVE, unread=12)
    line = text_of(roster_lines(row, Drawing(width, datetime.now(UTC), 1), AGENTS[row.state])[0])
    assert "17" in line
    assert "12" in line


def test_wrapping_breaks_no_joined_emoji_apart() -> None:
    lines = wrap(((FAMILY * 10, ""),), 8)
    assert [text_of(line) for line in lines] == [FAMILY * 4, FAMILY * 4, FAMILY * 2]


TEAM = short_names(("file-manager", "fix-manager", "knowledge-manager", "knowledge-researcher", "dev-runner-3-2"))


@pytest.mark.parametrize(
    ("name", "width", "shown"),
    [
        ("file-manager", 12, "file-manager"),
        ("file-manager", 9, "file-m   "),
        ("fix-manager", 9, "fix-m    "),
        ("knowledge-manager", 12, "knowledge-m "),
        ("knowledge-researcher", 9, "knowle…-r"),
        ("dev-runner-3-2", 9, "dev-r-3-2"),
        ("dev-runner-3-2", 8, "dev-3-2 "),
        ("a-stranger-to-the-team", 9, "a-st…team"),
    ],
)
def test_a_row_has_names_as_the_strip_of_the_team_has_them(name: str, width: int, shown: str) -> None:
    assert Drawing(60, datetime.now(UTC), 1, names=TEAM).name(name, width) == shown


@given(st.integers(1, 24))
def test_agents_of_one_team_are_told_apart_in_any_column_of_eight_cells_and_more(width: int) -> None:
    shown = [padded_name(name, TEAM, width) for name in TEAM]
    assert all(width_of(((name, ""),)) == width for name in shown)
    assert width < 8 or len(set(shown)) == len(TEAM)
