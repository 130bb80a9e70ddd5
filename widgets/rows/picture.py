"""What each line of a list shows: rows drawn once and kept, headings, and the lines that stand where rows lack."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from msgspec import Struct
from team_console.widgets.rows.drawing import NO_NAMES, Draw, Drawing, Drawn, Heading, centred
from team_console.widgets.rows.places import HEADING, Places, places_of
from team_console.widgets.rows.selection import RowSelection
from team_console.widgets.text.cells import Line, fit

RowT = TypeVar("RowT")

_AGES = timedelta(seconds=5)
"""For so long the ages of rows are left as they are while other things change."""
GUTTER = 2
"""Cells before each row: the cursor's bar and the mark."""


class Headings(Struct, Generic[RowT], frozen=True):
    """Lines above groups of rows.

    Attributes:
        group: What rows below one heading have in common.
        line: How the heading looks, from the rows below it.
    """

    group: Callable[[RowT], object]
    line: Heading[RowT]


class ListPicture(Generic[RowT]):
    """The lines of a whole list, none of them drawn before it is looked at.

    Attributes:
        places: Which line each row begins at.
        row_lines: Lines of each row, 1 or 2.
        empty: The lines that stand where there are no rows.
        now: The present moment, for ages.
        hidden: Names of columns the user does without.
        names: The forms of the team's names.
    """

    def __init__(
        self,
        rows: RowSelection[RowT],
        draw: Draw[RowT],
        headings: Headings[RowT] | None,
        on_defect: Callable[[Exception], None],
    ) -> None:
        self._rows, self._headings = rows, headings
        self._drawn = Drawn(draw, on_defect)
        self.row_lines = 1
        self.places = Places(0, 1)
        self.empty: tuple[Line, ...] = ()
        self.now = datetime.now(UTC)
        self.hidden: frozenset[str] = frozenset()
        self.names = NO_NAMES

    def is_aged(self, now: datetime) -> bool:
        """Whether ages may read otherwise at `now`."""
        return now - self.now >= _AGES

    def arrange(self) -> None:
        """Give each row its place."""
        self.places = places_of(self._rows.rows, self.row_lines, self._headings.group if self._headings else None)
        self.forget()

    def forget(self) -> None:
        """Draw every row anew when it is looked at again."""
        self._drawn.forget()

    def lines_of(self, index: int, width: int) -> tuple[Line, ...]:
        """The lines of the row at `index` of a list that is `width` cells wide."""
        drawing = Drawing(max(1, width - GUTTER), self.now, self.row_lines, self.hidden, self.names)
        return self._drawn.lines(index, self._rows.rows[index], drawing)

    def heading_of(self, index: int, width: int) -> Line:
        """The heading above the row at `index`."""
        starts, rows = self.places.starts, self._rows.rows
        end = starts[order] if (order := starts.index(index) + 1) < len(starts) else len(rows)
        drawing = Drawing(max(1, width), self.now, 1)
        return self._headings.line(rows[index:end], drawing) if self._headings is not None else ()

    def empty_line(self, y: int, height: int, width: int) -> Line:
        """Line `y` of what stands where there are no rows, in the upper part of `height` lines."""
        lines = () if self._rows.rows else centred(self.empty, width)
        number = y - max(0, (height - len(lines)) // 3)
        return fit(lines[number] if 0 <= number < len(lines) else (), width)

    def faces(self, top: int, height: int, width: int) -> list[tuple[object, ...]]:
        """What each of `height` lines from `top` on shows now, to compare with what it shows later."""
        if not self._rows.rows:
            return [("empty", self.empty)] * height
        return [self._face(line, width) for line in range(top, top + height)]

    def _face(self, number: int, width: int) -> tuple[object, ...]:
        index, line = self.places.at(number)
        if index >= len(self._rows.rows):
            return ()
        if line == HEADING:
            return (self.heading_of(index, width),)
        drawn = self.lines_of(index, width)[line : line + 1]
        return drawn, index == self._rows.cursor, self._rows.is_marked(index)


def changed_lines(before: list[tuple[object, ...]], after: list[tuple[object, ...]]) -> list[int] | None:
    """The lines that show another thing than before, None when all must be drawn anew."""
    if before == after:
        return []
    if len(before) != len(after) or _is_empty(before) or _is_empty(after):
        return None
    return [y for y, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


def _is_empty(faces: list[tuple[object, ...]]) -> bool:
    return bool(faces) and faces[0][:1] == ("empty",)
