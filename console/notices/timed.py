"""Timed notices of a running application: what comes within a moment is told together, on its terminal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import Any

from team_console.console.notices.notifier import Notifier
from team_console.console.preferences.model import Notices
from team_console.store.views.rows import View
from textual.app import App
from textual.timer import Timer

_TOGETHER = 0.5
"""Seconds in which news is gathered before it is told."""


class TimedNotices:
    """Tells of new decisions through the terminal of `app`."""

    def __init__(self, app: App[Any], notices: Notices, clock: Callable[[], datetime], *, read_only: bool) -> None:
        self._app, self._clock = app, clock
        self._notifier = Notifier(notices, self._to_terminal, monotonic, read_only=read_only)
        self._timer: Timer | None = None
        self._team = ""

    def take(self, view: View | None) -> None:
        """See what waits now; what comes within a while is told together."""
        if view is None:
            return
        self._team = view.snapshot.config.name
        self._notifier.take(view, self._team)
        seconds = self._notifier.seconds_left()
        if seconds is not None and self._timer is None:
            self._timer = self._app.set_timer(max(_TOGETHER, seconds), self._tell)

    def close(self) -> None:
        """Give back the terminal's title of before."""
        self._notifier.close()

    def _tell(self) -> None:
        self._timer = None
        self._notifier.tell(self._team, self._clock())

    def _to_terminal(self, sequence: str) -> None:
        """Write an escape sequence that changes no cell; a console without a terminal has nowhere to write it."""
        if self._app._driver is not None and not self._app.is_headless:
            self._app._driver.write(sequence)
            self._app._driver.flush()
