"""Begins to read the team while the screens are still being loaded, so that the first picture has rows."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from team_console.console.reader import Feed, ReadResult
from team_console.store.contract.team import Team

_STEP = 0.05
"""Seconds between two looks at how far the first reading is."""


class EarlyFeed(Feed):
    """A feed whose first reading starts at once; the first `read` waits for it."""

    def __init__(self, team: Team, me: str) -> None:
        super().__init__(team, me)
        self._reached = (0, 0)
        self._stopped = False
        self._outcome: ReadResult | BaseException | None = None
        self._first: Thread | None = Thread(target=self._begin, name="first reading", daemon=True)
        self._first.start()

    def at_hand(self) -> ReadResult | None:
        """See `Feed.at_hand`."""
        return self._outcome if isinstance(self._outcome, ReadResult) else None

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

    def _begin(self) -> None:
        try:
            self._outcome = super().read(self._report)
        except BaseException as error:  # raised again in the thread that waits
            self._outcome = error

    def _report(self, done: int, total: int) -> bool:
        self._reached = done, total
        return not self._stopped
