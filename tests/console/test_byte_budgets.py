"""What a slow line carries: a key in a list, a message that comes in, and nothing while nothing happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.equipment.cases import cases
from tests.equipment.command_line import COMMAND
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow

LEAD = "ceo"
KEY, LIVE = 1_600, 500
"""Bytes at most of an arrow key, and of a message that comes in (DESIGN.md, section 7)."""
_AGENTS = ("task-manager", "file-manager", "schedule-manager")
_CONFIG = "name: sprint-42\nlead: ceo\nagents: [task-manager, file-manager, schedule-manager]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A team with a dozen letters for the lead, of which no age is about to change."""
    place = tmp_path / "team"
    place.mkdir()
    (place / "messenger-config.yaml").write_text(_CONFIG, encoding="utf-8")
    team = open_team(str(place))
    for number in range(12):
        sender = Caller(team, _AGENTS[number % 3])
        sending.send(
            sender, to=LEAD, summary=f"Note {number} of twelve short notes", content=f"The text of note {number}."
        )
    team.close()
    return place


def written(terminal: Terminal) -> int:
    """Bytes that came since the last call, once the screen rests."""
    before = getattr(terminal, "counted", 0)
    terminal.settle(0.6)
    terminal.counted = len(terminal.output)  # type: ignore[attr-defined]
    return len(terminal.output) - before


def keys(terminal: Terminal) -> list[int]:
    """Bytes of two arrow keys, after one that does not count."""
    sizes = []
    for _ in range(3):
        terminal.send("j")
        sizes.append(written(terminal))
    return sizes[1:]


@cases
def test_keys_and_messages_keep_to_their_bytes_and_rest_costs_none(folder: Path, columns: int, lines: int) -> None:
    with Terminal([*COMMAND, "-t", str(folder)], cwd=folder, columns=columns, lines=lines) as terminal:
        terminal.wait_for("●", "Note 3")
        written(terminal)
        terminal.send("l")
        terminal.wait_for("No request is open")
        terminal.send("l")
        terminal.wait_for("NEWS 12")
        written(terminal)
        assert max(keys(terminal)) <= KEY
        terminal.send("2")
        terminal.wait_for("12 unread")
        terminal.send("G")  # the page beside the rows is of neither of the two
        terminal.wait_for("My inbox")
        written(terminal)
        team = open_team(str(folder))
        sending.send(
            Caller(team, _AGENTS[0]), to=_AGENTS[1], summary="A word between two agents", content="Nothing more."
        )
        terminal.wait_for("13 unread")
        assert written(terminal) <= LIVE
        assert written(terminal) == 0, "nothing happens, nothing is written"
        team.close()
        terminal.send("q")
        assert terminal.wait_exit() == 0
