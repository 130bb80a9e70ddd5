"""A driver of the terminal that sends little, sleeps while nothing is typed, and never waits for one that is gone."""

from __future__ import annotations

import asyncio
from typing import Any

from team_console.console.terminal.canvas import Canvas
from team_console.console.terminal.prompt_output import PromptOutput
from team_console.console.terminal.typed_input import TypedInput
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

_AT_ONCE = 400
"""Characters that reach the terminal by one write and are drawn by it as one picture; more are bracketed for that."""
SYNC_BEGIN, SYNC_END = "\x1b[?2026h", "\x1b[?2026l"


def abilities() -> dict[str, bool]:
    """What the terminal database promises beyond what every terminal can do, as `Canvas` wants to know it."""
    import curses

    try:
        curses.setupterm()
    except curses.error:
        return {}
    scrolls = all(curses.tigetstr(name) for name in ("csr", "il1", "dl1"))
    return {"erases": bool(curses.tigetstr("ech")) and curses.tigetflag("bce") > 0, "scrolls": scrolls}


class SparingDriver(Driver):
    """What a driver of Textual's is mixed with, in front of its own class: see `sparing`."""

    _has_terminal = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.canvas = Canvas(**abilities())
        self._begun = False

    def write(self, data: str) -> None:
        """Send what `data` changes on the terminal, in brackets when it is more than one picture takes."""
        if data == SYNC_BEGIN:
            self._begun = True
        elif data == SYNC_END:
            if not self._begun:
                self._send(data)
            self._begun = False
        else:
            changed = self.canvas.update(data)
            if len(changed) > _AT_ONCE:
                self._send((SYNC_BEGIN if self._begun else "") + changed)
                self._begun = False
            elif changed:
                self._send(changed)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        super().start_application_mode()  # type: ignore[safe-super]
        self._has_terminal = True

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self._has_terminal = False
        super().stop_application_mode()  # type: ignore[safe-super]

    def _sigcont_application(self, *arguments: Any) -> None:
        # Textual takes every SIGCONT for the end of a ctrl+z, and would read and write a terminal it has twice.
        if getattr(self, "_must_signal_resume", False):
            super()._sigcont_application(*arguments)  # type: ignore[misc]
        elif self._has_terminal:
            asyncio.get_running_loop().call_soon_threadsafe(self._take_again)

    def _take_again(self) -> None:
        """Whoever stopped us from outside may have used the terminal: give it away, have it again, draw all."""
        if self._has_terminal and self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
            self.resume_application_mode()

    def _send(self, data: str) -> None:
        writer = getattr(self, "_writer_thread", None)
        if writer is None or writer.is_alive():
            super().write(data)  # type: ignore[safe-super]


def sparing(driver_class: type[Driver]) -> type[Driver]:
    """`driver_class` with output through a `Canvas`, written at once, and input waited for and read as it was meant."""
    if not issubclass(driver_class, LinuxDriver):  # there are drivers without a terminal
        return type("SparingDriver", (SparingDriver, driver_class), {})
    return type("SparingDriver", (TypedInput, SparingDriver, PromptOutput, driver_class), {})
