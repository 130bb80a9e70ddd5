"""No state is told by colour alone, and the console works without colours and with few of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import showcase
from tests.equipment.terminal import Terminal, console

pytestmark = pytest.mark.slow

COLOUR = re.compile(rb"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[\d;]*)?m")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "team"
    place.mkdir()
    showcase.build(place)
    return place


def tour(terminal: Terminal) -> None:
    """Look at a few places."""
    for key, text in (
        ("", "Escalation"),
        ("2", "task-manager"),
        ("1l", "All requests ·"),
        ("1", "React 18"),
        ("?", "Keys"),
    ):
        terminal.send(key)
        terminal.wait_for(text)


def test_without_colours_none_is_written_and_every_state_has_its_word(folder: Path) -> None:
    with console(folder, styled=True, env={"NO_COLOR": "1"}) as terminal:
        tour(terminal)
        assert not COLOUR.search(bytes(terminal.output))
        terminal.send("\x1b")
        terminal.wait_gone("Keys ·")
        terminal.wait_for("▲ React 18", "◆ Refactor", "●", "▌")


FEW = {"TERM": "xterm-16color", "COLORTERM": ""}


@pytest.mark.parametrize("few", [{"NO_COLOR": "1"}, FEW, {**FEW, "TEAM_CONSOLE_THEME": "light"}])
def test_a_cursor_is_seen_and_what_is_not_sent_yet_can_be_read(folder: Path, few: dict[str, str]) -> None:
    with console(folder, styled=True, env={**few, "TEAM_CONSOLE_GRACE": "30"}) as terminal:
        terminal.wait_for("Escalation")
        terminal.send("jjr")
        terminal.wait_for("Reject the plan")
        terminal.wait_until(lambda: _stands_out(terminal, "the asker reads it"), "cursor in a note")
        terminal.send("\x1b")
        terminal.wait_gone("Reject the plan")
        terminal.send("/")
        terminal.wait_for("words  from:")
        terminal.wait_until(lambda: _stands_out(terminal, "words  from:"), "cursor in a field")
        terminal.send("\x1b")
        terminal.wait_gone("words  from:")
        terminal.send("Gd")
        terminal.wait_for("sends in")
        y = next(y for y, line in enumerate(terminal.text.splitlines()) if "sends in" in line)
        assert {terminal.screen.buffer[y][x].bg for x in range(terminal.screen.columns)} == {"default"}


def _stands_out(terminal: Terminal, words: str) -> bool:
    """Whether the first of these words has another ground than the next ones."""
    lines = terminal.text.splitlines()
    y = next((y for y, line in enumerate(lines) if words in line), None)
    if y is None:
        return False
    first, second = (terminal.screen.buffer[y][lines[y].index(words) + each] for each in (0, 1))
    return (first.bg, first.reverse) != (second.bg, second.reverse)
