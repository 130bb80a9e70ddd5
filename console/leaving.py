"""Leaving: the terminal is as it was, what was typed is kept, the process is gone, whichever way the console ends."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import signal
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any, NoReturn, TypeVar

from team_console.console.crash_guard import ContainedApp, tell_of_faults
from textual.app import App

ReturnT = TypeVar("ReturnT")

PATIENCE = 5.0
"""Seconds a thread that is still at work has to end after the human left: longer than a write waits for its lock."""
HURRY = 1.2
"""Seconds the console has to end in order after its terminal went away or a signal told it to end."""
_LAST = 0.5
"""Seconds that what was typed has to reach the disk when it did not end in order: two seconds are the limit."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class ProcessEnd:
    """The end of one process: asked for in order, and made sure of from a thread that nothing else can hold up.

    An event loop that hangs, an input thread that spins on a terminal that is gone, a write that waits for a server:
    none of them keeps the process. A write that was cut off is made whole or undone by the next one. Commands that are
    waited for are killed; agents of the demo hang on our pipes and end with them.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._over = Event()
        self._hurry = Event()
        self._status = 0
        self.unwritten: list[str] = []

    def begin(self) -> None:
        """Watch the terminal from now on."""
        Thread(target=self._watch_terminal, name="terminal watch", daemon=True).start()
        Thread(target=self._insist, name="end", daemon=True).start()

    def hurry(self, status: int) -> None:
        """The process has to be gone in `HURRY` seconds, with `status` if it does not end by itself."""
        if not self._hurry.is_set():
            self._status = status
            self._hurry.set()

    def is_under_way(self) -> None:
        """The app was left; threads that are at work have `PATIENCE` seconds."""
        Thread(target=self._wait, name="patience", daemon=True).start()

    def is_over(self) -> None:
        """All is done; a hurry that began goes on, because the interpreter itself may still hang at its end."""
        self._over.set()

    def _insist(self) -> None:
        self._hurry.wait()
        Event().wait(HURRY)
        # The loop may have had no time to keep what was typed; a disk that hangs must not keep us either.
        keeping = Thread(target=_save, args=(self._app,), name="keeping drafts", daemon=True)
        keeping.start()
        keeping.join(_LAST)
        _end_now(self._status)

    def _wait(self) -> None:
        if not self._over.wait(PATIENCE):
            _end_now(self._app.return_code or 0)

    def _watch_terminal(self) -> None:
        """Wait for the other end of the terminal to go away: its hangup signal may come late, or never come."""
        poll = select.poll()
        try:
            # No event is asked for: a hangup is reported all the same, and typed keys wake nobody.
            poll.register(sys.__stdin__.fileno() if sys.__stdin__ is not None else 0, 0)
            while not poll.poll():
                pass
        except (OSError, ValueError):
            return
        # guard: ends-with-terminal
        self.hurry(128 + signal.SIGHUP)
        with suppress(Exception):
            self._app.call_from_thread(_leave, self._app, signal.SIGHUP)


def run_to_the_end(app: ContainedApp[ReturnT]) -> tuple[ReturnT | None, int]:
    """Run `app` until it is left; returns what it was left with, and the exit status."""
    end = ProcessEnd(app)

    async def session() -> ReturnT | None:
        asyncio.get_running_loop().set_exception_handler(partial(_failed_task, app))
        leave_cleanly(app, end)
        try:
            return await app.run_async()
        finally:
            end.is_under_way()
            end.unwritten = write_what_is_decided(app)

    before = threading.excepthook
    threading.excepthook = partial(_failed_thread, app)
    end.begin()
    try:
        result = asyncio.run(session())
    finally:
        threading.excepthook = before
        end.is_over()
        tell_of_faults(app.faults)
        for words in end.unwritten:
            print(f"team-console: not written: {words}", file=sys.stderr)
    return result, app.return_code or 0


def leave_cleanly(app: App[Any], end: ProcessEnd) -> None:
    """Let the signals that end a program end the console in order: Textual itself would leave the screen as it is."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        with suppress(RuntimeError, ValueError):
            # guard: signal-restores-terminal
            loop.add_signal_handler(number, partial(_hurry_out, app, end, number))


def keep_drafts(app: App[Any]) -> None:
    """Keep what stands in every open form."""
    from team_console.widgets.form import Form

    for screen in app.screen_stack:
        if isinstance(screen, Form):
            screen.keep()


def write_what_is_decided(app: App[Any]) -> list[str]:
    """Write what waits for the end of its grace; returns what could not be written, and why, as safe lines."""
    write: Callable[[], list[str]] = getattr(app, "write_decided", list)
    return write()


def _save(app: App[Any]) -> None:
    keep_drafts(app)
    write_what_is_decided(app)


def _end_now(status: int) -> NoReturn:
    """End the process and what it waits for; nothing is cleared up."""
    from team_console.store.service.agents import end_running

    with suppress(Exception):
        end_running()
    os._exit(status)


def _hurry_out(app: App[Any], end: ProcessEnd, number: signal.Signals) -> None:
    end.hurry(128 + number)
    _leave(app, number)


def _leave(app: App[Any], number: signal.Signals) -> None:
    with suppress(Exception):
        # guard: drafts-kept-at-signal
        keep_drafts(app)
    app.exit(return_code=128 + number)


def _failed_task(app: ContainedApp[Any], loop: AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, Exception):
        app._handle_exception(error)


def _failed_thread(app: ContainedApp[Any], failure: threading.ExceptHookArgs) -> None:
    if _is_of_lost_terminal(failure):
        return
    if failure.exc_value is not None and not isinstance(failure.exc_value, SystemExit):
        app.faults.record(failure.exc_value, where=failure.thread.name if failure.thread else "a thread")


def _is_of_lost_terminal(failure: threading.ExceptHookArgs) -> bool:
    """Whether the toolkit's thread that writes found nobody to write to: a line that ended is no defect."""
    writes = failure.thread is not None and failure.thread.name == "textual-output"
    return writes and isinstance(failure.exc_value, OSError) and failure.exc_value.errno in (errno.EIO, errno.EPIPE)
