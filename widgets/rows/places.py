"""Places of rows in a list: which line each row begins at, with a heading of one line before each group."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

RowT = TypeVar("RowT")

HEADING = -1
"""The line of a row that is the heading above it."""


class Places(Struct, frozen=True):
    """Lines of a list from its top.

    Attributes:
        number: Rows there are.
        height: Lines of each row, 1 or 2.
        starts: Ascending indexes of the rows a heading stands above.
        headings: The line of each of these headings.
    """

    number: int
    height: int
    starts: tuple[int, ...] = ()
    headings: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """Lines of the whole list."""
        return self.number * self.height + len(self.starts)

    def top(self, index: int) -> int:
        """The first line of a row, its heading excluded."""
        return index * self.height + (bisect_right(self.starts, index) if self.starts else 0)

    def begin(self, index: int) -> int:
        """The first line of a row, its heading included."""
        before = bisect_right(self.starts, index)
        return self.top(index) - (1 if before and self.starts[before - 1] == index else 0)

    def at(self, line: int) -> tuple[int, int]:
        """The row at a line of the list, and which of its lines; `HEADING` for the heading above it."""
        before = bisect_right(self.headings, line) if self.headings else 0
        if before and self.headings[before - 1] == line:
            return self.starts[before - 1], HEADING
        return divmod(line - before, self.height)


def places_of(rows: Sequence[RowT], height: int, group: Callable[[RowT], object] | None) -> Places:
    """The places of `rows`; a heading stands wherever `group` says another thing than of the row before."""
    if group is None:
        return Places(len(rows), height)
    starts, last = [], object()
    for index, row in enumerate(rows):
        name = group(row)
        if name != last:
            starts.append(index)
            last = name
    headings = tuple(start * height + order for order, start in enumerate(starts))
    return Places(len(rows), height, tuple(starts), headings)
