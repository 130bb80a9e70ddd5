"""The console says what it knows: harm, locks and loss stand above the last good view, and go by themselves."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.damage import PLAN, healthy
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(team: CommandLine) -> Path:
    """A healthy team."""
    healthy(team)
    return team.folder


def is_well(terminal: Terminal) -> bool:
    """Whether the screen shows the healthy team, and no word of harm."""
    lines = terminal.text.split("\n")
    return "●" in lines[0] and not re.search(r"4(?: Health |·)\d", lines[0]) and PLAN[:20] in terminal.text


HANGING = """
import sys
from pathlib import Path

import team_console.console.tui.app
import team_console.store.views.status
from team_console.console.tui.app import run_console
from team_console.console.tui.reader import StoreReader
from team_console.store.backends.open import open_team

class Hanging(StoreReader):
    def read(self):
        if Path(sys.argv[2]).exists():
            open(sys.argv[2]).read()
        return super().read()

application = team_console.console.tui.app
team_console.store.views.status.SILENT, application.TICK = 1.0, 0.5
team = open_team(sys.argv[1])
sys.exit(run_console(team, me="ceo", reader=Hanging(team, "ceo")))
"""


def test_a_store_that_does_not_answer_makes_the_screen_stale_until_it_does_and_can_be_left(
    folder: Path, tmp_path: Path
) -> None:
    program, pipe = tmp_path / "hanging.py", tmp_path / "hangs"
    program.write_text(HANGING)
    with Terminal([sys.executable, str(program), str(folder), str(pipe)], cwd=folder) as terminal:
        terminal.wait_for("●", PLAN[:20])
        os.mkfifo(pipe)
        terminal.wait_for("◌ old", "was not looked at for a while", "Shown is what was read", PLAN[:20])
        answer = os.open(pipe, os.O_WRONLY)
        pipe.unlink()
        os.close(answer)
        terminal.wait_until(lambda: is_well(terminal) and "◌" not in terminal.text, "a store that answers")
        os.mkfifo(pipe)
        terminal.wait_for("◌ old")
        terminal.send("q")
        assert terminal.wait_exit() == 0
