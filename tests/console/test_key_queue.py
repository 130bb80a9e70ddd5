"""Keys act in the order in which they were typed, also when they go to different widgets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic

import pytest
import team_console.console.tui.keys
from team_console.console.tui.keys import KeyQueue
from team_console.widgets.frames import Frames
from textual.app import App, ComposeResult
from textual.events import Event, Key
from textual.widget import Widget

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


class Place(Widget, can_focus=True):
    """Takes its time with every key until it is let go."""

    def __init__(self, *, busy: bool) -> None:
        super().__init__()
        self.begun: list[str] = []
        self.free = asyncio.Event()
        if not busy:
            self.free.set()

    async def on_key(self, event: Key) -> None:
        self.begun.append(event.key)
        await self.free.wait()


class Desk(App[None]):
    """A busy place and a free one, and what reached the app through them."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: list[str] = []
        self.typed: list[str] = []
        self.busy, self.free = Place(busy=True), Place(busy=False)
        self.line = KeyQueue(self, super().on_event, Frames(lambda number: None, lambda *place: None))

    def compose(self) -> ComposeResult:
        yield self.busy
        yield self.free

    async def on_event(self, event: Event) -> None:
        if self.line.takes(event):
            await self.line.take(event)
            self.arrived += [event.key] if isinstance(event, Key) else []
        else:
            await super().on_event(event)

    def on_key(self, event: Key) -> None:
        self.typed.append(event.key)

    async def action_quit(self) -> None:
        self.typed.append("left")

    async def type(self, key: str, place: Place) -> None:
        """Press `key` while `place` has the focus."""
        self.screen.set_focus(place)
        self.post_message(Key(key, key))
        await until(lambda: key in self.arrived)


async def until(condition: Callable[[], bool]) -> None:
    """Let the app go on until `condition` holds."""
    deadline = monotonic() + 30
    while not condition():
        assert monotonic() < deadline
        await asyncio.sleep(0)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """The app, with a key on its way in the busy place."""
    app = Desk()
    async with app.run_test():
        await app.type("a", app.busy)
        await until(lambda: app.busy.begun == ["a"])
        try:
            yield app
        finally:
            app.busy.free.set()


async def test_who_asks_twice_to_leave_does_not_wait_for_a_key_that_is_stuck(desk: Desk) -> None:
    for key in ("b", "ctrl+q"):
        await desk.type(key, desk.free)
    assert desk.typed == []
    await desk.type("ctrl+q", desk.free)
    await until(lambda: desk.typed == ["left"])


async def test_leaving_waits_once_for_a_screen_that_never_comes_and_not_for_each_key(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_console.console.tui.keys, "_MOST", 0.0)
    monkeypatch.setattr(type(desk.screen), "takes_keys", False, raising=False)
    for key in ("b", "c", "d", "ctrl+q"):
        await desk.type(key, desk.free)
    desk.busy.free.set()
    await until(lambda: "left" in desk.typed)
    assert desk.typed == ["a", "left"]
    assert desk.free.begun == []


@pytest.mark.parametrize("mode", ["1", "right", "3", "4"])
async def test_keys_typed_ahead_act_on_what_stands_there_when_their_turn_comes(team: MemoryTeam, mode: str) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(desk.can_act, "a screen to act on")
        app = desk.app
        left = asyncio.Event()
        app.exit = lambda *_, **__: left.set()  # type: ignore[method-assign]
        for key in (mode, "slash", "e", "enter", "escape", "escape", "q"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await desk.until(left.is_set, "the end that q asks for")
        app.exit = type(app).exit.__get__(app)  # type: ignore[method-assign]
