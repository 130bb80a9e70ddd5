"""What a row is drawn for, and the lines that stand where there are no rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Generic, TypeVar

from msgspec import Struct
from team_console.store.model.safe import safe_line
from team_console.widgets.guarded import CANNOT_BE_SHOWN
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, width_of, wrap
from team_console.widgets.text.short_names import ShortNames, padded_name

RowT = TypeVar("RowT")
NO_NAMES: ShortNames = {}
_LONGEST_NAME = 64
_KEPT = 512
_NARROW, _BROAD = 60, 100
"""Cells of a row below which names have fewer of them, and from which on they have more."""


class Drawing(Struct, frozen=True):
    """What a row is drawn for.

    Attributes:
        width: Cells of each line, the gutter excluded.
        now: The present moment, for ages.
        lines: Lines of each row, 1 or 2.
        hidden: Names of columns the user wants to do without.
        names: The forms of the team's names; where a name has no room, its longest form that has stands for it.
    """

    width: int
    now: datetime
    lines: int
    hidden: frozenset[str] = frozenset()
    names: ShortNames = NO_NAMES

    def shows(self, column: str) -> bool:
        """Whether a column is wanted."""
        return column not in self.hidden

    def name_width(self, share: int = 4) -> int:
        """Cells of a name: a part of the row, enough to tell agents apart and no more."""
        most = 12 if self.width < _NARROW else 16 if self.width < _BROAD else 20
        return min(most, max(8, self.width * 3 // (share * 3 - 2)))

    def name(self, agent: str, width: int) -> str:
        """Exactly `width` cells of an agent's name, made safe; agents are told apart as in the strip of the team."""
        return padded_name(safe_line(agent, _LONGEST_NAME), self.names, width)


def age_column(moment: datetime | None, drawing: Drawing, *, tone: str = "muted", sign: str = " ") -> Line:
    """The age at the right end of a row, behind a cell for a sign; nothing where it is not wanted."""
    return ((f" {sign}{age(moment, drawing.now):>3}", tone),) if drawing.shows("age") else ()


Draw = Callable[[RowT, Drawing], tuple[Line, ...]]
"""A pure function from a row to its lines; each is padded or cut to the width."""
Heading = Callable[[tuple[RowT, ...], Drawing], Line]
"""A pure function from the rows of a group to the line above them."""


class Drawn(Generic[RowT]):
    """Rows as they were drawn last, by their place in the list; some screens of them."""

    def __init__(self, draw: Draw[RowT], on_defect: Callable[[Exception], None]) -> None:
        self._draw, self._on_defect = draw, on_defect
        self._known: dict[int, tuple[RowT, Drawing, tuple[Line, ...]]] = {}

    def lines(self, index: int, row: RowT, drawing: Drawing) -> tuple[Line, ...]:
        """The lines of the row at `index`, drawn only when they are not known."""
        known = self._known.get(index)
        if known is not None and known[0] is row and known[1] == drawing:
            return known[2]
        lines = self._lines_of(row, drawing)
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known[index] = (row, drawing, lines)
        return lines

    def _lines_of(self, row: RowT, drawing: Drawing) -> tuple[Line, ...]:
        """The row's lines; one row that cannot be drawn does not take the others with it."""
        try:
            return self._draw(row, drawing)
        except Exception as error:
            self._on_defect(error)
            return (((CANNOT_BE_SHOWN, "bad"),),)

    def forget(self) -> None:
        """Know nothing any more."""
        self._known.clear()


@lru_cache(maxsize=8)
def centred(lines: tuple[Line, ...], width: int) -> tuple[Line, ...]:
    """The lines wrapped and set to the middle of `width` cells."""
    wrapped = [item for line in lines for item in (wrap(line, width - 4) if line else [()])]
    return tuple(((" " * max(0, (width - width_of(line)) // 2), ""), *line) for line in wrapped)


_QUIET = frozenset({"muted", "faint", "open"})


def in_one_ink(line: Line) -> Line:
    """The row under the cursor where rows are dense: only urgent tones stay, it is legible, and a key costs less."""
    return tuple((text, "" if tone in _QUIET else tone) for text, tone in line)
