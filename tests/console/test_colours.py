"""No state is told by colour alone, and the console works without colours and with few of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import showcase
from tests.equipment.terminal import Terminal, console

pytestmark = pytest.mark.slow

COLOUR = re.compile(rb"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[\d;]*)?m")
TRUE_COLOUR = re.compile(rb"\x1b\[[\d;]*[34]8;[25];")


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


def test_sixteen_colours_are_enough(folder: Path) -> None:
    with console(folder, styled=True, env={"TERM": "xterm", "COLORTERM": ""}) as terminal:
        tour(terminal)
        assert COLOUR.search(bytes(terminal.output))
        assert not TRUE_COLOUR.search(bytes(terminal.output))


def test_an_empty_no_color_counts_as_not_set(folder: Path) -> None:
    with console(folder, styled=True, env={"NO_COLOR": ""}) as terminal:
        terminal.wait_for("Escalation")
        assert TRUE_COLOUR.search(bytes(terminal.output))


def test_in_the_terminals_own_colours_a_title_has_no_second_block_and_what_is_typed_in_has_no_colour_behind_it(
    folder: Path,
) -> None:
    with console(folder, styled=True, env={"TEAM_CONSOLE_THEME": "terminal"}) as terminal:
        terminal.wait_for("●", "Escalation")
        terminal.send("2*")
        terminal.wait_for("marked")
        assert not is_blocked(terminal, "Agents ·")
        terminal.send("\x1b[27u1jjr")
        terminal.wait_for("reason")
        terminal.send("Say how")
        terminal.wait_for("Say how")
        assert not is_blocked(terminal, "Say how")


def is_blocked(terminal: Terminal, text: str) -> bool:
    """Whether a cell of `text` is reversed or has a colour behind it."""
    row, line = next((row, line) for row, line in enumerate(terminal.text.splitlines()) if text in line)
    begin = line.index(text)
    cells = [terminal.screen.buffer[row][column] for column in range(begin, begin + len(text))]
    return any(cell.reverse or cell.bg != "default" for cell in cells)
