"""Where the rows of a list stand: how many lines each has, and above which a heading stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class RowLine(NamedTuple):
    """A line of the list: the row that it belongs to, and which of its lines it is; -1 for the heading above it."""

    row: int
    line: int


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
        """Return what must be drawn anew since the cursor moved between two rows: each stretch as its first line and
        the number of its lines.

        It is those two rows, and where one of them is expanded all between them as well.
        """
        is_expanded = self.expanded is not None
        stretches = [(min(moved), max(moved))] if is_expanded else [(index, index) for index in moved]
        tops = [(self.top(first), self.top(last)) for first, last in stretches]
        return [(top, last_top + self.lines + is_expanded - top) for top, last_top in tops]

    def top(self, index: int) -> int:
        """Return the first line of a row, its heading excluded."""
        return self._even_top(index) + (self.expanded is not None and index > self.expanded)

    def _even_top(self, index: int) -> int:
        """Return the first line of a row as if all rows had as many lines."""
        return index * self.lines + bisect_right(self._rows_with_heading, index)

    def at(self, line: int) -> RowLine:
        """Return what stands at a line of the list, counted from 0."""
        if self.expanded is not None:
            further_line = self._even_top(self.expanded) + self.lines
            if line == further_line:
                return RowLine(self.expanded, self.lines)
            if line > further_line:
                line -= 1  # from here on as if no row were expanded
        headings_so_far = bisect_right(self._rows_with_heading, line, key=self._heading_line)
        if headings_so_far:
            row = self._rows_with_heading[headings_so_far - 1]
            if self._heading_line(row) == line:
                return RowLine(row, -1)
        return RowLine(*divmod(line - headings_so_far, self.lines))

    def _heading_line(self, index: int) -> int:
        """Return the line of the heading above a row, as if all rows had as many lines."""
        return self._even_top(index) - 1

    def height(self, number: int) -> int:
        """Return the lines of so many rows and their headings."""
        return number * self.lines + len(self._rows_with_heading) + (self.expanded is not None)

    def lines_of(self, index: int) -> int:
        """Return the lines of a row, its heading excluded."""
        return self.lines + (index == self.expanded)

    def has_heading(self, index: int) -> bool:
        """Return whether a heading stands above a row."""
        so_far = bisect_right(self._rows_with_heading, index)
        return so_far > 0 and self._rows_with_heading[so_far - 1] == index

    def below(self, index: int) -> slice:
        """Return the rows below the heading above a row."""
        so_far = bisect_right(self._rows_with_heading, index)
        next_heading = self._rows_with_heading[so_far] if so_far < len(self._rows_with_heading) else None
        return slice(index, next_heading)
