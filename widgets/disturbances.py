"""Whether the row under the cursor changed without the user's doing, and which rows are expected to leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

RowT = TypeVar("RowT")

_NEVER = float("-inf")
JUST = 0.7
"""Seconds within which nobody has seen yet that rows moved."""


class Disturbances(Generic[RowT]):
    """When the row under the cursor last changed by itself; that a row leaves which the user treated is none.

    Attributes:
        leaving: Keys of the rows that were treated and are still there.
    """

    def __init__(self, basis: Callable[[RowT], object], clock: Callable[[], float]) -> None:
        """Begin undisturbed; `basis` returns the part of a row that a human decides on."""
        self._basis, self._clock = basis, clock
        self._at = self._moved_at = _NEVER
        self._lost: RowT | None = None
        self.leaving: frozenset[str] = frozenset()

    def seconds_since(self) -> float:
        """Return seconds since the last one."""
        return self._clock() - self._at

    def note(self, lost: RowT | None = None) -> None:
        """Note that the row the user chose, `lost` where it is known, is no longer under the cursor as it was."""
        self._at = self._clock()
        if lost is not None:
            self._lost = lost

    def note_move(self) -> None:
        """Note that rows in sight are at other places."""
        self._moved_at = self._clock()

    def note_click(self) -> None:
        """Note that a row was clicked on: just after rows moved it may be another one than was meant."""
        # guard: click-on-a-row-that-moved
        if self._clock() - self._moved_at < JUST:
            self.note()

    def note_change(
        self, old: RowT | None, row: RowT | None, *, is_same_key: bool, is_here: Callable[[str], bool]
    ) -> bool:
        """Note it where another row is under the cursor now, or says other; return whether that is so.

        It is no disturbance where expected rows have left.

        Args:
            is_same_key: Whether it is the same row, which may say other.
            is_here: Tells of the key of a row whether it is still in the list.
        """
        if row is None or old is None or row is old:
            is_another = row is not old
        else:
            is_another = not is_same_key or self._basis(row) != self._basis(old)
        left = {key for key in self.leaving if not is_here(key)}
        self.leaving -= left
        if is_another and old is not None and not left:
            self.note(old)
        return is_another

    def expect(self, leaving: frozenset[str], is_treated: Callable[[RowT], bool]) -> None:
        """Expect treated rows to leave; when the treated one has left already, that was no disturbance."""
        if self._lost is not None and is_treated(self._lost):
            self._lost, self._at = None, _NEVER
        self.leaving |= leaving

    def expect_no_leaving(self) -> None:
        """Keep the treated rows after all: one that leaves from now on counts as a disturbance."""
        self.leaving = frozenset()
