"""A list that stays sorted while single rows come and go, and hands out the same tuple until one did."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class Ordered(Generic[Row]):
    """Rows in the order of their keys. Keys are unique tuples whose parts compare."""

    __slots__ = ("_frozen", "_keys", "_rows")

    def __init__(self) -> None:
        self._keys: list[Any] = []
        self._rows: list[Row] = []
        self._frozen: tuple[Row, ...] | None = ()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows in order; the same object until a row came, went or changed."""
        if self._frozen is None:
            self._frozen = tuple(self._rows)
        return self._frozen

    @property
    def last_key(self) -> Any:
        """The largest key, None when there is no row."""
        return self._keys[-1] if self._keys else None

    def put(self, key: Any, row: Row) -> None:
        """Insert a row, or replace the one with the same key."""
        keys = self._keys
        place = len(keys) if not keys or keys[-1] < key else bisect_left(keys, key)
        if place < len(keys) and keys[place] == key:
            self._rows[place] = row
        else:
            keys.insert(place, key)
            self._rows.insert(place, row)
        self._frozen = None

    def drop(self, key: Any) -> None:
        """Remove the row with this key, if it is there."""
        place = bisect_left(self._keys, key)
        if place < len(self._keys) and self._keys[place] == key:
            del self._keys[place], self._rows[place]
            self._frozen = None

    def place_of(self, key: Any) -> int:
        """How many keys are smaller than `key`."""
        return bisect_left(self._keys, key)

    def row_at(self, place: int) -> Row:
        """The row at a place."""
        return self._rows[place]

    def replace_at(self, place: int, row: Row) -> None:
        """Change the row at a place, keeping its key."""
        self._rows[place] = row
        self._frozen = None
