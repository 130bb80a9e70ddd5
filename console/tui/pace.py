"""The pace of readings under a stream of changes: the first is made at once, the next when the processor has rested."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, process_time

_REST = 2.0
"""Seconds of rest for each second of processor time a reading took with its painting: a third of a core at most."""
_LONGEST = 1.0
"""Seconds a change waits at most for that."""


class Pace:
    """Space the readings under a stream of changes: say how long the next one should wait."""

    def __init__(self, clock: Callable[[], float] = monotonic, used: Callable[[], float] = process_time) -> None:
        """`clock` is in seconds that only go forward, `used` in seconds of processor time of this process."""
        self._clock, self._used = clock, used
        self._before = used()
        self._until = float("-inf")

    def begin(self) -> None:
        """Note that a reading begins."""
        self._before = self._used()

    def end(self) -> None:
        """Note that the reading was painted."""
        self._until = self._clock() + min(_LONGEST, _REST * (self._used() - self._before))

    @property
    def rest(self) -> float:
        """Seconds until the next reading, 0 when it may begin."""
        return max(0.0, self._until - self._clock())
