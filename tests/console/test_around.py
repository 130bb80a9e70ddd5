"""Around the screen: the mouse, a process that is stopped and goes on, and what a busy console does."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import pytest
from team_console.console.tui import main
from team_console.store.backends.open import open_team
from team_console.store.service.waiting import human_present
from team_console.widgets import row_list
from team_console.widgets.row_list import RowList

from tests import showcase
from tests.console.conftest import hand_in_plan, letter, opened
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.terminal import Terminal, console

pytestmark = pytest.mark.slow


@pytest.mark.anyio
async def test_a_click_on_rows_that_just_moved_decides_on_nothing(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came while the hand went down may have put another row below it than the one that was meant."""
    monkeypatch.setattr(row_list, "JUST", 3600.0)
    monkeypatch.setattr(main, "LOOK_AGAIN", 3600.0)
    letter(team)
    async with opened(team) as desk:
        letter(team, "Something else to read now")
        await desk.lists(2)
        await desk.pilot.click(RowList, offset=(5, 3))
        await desk.press("d")
        await desk.tells("The list changed. Review it, then press the key again.")
        assert len(desk.rows) == 2


@pytest.mark.anyio
async def test_one_write_at_a_time(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        gate = threading.Event()
        said: list[str] = []
        say = desk.app.main.toast
        desk.app.main.background.run(lambda: gate.wait(10), lambda _: say("first"))
        desk.app.main.background.run(lambda: said.append("second ran"), lambda _: None)
        gate.set()
        await desk.until(lambda: "first" in desk.toasts, "the first one's end")
        assert any("still being written" in toast for toast in desk.toasts)
        assert said == []
        desk.app.main.background.run(lambda: said.append("third ran"), lambda _: None)
        await desk.until(lambda: said == ["third ran"], "a later one")


def test_the_console_is_as_large_as_its_terminal_whatever_the_environment_says(tmp_path: Path) -> None:
    showcase.build(tmp_path)
    with console(tmp_path, columns=100, lines=30, env={"COLUMNS": "40", "LINES": "9"}) as terminal:
        for columns, lines in ((100, 30), (120, 34)):
            terminal.resize(columns, lines)
            terminal.wait_until(lambda lines=lines: _last_line(terminal, lines).endswith("? help"), "the last line")  # type: ignore[misc]
            assert len(_last_line(terminal, lines)) > columns - 5


def _last_line(terminal: Terminal, lines: int) -> str:
    return terminal.text.split("\n")[lines - 1]


@cases
def test_a_console_that_was_stopped_goes_on_with_the_terminal_it_has(tmp_path: Path, by_key: bool) -> None:
    """Its own key gives the terminal back to the shell first; whoever stops it from outside leaves it no time. Nobody
    counts on it then."""
    showcase.build(tmp_path)
    with console(tmp_path) as terminal, closing(open_team(str(tmp_path), read_only=True)) as team:
        terminal.wait_for("Escalation", "●")
        for times in (2, 3):
            terminal.wait_until(lambda: human_present(team), "a human who is counted on")
            if by_key:
                terminal.send(b"\x1a")
            else:
                os.kill(terminal.pid, signal.SIGSTOP)
            terminal.wait_until(lambda: _stopped(terminal.pid), "a stopped process")
            terminal.settle()  # what it wrote last may still be on its way
            assert not by_key or _count(terminal, "l") == _count(terminal, "h"), "the shell's screen"
            assert not human_present(team)
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.wait_until(lambda times=times: _is_drawn(terminal, times), "the picture again")  # type: ignore[misc]
        terminal.send("3")
        terminal.wait_for("History ·")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert _count(terminal, "h") == _count(terminal, "l") == 3


def _count(terminal: Terminal, sign: str) -> int:
    """How often the console took (h) or gave back (l) the terminal."""
    return terminal.output.count(f"\x1b[?1049{sign}".encode())


def _is_drawn(terminal: Terminal, times: int) -> bool:
    """Whether the picture stands on the terminal since that was taken for the last time, of so many."""
    return _count(terminal, "h") == times and b"Escalation" in terminal.output.rpartition(b"\x1b[?1049h")[2]


def _stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.anyio
async def test_each_toast_is_seen_to_its_end_also_after_others_were_cleared(team: MemoryTeam) -> None:
    """At every length near the width of the screen, and however often a form took the one before away."""
    async with opened(team, size=(120, 40)) as desk:
        for length in (*range(112, 122), 230, 232, 234, 236):
            desk.app.clear_notifications()
            desk.app.main.toast("word " * (length // 5) + "x" * (length % 5) + f" END{length}")
            await desk.shows(f"END{length}")
