"""Where the rows of a list stand: how many lines each has, and above which a heading stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class RowPlaces:
    """Rows by their lines in the list.

    Attributes:
        lines: Lines of each row.
        opens: Whether a row can be opened.
        opened: The row that has one line more; None for none.
    """

    def __init__(self, lines: int) -> None:
        self.lines = lines
        self.opens = False
        self.opened: int | None = None
        self._starts: list[int] = []

    def arrange(self, groups: Iterable[str], *, skip_first: bool) -> None:
        """Note the rows above which a heading stands: where the group is another than that of the row before.

        The first row has none with `skip_first`.
        """
        self._starts = []
        last = ""
        for index, group in enumerate(groups):
            if group and group != last and (index or not skip_first):
                self._starts.append(index)
            last = group

    def open(self, index: int | None) -> None:
        """Give a row, and no other one, one line more where rows are opened."""
        self.opened = index if self.opens else None

    def changed(self, *moved: int) -> list[tuple[int, int]]:
        """Return first line and number of lines of each stretch that is another since the cursor moved between two
        rows: those two, and where one is opened all between them.
        """
        is_opened, found = self.opened is not None, []
        for first, last in [(min(moved), max(moved))] if is_opened else [(index, index) for index in moved]:
            top = self.top(first)
            found.append((top, self.top(last) + self.lines + is_opened - top))
        return found

    def top(self, index: int) -> int:
        """Return the first line of a row, its heading excluded."""
        return self._even_top(index) + (self.opened is not None and index > self.opened)

    def _even_top(self, index: int) -> int:
        """Return the first line of a row as if all rows had as many lines."""
        return index * self.lines + bisect_right(self._starts, index)

    def at(self, line: int) -> tuple[int, int]:
        """Return the row at a line of the list, and which of its lines; -1 for the heading above it."""
        if self.opened is not None and line >= (further := self._even_top(self.opened) + self.lines):
            if line == further:
                return self.opened, self.lines
            line -= 1
        before = bisect_right(range(len(self._starts)), line, key=lambda order: self._even_top(self._starts[order]) - 1)
        if before and self._even_top(self._starts[before - 1]) - 1 == line:
            return self._starts[before - 1], -1
        return divmod(line - before, self.lines)

    def height(self, number: int) -> int:
        """Return the lines of so many rows and their headings."""
        return number * self.lines + len(self._starts) + (self.opened is not None)

    def lines_of(self, index: int) -> int:
        """Return the lines of a row, its heading excluded."""
        return self.lines + (index == self.opened)

    def has_heading(self, index: int) -> bool:
        """Return whether a heading stands above a row."""
        return index in self._starts[max(0, bisect_right(self._starts, index) - 1) :][:1]

    def below(self, index: int) -> slice:
        """Return the rows below the heading above a row."""
        order = bisect_right(self._starts, index)
        return slice(index, self._starts[order] if order < len(self._starts) else None)
