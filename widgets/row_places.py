"""Where the rows of a list stand: how many lines each has, and above which a heading stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class RowPlaces:
    """Rows by their lines in the list.

    Attributes:
        lines: Lines of each row.
        expands: Whether a row can be expanded.
        expanded: The row that has one line more; None for none.
    """

    def __init__(self, lines: int) -> None:
        self.lines = lines
        self.expands = False
        self.expanded: int | None = None
        self._rows_with_heading: list[int] = []

    def arrange(self, groups: Iterable[str], *, skip_first: bool) -> None:
        """Note the rows above which a heading stands: where the group is another than that of the row before.

        The first row has none with `skip_first`.
        """
        self._rows_with_heading = []
        last = ""
        for index, group in enumerate(groups):
            if group and group != last and (index or not skip_first):
                self._rows_with_heading.append(index)
            last = group

    def expand(self, index: int | None) -> None:
        """Give a row, and no other one, one line more where rows are expanded."""
        self.expanded = index if self.expands else None

    def changed(self, *moved: int) -> list[tuple[int, int]]:
        """Return first line and number of lines of each stretch that is another since the cursor moved between two
        rows: those two, and where one is expanded all between them.
        """
        is_expanded, found = self.expanded is not None, []
        for first, last in [(min(moved), max(moved))] if is_expanded else [(index, index) for index in moved]:
            top = self.top(first)
            found.append((top, self.top(last) + self.lines + is_expanded - top))
        return found

    def top(self, index: int) -> int:
        """Return the first line of a row, its heading excluded."""
        return self._even_top(index) + (self.expanded is not None and index > self.expanded)

    def _even_top(self, index: int) -> int:
        """Return the first line of a row as if all rows had as many lines."""
        return index * self.lines + bisect_right(self._rows_with_heading, index)

    def at(self, line: int) -> tuple[int, int]:
        """Return the row at a line of the list, and which of its lines; -1 for the heading above it."""
        if self.expanded is not None and line >= (further := self._even_top(self.expanded) + self.lines):
            if line == further:
                return self.expanded, self.lines
            line -= 1
        before = bisect_right(
            range(len(self._rows_with_heading)),
            line,
            key=lambda order: self._even_top(self._rows_with_heading[order]) - 1,
        )
        if before and self._even_top(self._rows_with_heading[before - 1]) - 1 == line:
            return self._rows_with_heading[before - 1], -1
        return divmod(line - before, self.lines)

    def height(self, number: int) -> int:
        """Return the lines of so many rows and their headings."""
        return number * self.lines + len(self._rows_with_heading) + (self.expanded is not None)

    def lines_of(self, index: int) -> int:
        """Return the lines of a row, its heading excluded."""
        return self.lines + (index == self.expanded)

    def has_heading(self, index: int) -> bool:
        """Return whether a heading stands above a row."""
        return index in self._rows_with_heading[max(0, bisect_right(self._rows_with_heading, index) - 1) :][:1]

    def below(self, index: int) -> slice:
        """Return the rows below the heading above a row."""
        order = bisect_right(self._rows_with_heading, index)
        return slice(index, self._rows_with_heading[order] if order < len(self._rows_with_heading) else None)
