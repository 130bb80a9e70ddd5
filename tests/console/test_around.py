"""Around the screen: the picker of teams, the mouse, suspending, and what a busy console does."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from pathlib import Path

import pytest
from team_console.console.tui.screens import PickerApp
from team_console.widgets.bars import Head, KeyBar
from team_console.widgets.fields import Field, Letter
from textual.events import MouseDown, MouseUp

from tests import showcase
from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.terminal import Terminal, console

pytestmark = pytest.mark.slow


@pytest.mark.anyio
async def test_the_picker_can_be_left() -> None:
    app = PickerApp(("/projects/one",))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("escape")
        await pilot.pause()
    assert app.return_value is None


@pytest.mark.anyio
async def test_tabs_and_keys_can_be_clicked(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        keys = desk.app.main.query_one(KeyBar).text
        await desk.pilot.click(KeyBar, offset=(1 + keys.index("r reject"), 0))
        form = await desk.form()
        x = 1 + desk.app.main.query_one(Head).text.index("History")
        for kind in (MouseDown, MouseUp):  # as a terminal sends them: the pilot's own pass by the keys
            desk.app.post_message(kind(None, x, 0, 0, 0, 1, False, False, False))
        await desk.settle()
        assert (desk.front, desk.app.main.lists.mode) == (form, "needs"), "around a form nothing is clicked"
        await desk.press("escape")
        await desk.until(desk.can_act, "the list around the form")
        await desk.pilot.click(Head, offset=(x, 0))
        await desk.until(lambda: desk.app.main.lists.mode == "history", "the mode")


@pytest.mark.anyio
async def test_a_message_to_all_goes_the_way_of_a_broadcast(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("m")
        form.query_one("#to", Field).value = "all"
        form.query_one("#summary", Field).value = "Code freeze starts today at four"
        form.query_one("#content", Letter).text = "Merge what is reviewed."
        await desk.press("ctrl+s")
        await desk.shows("Use broadcast (b)")
        assert len(team.snapshot().messages) == 1


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


def test_ctrl_z_gives_the_terminal_back_and_fg_draws_again(tmp_path: Path) -> None:
    showcase.build(tmp_path)
    with console(tmp_path) as terminal:
        terminal.wait_for("Escalation", "●")
        terminal.send(b"\x1a")
        terminal.wait_until(lambda: _stopped(terminal.pid), "a stopped process")
        terminal.wait_until(
            lambda: terminal.output.rfind(b"\x1b[?1049l") > terminal.output.rfind(b"\x1b[?1049h"), "the shell's screen"
        )
        marker = len(terminal.output)
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_until(lambda: b"Escalation" in terminal.output[marker:], "the picture again")
        terminal.send("q")
        assert terminal.wait_exit() == 0


def test_a_console_that_was_stopped_from_outside_goes_on_with_the_terminal_it_has(tmp_path: Path) -> None:
    showcase.build(tmp_path)
    with console(tmp_path) as terminal:
        terminal.wait_for("Escalation", "●")
        for times in (2, 3):
            os.kill(terminal.pid, signal.SIGSTOP)
            terminal.wait_until(lambda: _stopped(terminal.pid), "a stopped process")
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.wait_until(partial(_is_drawn, terminal, times), "the picture again")
        terminal.send("3")
        terminal.wait_for("History ·")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        taken, given_back = (terminal.output.count(sequence) for sequence in (b"\x1b[?1049h", b"\x1b[?1049l"))
        assert taken == given_back == 3


def _is_drawn(terminal: Terminal, times: int) -> bool:
    """Whether the picture stands on the terminal since that was taken for the last time, of so many."""
    taken = terminal.output.split(b"\x1b[?1049h")
    return len(taken) == times + 1 and b"Escalation" in taken[-1]


def _stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
