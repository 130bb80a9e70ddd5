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
