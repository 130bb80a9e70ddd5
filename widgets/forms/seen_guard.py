"""From when on a key may decide about what stands on the screen: once it is drawn and could be looked at."""

from __future__ import annotations

from math import inf
from time import monotonic

LOOK = 0.4
"""Seconds something must have stood on the screen before a key decides about it."""


class Showing:
    """Whether a key was pressed in view of what it would act on; moments are seconds of `time.monotonic`."""

    def __init__(self, *, since: float = inf) -> None:
        self._since = since

    @property
    def is_covered(self) -> bool:
        """Whether something else is in front, or it is not drawn yet."""
        return self._since == inf

    def cover(self) -> None:
        """Something else comes in front of it, or it is still to be drawn."""
        self._since = inf

    def drawn(self) -> None:
        """It stands on the screen now."""
        self._since = monotonic() + LOOK

    def was_seen_at(self, moment: float) -> bool:
        """Whether a key pressed at `moment` was pressed in view of it."""
        return moment >= self._since
