"""The cursor and the marks of a list: they belong to keys, so rows may come, go and change order under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

RowT = TypeVar("RowT")


class RowSelection(Generic[RowT]):
    """Rows, the one under the cursor and those that are marked.

    Attributes:
        rows: The rows in the order of the list.
        cursor: The place of the row under the cursor, 0 without rows.
        cursor_key: Its key, None without rows.
        marks: Keys of the marked rows.
        is_touched: Whether the user did something with a row already.
    """

    def __init__(self, key: Callable[[RowT], str], matter: Callable[[RowT], object]) -> None:
        """Nothing to choose from; `key` names a row, `matter` is what of it a human decides on."""
        self.key_of, self._matter = key, matter
        self.rows: tuple[RowT, ...] = ()
        self.cursor = 0
        self.cursor_key: str | None = None
        self.marks: frozenset[str] = frozenset()
        self.is_touched = False
        self._index: dict[str, int] | None = None
        self._leaving: frozenset[str] = frozenset()
        self._anchor: str | None = None

    @property
    def row(self) -> RowT | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def find(self, key: str) -> int | None:
        """The place of the row `key`."""
        if self._index is None:
            self._index = {self.key_of(row): index for index, row in enumerate(self.rows)}
        return self._index.get(key)

    def is_marked(self, index: int) -> bool:
        """Whether the row at `index` is marked."""
        return bool(self.marks) and self.key_of(self.rows[index]) in self.marks

    def marked_rows(self) -> tuple[RowT, ...]:
        """The marked rows in list order."""
        return tuple(row for row in self.rows if self.key_of(row) in self.marks) if self.marks else ()

    def replace(self, rows: tuple[RowT, ...]) -> bool:
        """Take other rows; whether what is under the cursor is another row now, or matters otherwise.

        The cursor follows its key; when that is gone it stays at the same place of the list.
        """
        had, old = self.cursor_key, self.row
        self.rows, self._index = rows, None
        index = self.find(had) if had is not None else None
        self.cursor = min(self.cursor, max(0, len(rows) - 1)) if index is None else index
        self.cursor_key = self.key_of(rows[self.cursor]) if rows else None
        if self.marks:
            self.marks = frozenset(key for key in self.marks if self.find(key) is not None)
        return self.cursor_key != had or self._is_another(old)

    def _is_another(self, old: RowT | None) -> bool:
        row = self.row
        if row is None or old is None:
            return row is not old
        return row is not old and self._matter(row) != self._matter(old)

    def go(self, index: int, *, by_user: bool) -> bool:
        """Put the cursor on the row at `index`, or the nearest there is; False when it is there already."""
        index = max(0, min(index, len(self.rows) - 1))
        if index == self.cursor or not self.rows:
            return False
        self.is_touched = self.is_touched or by_user
        self.cursor, self.cursor_key = index, self.key_of(self.rows[index])
        return True

    def all_marked(self) -> frozenset[str]:
        """Marks on every row, none when all have them already."""
        keys = frozenset(self.key_of(row) for row in self.rows)
        return frozenset() if keys <= self.marks else keys

    def range_marked(self) -> frozenset[str]:
        """Marks also on the rows from the one marked last, else the first one, to the one under the cursor."""
        start = self.find(self._anchor) if self._anchor is not None else 0
        first, last = sorted((start or 0, self.cursor))
        return self.marks | {self.key_of(row) for row in self.rows[first : last + 1]}

    def toggle(self, key: str) -> frozenset[str]:
        """Marks with `key` among them, or without it when it was; a range begins there."""
        self._anchor = key
        return self.marks ^ {key}

    def treat(self, is_treated: Callable[[RowT], bool]) -> int:
        """Rows that were treated may leave; the cursor's next place is what this returns.

        It stays where it is when the treated row left already and the cursor is on the next one.
        """
        self._leaving |= {self.key_of(row) for row in self.rows if is_treated(row)}
        if not self.is_leaving:
            return self.cursor
        after = (*range(self.cursor, len(self.rows)), *reversed(range(self.cursor)))
        return next((index for index in after if self.key_of(self.rows[index]) not in self._leaving), self.cursor)

    @property
    def is_leaving(self) -> bool:
        """Whether the row under the cursor was treated and is still here."""
        return self.cursor_key in self._leaving

    def stay(self) -> None:
        """What was treated stays after all."""
        self._leaving = frozenset()

    def take_left(self) -> bool:
        """Whether a row is gone that the user treated; told once."""
        left = {key for key in self._leaving if self.find(key) is None}
        self._leaving -= left
        return bool(left)
