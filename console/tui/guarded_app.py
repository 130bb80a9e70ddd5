"""The application that ends in order, also after a signal: the terminal as it was, typed texts kept, no process left.

A defect of its own goes to a log without any word of a message; Textual prints a traceback with the values of
variables: with messages and tokens.
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from threading import Event, Thread, Timer
from typing import Any, TypeVar

from rich.console import RenderableType
from team_console.console.defects import Defects
from team_console.console.tui.canvas import Canvas, CanvasDriver
from team_console.console.tui.textual_fixes import MendedApp, PatientStylesheet, mend_textual
from team_console.console.tui.themes import TERMINAL, THEMES, first_theme, native_colours
from team_console.widgets.held_frames import FrameHeld, Frames
from team_console.widgets.panel import NotShown
from textual import on
from textual.css.query import NoMatches
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.messages import ExitApp
from textual.worker import WorkerFailed

ReturnT = TypeVar("ReturnT")

PATIENCE = 5.0
"""Seconds a thread that is still at work has to end after the human left: longer than a write waits for its lock."""
HURRY = 1.2
"""Seconds the console has to end in order after its terminal went away or a signal told it to end."""
_KEEPING_TIME = 0.5
"""Seconds that what was typed has to reach the disk when it did not end in order: two seconds are the limit."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class GuardedApp(MendedApp[ReturnT]):
    """An app with our themes, which ends with a log of the places in the code after an exception nobody expected."""

    def __init__(self, preferred_theme: str) -> None:
        """`preferred_theme` is that of the settings; empty for none."""
        mend_textual()
        super().__init__(ansi_color=native_colours())
        for theme in (*THEMES, *TERMINAL):
            self.register_theme(theme)
        self.stylesheet = PatientStylesheet(variables=self.theme_variables)
        self.theme = first_theme(self.console.color_system, preferred_theme)
        self.defects, self.canvas = Defects(), Canvas()
        self.frames = Frames(self._tell_when_held, self.canvas.text_at)
        self._is_ending = False

    def get_driver_class(self) -> type[Driver]:
        """Return a driver that writes only cells that changed, where there is a terminal."""
        found = super().get_driver_class()
        return CanvasDriver if found is LinuxDriver else found

    def displayed(self) -> None:
        """Count what was drawn as a frame."""
        self.frames.note_drawn(self.screen_stack)

    def _tell_when_held(self, number: int) -> None:
        if not self.ask_terminal(number):  # a browser, or nobody: it is held as soon as it was drawn
            self.post_message(FrameHeld(number))

    @on(FrameHeld)
    def _frame_held(self, event: FrameHeld) -> None:
        self.frames.note_held(event.number)

    @on(ExitApp)
    def _page_ended(self) -> None:  # a page says so without calling `exit`
        if not self._is_ending:
            self.exit()

    def exit(self, result: ReturnT | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the app with all that is typed kept; from now on nothing more is mounted, and nothing more is kept."""
        with suppress(Exception):
            # guard: drafts-kept-at-signal
            self.keep_typed()
        self._is_ending = True
        super().exit(result, return_code, message)

    def fail(self, error: Exception) -> None:
        """Log the exception and end: a widget whose handler failed hears nothing any more."""
        # guard: page-closed-is-no-defect
        if self._is_ending and isinstance(error, NoMatches):  # told to end before all of it was there
            return
        with suppress(Exception):
            # guard: drafts-kept-at-crash
            self.keep_typed()
        # guard: page-gone-is-no-defect
        if not (self.is_web and isinstance(error, BrokenPipeError)):  # a page may be closed while its console starts
            self.report(error.error if isinstance(error, WorkerFailed) else error)
        self.exit(return_code=1)

    def report(self, error: BaseException) -> None:
        """Log an exception that nobody expected and go on."""
        self.defects.record(error, where=self.where())

    @on(NotShown)
    def _not_shown(self, event: NotShown) -> None:
        self.report(event.error)

    def where(self) -> str:
        """Return the app's present activity, for the log."""
        return ""

    def keep_typed(self) -> None:
        """Keep what stands in every open form."""

    def write_decided(self) -> list[str]:
        """Write the pending decisions; return a safe line for each that failed."""
        return []

    def unwritten(self) -> list[str]:
        """Return a safe line for each decision of which it is not known that it was written."""
        return []

    # The end. An event loop that hangs, an input thread that spins on a terminal that is gone, a write that waits for a
    # server: none of them keeps the process. A write that was cut off is made whole or undone by the next one. Commands
    # that are waited for are killed; agents of the demo hang on our pipes and end with them.

    def run_to_the_end(self) -> tuple[ReturnT | None, int]:
        """Run until it is left; returns what it was left with, and the exit status."""
        patience = Timer(PATIENCE, self._end_without_the_store)
        patience.daemon = True
        unwritten: list[str] = []

        async def session() -> ReturnT | None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(self._take_task_failure)
            Thread(target=self._watch_terminal, args=(loop,), name="terminal watch", daemon=True).start()
            for number in _SIGNALS:  # Textual itself would leave the screen as it is
                with suppress(RuntimeError, ValueError):
                    # guard: signal-restores-terminal
                    loop.add_signal_handler(number, self._end_soon, number)
            try:
                return await self.run_async()
            finally:
                # guard: hanging-store-keeps-nobody
                patience.start()
                unwritten.extend(self.write_decided())

        before = threading.excepthook
        threading.excepthook = self._take_thread_failure
        try:
            result = asyncio.run(session())
        finally:
            threading.excepthook = before
            patience.cancel()
            tell_of_defects(self.defects)
            _tell_unwritten("not written", unwritten)
        return result, self.return_code or 0

    def _end_without_the_store(self) -> None:
        """End without a store that does not answer, and say what may not have reached it."""
        _tell_unwritten("it is not known whether this was written", self.unwritten())
        _end_now(self.return_code or 0)

    def _end_soon(self, number: int) -> None:
        """End in order, and in any case in `HURRY` seconds: the interpreter itself may hang at its end."""
        Thread(target=self._end_after_hurry, args=(128 + number,), name="end", daemon=True).start()
        self.exit(return_code=128 + number)

    def _end_after_hurry(self, status: int) -> None:
        """Wait `HURRY` seconds for an end in order, then keep what was typed and end the process."""
        Event().wait(HURRY)

        # The loop may have had no time to keep what was typed; a disk that hangs must not keep us either.
        def save() -> None:
            self.keep_typed()
            self.write_decided()

        keeping = Thread(target=save, name="keeping drafts", daemon=True)
        keeping.start()
        keeping.join(_KEEPING_TIME)
        _end_now(status)

    def _watch_terminal(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for the other end of the terminal to go away: its hangup signal may come late, or never come."""
        poll = select.poll()
        try:
            # No event is asked for: a hangup is reported all the same, and typed keys wake nobody.
            poll.register(sys.__stdin__.fileno() if sys.__stdin__ is not None else 0, 0)
            while not poll.poll():
                pass
        except (OSError, ValueError):
            return
        with suppress(Exception):
            loop.call_soon_threadsafe(self._end_soon, signal.SIGHUP)
        # guard: ends-with-terminal
        self._end_after_hurry(128 + signal.SIGHUP)

    def _take_task_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if isinstance(error := context.get("exception"), Exception):
            self.fail(error)

    def _take_thread_failure(self, failure: threading.ExceptHookArgs) -> None:
        error, thread = failure.exc_value, failure.thread.name if failure.thread else "a thread"
        is_lost = isinstance(error, OSError) and error.errno in (errno.EIO, errno.EPIPE)
        if thread == "textual-output" and is_lost:
            return  # nobody to write to: a line that ended is no defect
        if error is not None and not isinstance(error, SystemExit):
            self.defects.record(error, where=thread)


def _tell_unwritten(what: str, lines: Iterable[str]) -> None:
    """Say on standard error what of the decisions was not written, in safe lines."""
    with suppress(OSError, ValueError):
        for line in lines:
            print(f"team-console: {what}: {line}", file=sys.stderr, flush=True)


def _end_now(status: int) -> None:
    """End the process and what it waits for; nothing is cleared up."""
    from team_console.store.service.agent_command import end_running_commands

    with suppress(Exception):
        end_running_commands()
    os._exit(status)


def tell_of_defects(defects: Defects) -> None:
    """Say on standard error, once the terminal is as it was, that there were defects and where they are logged."""
    known = defects.all
    if not known:
        return
    logged = next((defect.log for defect in known if defect.log is not None), None)
    place = f"; places in the code, and no message, are in {logged}" if logged is not None else ""
    many = "one defect of its own" if len(known) == 1 else f"{len(known)} defects of its own"
    with suppress(OSError, ValueError):
        print(f"team-console met {many} ({known[0].kind}){place}. Please report it.", file=sys.stderr)
