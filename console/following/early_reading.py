"""Begins to read the team while the screens are still being loaded, so that the first picture has rows."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from team_console.console.following.feed import Feed, ReadResult
from team_console.console.following.reading_process import start
from team_console.store.contract.team import Team

_STEP = 0.05
"""Seconds between two looks at how far the first reading is."""


class EarlyFeed(Feed):
    """A feed whose first reading starts at once; the first `read` waits for it.

    Of a large store only the newest messages are read early: the rest would keep the screens from loading. Loading and
    reading share what Python has for one process, so another one reads where two may, and else a thread.
    """

    def __init__(self, team: Team, me: str) -> None:
        super().__init__(team, me)
        self._reached = (0, 0)
        self._stopped = False
        self._glimpse: ReadResult | None = None
        self._outcome: ReadResult | BaseException | None = None
        self._first: Thread | None = None
        self._is_owed = False
        self._process = start(self._first_sight) if team.may_be_read_by_a_copy else None
        if self._process is None:
            self._first = Thread(target=self._begin, name="first reading", daemon=True)
            self._first.start()

    def at_hand(self) -> ReadResult | None:
        """See `Feed.at_hand`."""
        if self._process is not None and self._process.is_done():
            self._take_over()
        return self._glimpse or (self._outcome if isinstance(self._outcome, ReadResult) else None)

    def glimpse(self) -> ReadResult | None:
        """See `Feed.glimpse`."""
        if self._process is not None:
            self._take_over()
        if self._is_owed:
            self._is_owed, self._glimpse = False, super().glimpse()
        first = self._first
        while first is not None and first.is_alive() and self._glimpse is None and self._reached == (0, 0):
            first.join(_STEP)
        return self._glimpse

    def read(self, progress: Callable[[int, int], bool] | None = None) -> ReadResult:
        """See `Feed.read`; what kept the first reading from its end is raised here."""
        first, self._first = self._first, None
        while first is not None and first.is_alive():
            first.join(_STEP)
            if progress is not None and first.is_alive() and not progress(*self._reached):
                self._stopped = True
        outcome, self._outcome = self._outcome, None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome or super().read(progress)

    def _first_sight(self) -> ReadResult:
        return super().glimpse() or super().read()

    def _take_over(self) -> None:
        """Wait for what the other process saw, as if it had been seen here; what it could not read is owed."""
        process, self._process = self._process, None
        sight = process.result() if process is not None else None
        if sight is None:
            self._is_owed = True
        elif sight.is_glimpse:
            self._glimpse = sight
        else:
            self._outcome, self._number, self._view = sight, sight.number, sight.view

    def _begin(self) -> None:
        try:
            self._glimpse = super().glimpse()
            if self._glimpse is None:
                self._outcome = super().read(self._report)
        except BaseException as error:  # raised again in the thread that waits
            self._outcome = error

    def _report(self, done: int, total: int) -> bool:
        self._reached = done, total
        return not self._stopped
