"""Leaves the terminal as it was and keeps what was typed, whichever way the console ends."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any

from textual.app import App

PATIENCE = 5.0
"""Seconds a thread that is still at work has to end after the console was left."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def run_to_the_end(app: App[int]) -> int:
    """Run `app` until it is left; returns the exit status.

    A thread that waits for a disk or a server that answers no more keeps the process no longer than `PATIENCE`: the
    terminal is as it was by then, and a write that was cut off is made whole or undone by the next one.
    """
    over = Event()

    async def session() -> int:
        try:
            return await app.run_async() or app.return_code or 0
        finally:
            Thread(target=_insist, args=(app, over), daemon=True).start()

    try:
        return asyncio.run(session())
    finally:
        over.set()


def _insist(app: App[Any], over: Event) -> None:
    if not over.wait(PATIENCE):
        os._exit(app.return_code or 0)


def leave_cleanly(app: App[Any]) -> None:
    """Let the signals that end a program end the console in order: Textual itself would leave the screen as it is."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        with suppress(RuntimeError, ValueError):
            loop.add_signal_handler(number, partial(_leave, app, number))


def keep_drafts(app: App[Any]) -> None:
    """Keep what stands in every open form."""
    from widgets.forms.form import Form

    for screen in app.screen_stack:
        if isinstance(screen, Form):
            screen.keep()


def _leave(app: App[Any], number: signal.Signals) -> None:
    keep_drafts(app)
    app.exit(return_code=128 + number)
