"""The demo as people see it: the console on a terminal, the team at work behind it, and nothing left afterwards."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.demo.test_demo import eventually, processes_about
from tests.equipment.command_line import COMMAND, CommandLine
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow

DEMO = [*COMMAND, "demo", "--speed", "8", "--seed", "7"]


def demo_folders(temporary: Path) -> list[Path]:
    """The folders of running demos in a place for temporary files of its own."""
    return list(temporary.glob("team-console-demo-*"))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo makes its folder."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_a_plan_appears_and_leaving_ends_everything(temporary: Path, elsewhere: CommandLine) -> None:
    with Terminal(DEMO, cwd=elsewhere.folder) as terminal:
        terminal.wait_for("sprint-42", "●")
        terminal.wait_for("Plan · ")
        [folder] = demo_folders(temporary)
        eventually(lambda: processes_about(folder / "team"), "the process of the agents")
        terminal.send("\x11")
        assert terminal.wait_exit() == 0
    assert processes_about(folder / "team") == []
    assert demo_folders(temporary) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_console_agents_and_folder(
    number: signal.Signals, temporary: Path, elsewhere: CommandLine
) -> None:
    with Terminal(DEMO, cwd=elsewhere.folder) as terminal:
        terminal.wait_for("sprint-42", "●")
        [folder] = demo_folders(temporary)
        terminal.signal(number)
        terminal.wait_exit()
    eventually(lambda: not processes_about(folder / "team"), "the end of every process")
    eventually(lambda: not demo_folders(temporary), "the end of the folder")


def test_a_lost_terminal_ends_everything_too(temporary: Path, elsewhere: CommandLine) -> None:
    with Terminal(DEMO, cwd=elsewhere.folder) as terminal:
        terminal.wait_for("sprint-42", "●")
        [folder] = demo_folders(temporary)
        terminal.hang_up()
    eventually(lambda: not processes_about(folder / "team"), "the end of every process")
    eventually(lambda: not demo_folders(temporary), "the end of the folder")
