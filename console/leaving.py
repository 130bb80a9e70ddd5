"""Leaves the terminal as it was and keeps what was typed, whichever way the console ends."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from functools import partial
from typing import Any

from textual.app import App

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def leave_cleanly(app: App[Any]) -> None:
    """Let the signals that end a program end the console in order: Textual itself would leave the screen as it is."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):
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
