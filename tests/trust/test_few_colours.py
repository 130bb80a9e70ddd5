"""Where colours lack, what is selected is seen all the same: reversed in all of its width."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import showcase
from tests.pty import console

pytestmark = pytest.mark.slow

TERMINALS: Mapping[str, Mapping[str, str]] = {
    "no colours": {"NO_COLOR": "1"},
    "16 colours, light": {"TERM": "xterm", "COLORTERM": "", "TEAM_CONSOLE_THEME": "light"},
}


@pytest.mark.parametrize("name", TERMINALS)
def test_the_selected_row_is_reversed_across_the_list(tmp_path: Path, name: str) -> None:
    showcase.build(tmp_path)
    with console(tmp_path, styled=True, env={**TERMINALS[name], "XDG_STATE_HOME": str(tmp_path / "state")}) as terminal:
        terminal.wait_for("Escalation", "LIVE")
        terminal.settle()
        screen = terminal.screen
        y = next(number for number, line in enumerate(screen.display) if "▌" in line)
        row = screen.buffer[y]
        start, end = screen.display[y].index("▌"), screen.display[y].rindex("▏", 0, 60)
        assert sum(row[x].reverse for x in range(start, end)) >= end - start - 2
        assert not any(screen.buffer[y + 2][x].reverse for x in range(start, end))
        assert screen.buffer[1][3].reverse, "the tab of the mode"
        terminal.send("q")
        assert terminal.wait_exit() == 0
