"""Waiting for what is typed, so that a console nobody touches does not wake up ten times a second to look."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from threading import Event, current_thread
from time import monotonic

from textual import constants

INPUT_THREAD = "textual-input"
"""Name of the toolkit's thread that reads keys."""
_AWAKE = constants.ESCAPE_DELAY + 0.2
"""Seconds after something was typed for which the thread looks as often as it likes: an escape alone may be the
beginning of a sequence, which the toolkit decides after its delay.
"""


class PatientEvent(Event):
    """The event that ends the input thread; that thread asks whether it is set before each of its short waits.

    Before it says no, it waits until there is something to read or it is set. Every other thread is answered at once.
    """

    def __init__(self, fileno: int) -> None:
        """`fileno` is what keys are read from."""
        super().__init__()
        self._input = fileno
        self._awake_until = monotonic() + _AWAKE
        self._woken = self._wake = -1
        self.open()

    def open(self) -> None:
        """Be ready to wait, also again after `close`."""
        if self._wake < 0:
            self._woken, self._wake = os.pipe()
            os.set_blocking(self._woken, False)

    def is_set(self) -> bool:
        """Whether it is set; in the input thread only once something was typed or it is."""
        if not super().is_set() and current_thread().name == INPUT_THREAD and monotonic() > self._awake_until:
            self._wait_for_input()
        return super().is_set()

    def set(self) -> None:
        """Set it and let the input thread see it at once."""
        super().set()
        if self._wake >= 0:
            os.write(self._wake, b".")

    def clear(self) -> None:
        """Take it back."""
        super().clear()
        with suppress(BlockingIOError):
            os.read(self._woken, 64)
        self._awake_until = monotonic() + _AWAKE

    def close(self) -> None:
        """Give up what it waits with; no thread waits any more, until it is opened again."""
        for fileno in (self._woken, self._wake) if self._wake >= 0 else ():
            os.close(fileno)
        self._woken = self._wake = -1

    def _wait_for_input(self) -> None:
        # Not `poll`: terminals of macOS are no devices that it can wait for.
        select.select([self._input, self._woken], [], [])
        self._awake_until = monotonic() + _AWAKE
