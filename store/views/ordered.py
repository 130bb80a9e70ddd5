"""A list that is sorted whenever somebody looks, and hands out the same tuple until a row came or went."""

from __future__ import annotations

from bisect import bisect_left
from operator import is_
from typing import Any, Generic, TypeVar

from team_console.store.model.chunked import Chunked
from team_console.store.protocol.entries import Entry

Row = TypeVar("Row")


_FEW = 16
"""So many new rows are put in one by one; more of them are sorted in at once, which takes a tenth of the time."""


class Ordered(Generic[Row]):
    """Rows in the order of their keys. Keys are unique tuples whose parts compare."""

    __slots__ = ("_edits", "_frozen", "_keys", "_late", "_rows", "_shared")

    def __init__(self) -> None:
        self._keys: list[Any] = []
        self._rows: list[Row] = []
        self._late: list[tuple[Any, Row]] = []
        self._frozen: tuple[Row, ...] | None = ()
        self._shared: Chunked[Row] | None = None
        self._edits: list[tuple[int, int, tuple[Row, ...]]] = []

    def __len__(self) -> int:
        self._sort_in()
        return len(self._rows)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows in order; the same object until a row came, went or changed."""
        if self._frozen is None:
            self._sort_in()
            self._frozen = tuple(self._rows)
        return self._frozen

    @property
    def shared(self) -> Chunked[Row]:
        """The rows in order, for a long list: a few changes cost the parts they are in, not a copy of all."""
        self._sort_in()
        shared = self._shared
        if shared is None:
            shared = Chunked.of(self._rows)
        for start, stop, rows in self._edits:
            shared = shared.exchanged(start, stop, rows)
        self._shared, self._edits = shared, []
        return shared

    @property
    def first(self) -> Row | None:
        """The row with the smallest key, None when there is no row."""
        self._sort_in()
        return self._rows[0] if self._rows else None

    @property
    def last(self) -> Row | None:
        """The row with the largest key, None when there is no row."""
        self._sort_in()
        return self._rows[-1] if self._rows else None

    def put(self, key: Any, row: Row) -> None:
        """Insert a row, or replace the one with the same key."""
        self._frozen = None
        if self._late or (self._keys and not self._keys[-1] < key):
            self._late.append((key, row))
        else:
            self._edited(len(self._rows), 0, row)
            self._keys.append(key)
            self._rows.append(row)

    def drop(self, key: Any) -> None:
        """Remove the row with this key, if it is there."""
        self._sort_in()
        place = bisect_left(self._keys, key)
        if place < len(self._keys) and self._keys[place] == key:
            del self._keys[place], self._rows[place]
            self._edited(place, 1)

    def place_of(self, key: Any) -> int:
        """How many keys are smaller than `key`."""
        self._sort_in()
        return bisect_left(self._keys, key)

    def row_at(self, place: int) -> Row:
        """The row at a place."""
        self._sort_in()
        return self._rows[place]

    def replace_at(self, place: int, row: Row) -> None:
        """Change the row at a place, keeping its key."""
        self._sort_in()
        self._rows[place] = row
        self._edited(place, 1, row)

    def _edited(self, place: int, gone: int, *rows: Row) -> None:
        """Remember what was exchanged, as long as it is little."""
        self._frozen = None
        if self._shared is None:
            return
        self._edits.append((place, place + gone, rows))
        if len(self._edits) > _FEW:
            self._shared, self._edits = None, []

    def _sort_in(self) -> None:
        late = self._late
        if not late:
            return
        self._late = []
        if len(late) <= _FEW:
            for key, row in late:
                self._insert(key, row)
        else:
            rows = dict(zip(self._keys, self._rows, strict=True))
            rows.update(late)
            self._keys = sorted(rows)
            self._rows = [rows[key] for key in self._keys]
            self._shared, self._edits = None, []

    def _insert(self, key: Any, row: Row) -> None:
        place = bisect_left(self._keys, key)
        if place < len(self._keys) and self._keys[place] == key:
            self.replace_at(place, row)
        else:
            self._keys.insert(place, key)
            self._rows.insert(place, row)
            self._edited(place, 0, row)


class Joined(Generic[Row]):
    """The rows of several lists, one after the other."""

    def __init__(self, *lists: Ordered[Row]) -> None:
        self._lists = lists
        self._parts: list[tuple[Row, ...]] = []
        self._rows: tuple[Row, ...] = ()
        self._shared: Chunked[Row] = Chunked(())

    @property
    def rows(self) -> tuple[Row, ...]:
        """All of them; the same object until a row of one list came, went or changed."""
        parts = [rows.rows for rows in self._lists]
        if len(parts) != len(self._parts) or not all(map(is_, parts, self._parts)):
            self._parts = parts
            filled = [part for part in parts if part]
            self._rows = filled[0] if len(filled) == 1 else tuple([row for part in filled for row in part])
        return self._rows

    @property
    def shared(self) -> Chunked[Row]:
        """All of them, for long lists; the same object until a row of one list came, went or changed."""
        parts = [part for rows in self._lists for part in rows.shared.parts]
        if len(parts) != len(self._shared.parts) or not all(map(is_, parts, self._shared.parts)):
            self._shared = Chunked(parts)
        return self._shared


# Entries by age, of which mostly only the number, the oldest and the newest are asked: sorted when somebody looks.


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
