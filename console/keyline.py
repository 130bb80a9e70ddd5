"""Keys take effect in the order they were typed, whichever widgets they go to."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.events import Event, Key, MouseDown, MouseUp, Paste
from textual.message_pump import MessagePump

_PATIENCE = 1.0
"""Seconds after which a key that got stuck on its way holds the next one back no longer."""


class KeyLine:
    """Hands out one key at a time; the next leaves when the one before has gone through its widgets.

    Textual puts a key into the queue of the widget that has the focus when the key arrives. Two keys for two widgets
    would travel side by side, and the later could act first: on another row, or in another mode, than it was meant for.
    """

    def __init__(self, app: App[Any], dispatch: Callable[[Event], Awaitable[None]]) -> None:
        self._app = app
        self._dispatch = dispatch
        self._waiting: deque[Event] = deque()
        self._travelling = False
        self._number = 0

    @staticmethod
    def takes(event: Event) -> bool:
        """Whether `event` comes from a hand, and comes for the first time."""
        return isinstance(event, Key | Paste | MouseDown | MouseUp) and not event.is_forwarded

    async def take(self, event: Event) -> None:
        """Let `event` take effect in its turn."""
        self._waiting.append(event)
        if not self._travelling:
            await self._hand_out()
        elif len(self._waiting) == 1:
            self._lose_patience()

    def _lose_patience(self) -> None:
        number = self._number

        async def give_up() -> None:
            if self._travelling and number == self._number:
                await self._arrived()

        self._app.set_timer(_PATIENCE, give_up)

    async def _hand_out(self) -> None:
        while self._waiting and not self._travelling:
            event = self._waiting.popleft()
            target: MessagePump = self._app.focused or self._app.screen
            self._number += 1
            self._travelling = isinstance(event, Key)
            await self._dispatch(event)
            if not event.is_forwarded:
                self._travelling = False
            elif self._travelling:
                self._follow(target, self._number)
        if self._waiting:
            self._lose_patience()

    def _follow(self, pump: MessagePump, number: int) -> None:
        """Queue up behind the key in `pump`, then in its parent, which the key bubbles to, up to the app."""
        while pump is not self._app:
            parent = pump._parent or self._app
            if pump.call_later(self._follow, parent, number):
                return
            pump = parent

        async def through() -> None:
            if number == self._number:
                await self._arrived()

        self._app.call_later(through)

    async def _arrived(self) -> None:
        self._travelling = False
        await self._hand_out()
