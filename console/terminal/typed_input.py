"""How what is typed is read: by a thread that sleeps until there is something, whatever a terminal sends."""

from __future__ import annotations

import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event
from typing import Any

from team_console.console.terminal.pasted import PasteParser
from textual.message import Message

_AT_A_TIME = 1 << 12
"""Bytes that are read at once."""


class WakingEvent(Event):
    """An event that can be waited for beside a file: while it is set there is something to read from `fileno`."""

    def __init__(self) -> None:
        super().__init__()
        self.fileno = self._wake = -1
        self.open()

    def open(self) -> None:
        """Be ready to wake, also again after `close`."""
        if self._wake < 0:
            self.fileno, self._wake = os.pipe()
            os.set_blocking(self.fileno, False)

    def set(self) -> None:
        """Set it and wake whoever waits."""
        super().set()
        if self._wake >= 0:
            os.write(self._wake, b".")

    def clear(self) -> None:
        """Take it back."""
        super().clear()
        with suppress(BlockingIOError):
            os.read(self.fileno, 64)

    def close(self) -> None:
        """Give up what it wakes with, until it is opened again."""
        for fileno in (self.fileno, self._wake) if self._wake >= 0 else ():
            os.close(fileno)
        self.fileno = self._wake = -1


class TypedInput:
    """What the driver of a terminal is mixed with, in front of its own class: how its thread reads what is typed.

    Textual's own way wakes up ten times a second to look, ends the console at a byte that is no UTF-8, which a
    terminal of another encoding sends, never leaves a terminal that is gone, and knows no parser but its own.
    """

    fileno: int
    exit_event: WakingEvent
    process_message: Callable[[Message], None]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.exit_event = WakingEvent()

    def start_application_mode(self) -> None:
        """Take the terminal; also how it is had again after an editor had it, which closes the driver."""
        self.exit_event.open()
        super().start_application_mode()  # type: ignore[misc]

    def close(self) -> None:
        """Let go of what wakes the thread."""
        super().close()  # type: ignore[misc]
        self.exit_event.close()

    def run_input_thread(self) -> None:
        """Read what is typed until it is over or the terminal is gone.

        It sleeps without end only when the parser has decided on all it got: an escape alone may begin a sequence, and
        becomes a key when nothing follows in time, whenever it was typed.
        """
        parser, decoder = PasteParser(), getincrementaldecoder("utf-8")("replace")
        # Not `poll`: terminals of macOS are no devices that it can wait for.
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self.exit_event.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = selector.select(parser.undecided_for())
                if any(key.fd == self.fileno for key, _ in ready):
                    if not (typed := self._read()):
                        return
                    if text := decoder.decode(typed):
                        self._pass_on(parser.feed(text))
                self._pass_on(parser.tick())

    def _read(self) -> bytes:
        """What was typed; nothing when the terminal is gone."""
        try:
            return os.read(self.fileno, _AT_A_TIME)
        except OSError:
            return b""

    def _pass_on(self, events: Iterable[Message]) -> None:
        for event in events:
            self.process_message(event)
