"""Entries by age, of which mostly only the number, the oldest and the newest are asked: sorted when somebody looks."""

from __future__ import annotations

from team_console.store.protocol.entries import Entry
from team_console.store.views.ordered import Ordered


class ByAge:
    """Entries in the order of `Entry.order`. To add one costs a comparison; nothing is sorted before it has to be."""

    __slots__ = ("_first", "_last", "_late", "_sorted")

    def __init__(self) -> None:
        self._late: list[Entry] = []
        self._sorted: Ordered[Entry] = Ordered()
        self._first: Entry | None = None
        self._last: Entry | None = None

    def __len__(self) -> int:
        return len(self._sorted) + len(self._late)

    @property
    def first(self) -> Entry | None:
        """The oldest, None when there is none."""
        return self._first

    @property
    def last(self) -> Entry | None:
        """The newest, None when there is none."""
        return self._last

    @property
    def rows(self) -> tuple[Entry, ...]:
        """All of them, the oldest first; the same object until one came or went."""
        self._sort_in()
        return self._sorted.rows

    def add(self, entry: Entry) -> None:
        """One more; it must not be there yet."""
        self._late.append(entry)
        if self._first is None or self._last is None:
            self._first = self._last = entry
        elif self._last.is_before(entry):
            self._last = entry
        elif entry.is_before(self._first):
            self._first = entry

    def drop(self, entry: Entry) -> None:
        """Take one out, if it is there."""
        self._sort_in()
        self._sorted.drop(entry.order)
        self._first, self._last = self._sorted.first, self._sorted.last

    def _sort_in(self) -> None:
        for entry in self._late:
            self._sorted.put(entry.order, entry)
        self._late = []
