"""The console says what it knows: harm, locks and loss stand above the last good view, and go by themselves."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Condition, Team

from tests.equipment.command_line import CommandLine
from tests.equipment.damage import FILES, HARMS, NOTE, PLAN, healthy, repair
from tests.equipment.samples import sampled
from tests.equipment.terminal import Terminal, console
from tests.equipment.yaml_folder import is_rolled_back

pytestmark = pytest.mark.slow

QUIET_WORDS = (
    "Nothing waits",
    "No message waits",
    "No messages in this inbox",
    "The queue is empty",
    "No requests yet",
)
"""How the screen says that there is nothing."""


SETTINGS_HARMS = ("zeros", "conflict markers", "gone")


@pytest.fixture
def folder(team: CommandLine) -> Path:
    """A healthy team."""
    healthy(team)
    return team.folder


def assert_honest(terminal: Terminal) -> None:
    """Nothing on the screen says that there is nothing."""
    assert not any(word in terminal.text for word in QUIET_WORDS), terminal.text


@pytest.mark.parametrize(("file", "harms"), [("queue", sampled(HARMS, 13)), ("settings", SETTINGS_HARMS)])
def test_every_harm_is_told_as_what_it_is_and_is_over_by_itself(
    folder: Path, tmp_path: Path, file: str, harms: Sequence[str]
) -> None:
    path = folder / FILES[file]
    good = Path(shutil.copy2(path, tmp_path / "good.yaml"))
    with console(folder) as terminal, closing(open_team(str(folder), read_only=True)) as looker:
        looker.snapshot()
        terminal.wait_for(PLAN[:20], "●")
        for name in harms:
            HARMS[name](path)
            found = looked_at(looker)
            assert found.settings or file == "queue", name
            terminal.wait_until(lambda found=found: shows(terminal, found), f"{found} after harm: {name}")  # type: ignore[misc]
            assert_honest(terminal)
            repair(path, good)
            terminal.wait_until(lambda: is_well(terminal), f"recovery from: {name}")
        terminal.send("q")
        assert terminal.wait_exit() == 0


@dataclass(frozen=True, slots=True)
class Found:
    """What a fresh look finds of a harmed team."""

    condition: Condition
    has_plan: bool
    errors: bool
    is_rolled_back: bool
    is_damaged: bool
    settings: bool


def looked_at(team: Team) -> Found:
    """What `team`, opened before the harm as the console was, finds; an emptied queue is never sure of itself."""
    seen = team.snapshot()
    assert seen.condition is not Condition.EMPTY or seen.doubt is not None
    errors = [problem.code for problem in seen.problems if problem.severity == "error"]
    plan = any(PLAN[:20] in str(message.record) for message in seen.messages)
    return Found(
        condition=seen.condition,
        has_plan=plan,
        errors=bool(errors),
        is_rolled_back=is_rolled_back(seen),
        is_damaged="DAMAGED_ENTRY" in errors,
        settings="SETTINGS_UNREADABLE" in errors or "SETTINGS_LOST" in errors,
    )


def shows(terminal: Terminal, found: Found) -> bool:
    """Whether the screen says exactly that: pulse, banner, the rows that are known, and the mark on Health."""
    lines = terminal.text.split("\n")
    pulse, banner, health = lines[0], lines[1], re.search(r"4(?: Health |·)\d", lines[0]) is not None
    has_plan = PLAN[:20] in terminal.text
    if found.condition in (Condition.UNREADABLE, Condition.VANISHED):
        word = "∅ gone" if found.condition is Condition.VANISHED else "✗ not readable"
        kept = "Shown is what was read" in " ".join(terminal.text.split())
        return word in pulse and banner.count(word) == 1 and kept and has_plan
    if found.condition is Condition.EMPTY or found.is_rolled_back or found.is_damaged:
        # A request whose record was damaged or taken away after it was read stays on the screen, marked.
        same = has_plan == found.has_plan or (has_plan and (found.is_damaged or "gone from the queue" in terminal.text))
        return "△ incomplete" in pulse and "△ incomplete" in banner and same
    if found.settings:
        return "▲ settings" in pulse and "▲ settings" in banner and NOTE[:20] in terminal.text
    return "●" in pulse and health == found.errors and (has_plan or not found.has_plan)


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
