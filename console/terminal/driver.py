"""A driver of the terminal that sends little, sleeps while nothing is typed, and never waits for one that is gone."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING, Any

from team_console.console.terminal.canvas import Canvas
from team_console.console.terminal.patience import PatientEvent

if TYPE_CHECKING:
    from textual.driver import Driver

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


def sparing(driver_class: type[Driver]) -> type[Driver]:
    """`driver_class` with output through a `Canvas`, and input that is waited for instead of looked for."""

    class SparingDriver(driver_class):  # type: ignore[misc, valid-type]
        _has_terminal = False

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.canvas = Canvas(**abilities())
            self._begun = False
            if isinstance(getattr(self, "exit_event", None), Event) and hasattr(self, "fileno"):
                self.exit_event = PatientEvent(self.fileno)

        def write(self, data: str) -> None:
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
            # Giving the terminal away to an editor closes the driver; this is also how it is had again.
            if isinstance(over := getattr(self, "exit_event", None), PatientEvent):
                over.open()
            super().start_application_mode()
            self._has_terminal = True

        def stop_application_mode(self) -> None:
            self._has_terminal = False
            super().stop_application_mode()

        def _sigcont_application(self, *arguments: Any) -> None:
            # Textual takes every SIGCONT for the end of a ctrl+z, and would read and write a terminal it has twice.
            if getattr(self, "_must_signal_resume", False):
                super()._sigcont_application(*arguments)
            elif self._has_terminal:
                asyncio.get_running_loop().call_soon_threadsafe(self._take_again)

        def _take_again(self) -> None:
            """Whoever stopped us from outside may have used the terminal: give it away, have it again, draw all."""
            if self._has_terminal and self._auto_restart:
                self.suspend_application_mode()
                self._must_signal_resume = True
                self.resume_application_mode()

        def close(self) -> None:
            super().close()
            if isinstance(over := getattr(self, "exit_event", None), PatientEvent):
                over.close()

        def _send(self, data: str) -> None:
            writer = getattr(self, "_writer_thread", None)
            if writer is None or writer.is_alive():
                super().write(data)

    return SparingDriver
