"""However the console ends, the terminal is as before, the lock is free, nothing lies about and no word is lost."""

from __future__ import annotations

import re
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.model.clock import utc_now

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.damage import PLAN, healthy
from tests.equipment.pressed_keys import reach
from tests.equipment.terminal import Terminal, console

pytestmark = pytest.mark.slow

WORDS = "half a reason, not handed in yet"
_SWITCH = re.compile(rb"\x1b\[\?(\d+)([hl])")
_AT_REST = {b"25": b"h", **dict.fromkeys(b"1049 1000 1003 1006 1015 2004 1004".split(), b"l")}
"""How a shell expects the modes of its terminal: main screen, cursor shown, no mouse, no paste and focus reports."""
BROKEN = """
import sys
from pathlib import Path

import time

import team_console.console.tui.app
from textual.binding import Binding
from team_console.console.tui.app import ConsoleApp
from team_console.store.backends.open import open_team
from team_console.widgets import form

form.KEEP_AFTER = 3600.0

class Broken(ConsoleApp):
    CSS_PATH = Path(team_console.console.tui.app.__file__).parent / "console.tcss"
    BINDINGS = [
        Binding("f9", "break_down", priority=True),
        Binding("f10", "hang", priority=True),
        Binding("f8", "break_and_hang", priority=True),
    ]

    def action_break_down(self) -> None:
        token = "hunter2"
        raise RuntimeError(f"a defect with {token}")

    def action_hang(self) -> None:
        Path("hangs").touch()
        time.sleep(3600)

    def action_break_and_hang(self) -> None:
        self.report = lambda error: self.action_hang()
        self.action_break_down()

sys.exit(Broken(open_team(sys.argv[1]), me="ceo").run_to_the_end()[1])
"""


@pytest.fixture
def folder(team: CommandLine) -> Path:
    """A team with a plan that waits."""
    healthy(team, at=utc_now() - timedelta(seconds=10))
    return team.folder


def type_words(terminal: Terminal) -> None:
    """Begin to reject the plan."""
    terminal.wait_for(PLAN[:20], "●")
    reach(terminal, "1l", "All requests ·")
    reach(terminal, "r", "enter reject")
    terminal.send(WORDS)
    terminal.wait_for(WORDS)


def assert_at_rest(output: bytes) -> None:
    """Every mode that was switched is back where a shell needs it."""
    last = dict(_SWITCH.findall(output))
    assert {mode: how for mode, how in last.items() if mode in _AT_REST and how != _AT_REST[mode]} == {}
    assert b"1049" in last
    assert output.count(b"\x1b[<u") >= output.count(b"\x1b[>25u")


def assert_left_in_order(folder: Path) -> None:
    """The lock is free and no file of a write lies about."""
    opened = open_team(str(folder))
    assert opened.snapshot().holder is None
    with opened.transaction(actor="ceo", action="look", wait=0.5):
        pass
    opened.close()
    assert [path.name for path in folder.rglob("*") if ".tmp" in path.name] == []


def is_kept(state: Path) -> bool:
    """Whether the words are on disk."""
    return any(WORDS in path.read_text() for path in state.rglob("drafts/*.json"))


def assert_words_are_offered_again(folder: Path, state: Path) -> None:
    """The next console has what was typed."""
    with console(folder, env={"XDG_STATE_HOME": str(state)}) as again:
        again.wait_for(PLAN[:20], "●")
        reach(again, "1l", "All requests ·")
        reach(again, "r", WORDS)
        again.send(b"\x1b[27u")
        again.settle()
        again.send("q")
        assert again.wait_exit() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda entry: entry.name)
def test_a_signal_ends_it_in_order(folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    state = tmp_path / "state"
    with console(folder, env={"XDG_STATE_HOME": str(state)}) as terminal:
        type_words(terminal)
        if number is signal.SIGHUP:  # a line that is lost sends it, too
            terminal.hang_up()
            terminal.wait_exit()
        else:
            terminal.signal(number)
            assert terminal.wait_exit() == 128 + number
            assert_at_rest(bytes(terminal.output))
    assert_left_in_order(folder)
    assert_words_are_offered_again(folder, state)
    assert not (state / "team-console" / "log" / "defects.log").exists(), "an end from outside is no defect"


def broken(folder: Path, tmp_path: Path) -> Terminal:
    """A console with a defect behind F9, one that hangs behind F10, and both behind F8."""
    program = tmp_path / "broken.py"
    program.write_text(BROKEN)
    command = [sys.executable, str(program), str(folder)]
    return Terminal(command, cwd=tmp_path, env={"XDG_STATE_HOME": str(tmp_path / "state")})


def test_words_are_kept_at_once_when_something_fails(folder: Path, tmp_path: Path) -> None:
    with broken(folder, tmp_path) as terminal:
        type_words(terminal)
        terminal.send("\x1b[19~")  # it hangs in the middle of the exception: an end in order would keep them, too
        terminal.wait_until((tmp_path / "hangs").exists, "the hanging")
        terminal.wait_until(lambda: is_kept(tmp_path / "state"), "the words on disk")
        terminal.signal(signal.SIGKILL)
        terminal.wait_exit()
    assert_words_are_offered_again(folder, tmp_path / "state")


@cases
def test_a_console_that_hangs_ends_when_its_terminal_is_gone(folder: Path, tmp_path: Path, key: str) -> None:
    with broken(folder, tmp_path) as terminal:
        terminal.wait_for(PLAN[:20], "●")
        terminal.send(key)
        terminal.wait_until((tmp_path / "hangs").exists, "the hanging")
        terminal.hang_up()
        assert terminal.wait_exit() in (128 + signal.SIGHUP, -signal.SIGHUP)
    assert_left_in_order(folder)
