"""What was painted in parts, one change after the other, is the screen as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyte
import pytest
from team_console.console.tui.app import ConsoleApp
from team_console.store.backends.open import open_team
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from textual._compositor import CompositorUpdate

from tests import showcase
from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, in_thread, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pyte.Screen:
    """A terminal to which the console writes its updates as they come; a test may give it another size."""
    screen = pyte.Screen(120, 40)
    stream = pyte.Stream(screen)
    display = ConsoleApp._display

    def displayed(app: ConsoleApp, shown: Any, update: Any) -> None:
        display(app, shown, update)
        if isinstance(update, CompositorUpdate) and not app._batch_count:
            stream.feed(update.render_segments(app.console).replace("\n", ""))

    monkeypatch.setattr(ConsoleApp, "_display", displayed)
    return screen


async def is_painted(desk: Desk, terminal: pyte.Screen) -> None:
    """Fail unless the terminal comes to show, cell by cell, what stands on the screen: what is wrong stays wrong."""
    await desk.until(lambda: desk.app.main.lists.shown_in_front is desk.app.main.situation, "the newest reading")
    await desk.pilot.pause()
    with suppress(AssertionError):  # told below, with what differs
        await desk.until(lambda: _stripped(terminal.display) == _stripped(desk.text.splitlines()), "the picture")
    assert _stripped(terminal.display) == _stripped(desk.text.splitlines())


def _stripped(lines: Iterable[str]) -> list[str]:
    return [line.rstrip() for line in lines]


async def changed(desk: Desk, terminal: pyte.Screen, act: Callable[[], object]) -> None:
    """Let somebody else act, and see the change painted."""
    before = desk.app.main.situation
    await in_thread(act)
    await desk.until(lambda: desk.app.main.situation is not before, "a new reading")
    await is_painted(desk, terminal)


async def test_changes_are_painted_from_their_first_cell_to_their_last(
    team: MemoryTeam, clock: Clock, terminal: pyte.Screen
) -> None:
    async with opened(team) as desk:
        await is_painted(desk, terminal)
        for number, mode in enumerate("112l31"):
            await desk.press(mode)
            clock.advance(70 * number)
            sender = ("file-manager", AUTHOR, "schedule-manager")[number % 3]
            to = (LEAD, "file-manager", AUTHOR)[number % 3]
            text = "Word for word " * (number % 4 + 1)
            send = partial(sending.send, Caller(team, sender), to=to, summary=text.strip(), content=text)
            await changed(desk, terminal, send)
        request_id = hand_in_plan(team)
        desk.app.look()
        await desk.shows("Refactor the report")
        await is_painted(desk, terminal)
        await changed(
            desk, terminal, lambda: requests.reject(Caller(team, LEAD), request_id=request_id, reason="No, not so")
        )


_KEYS = (
    *("j", "tab", "pagedown", "G", "home", "shift+tab", "space", "asterisk", "asterisk"),
    *("2", "j", "tab", "j", "1", "l", "slash", "p", "enter", "escape", "6", "j", "enter", "5", "j", "enter"),
    *("3", "pagedown", "end", "c", "escape", "4", "j", "question_mark", "pagedown", "escape"),
    *("colon", "t", "h", "escape", "1", "r", "x", "escape", "b", "escape"),
)
"""Through every mode, lists and details up and down, filters, forms, overlays."""


async def test_every_key_is_painted_in_whole(tmp_path: Path, terminal: pyte.Screen) -> None:
    size = (80, 24)
    terminal.resize(size[1], size[0])
    showcase.build(tmp_path)
    async with opened(open_team(str(tmp_path)), size=size) as desk:
        for key in _KEYS:
            await desk.pilot.press(key)
            await desk.until(lambda: desk.app.is_running)
            await is_painted(desk, terminal)
