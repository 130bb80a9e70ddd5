"""How the rows of a list are drawn: the layout of a row, and what paints rows, headings and empty lists.

Last, on which lines of the list rows and headings stand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct
from team_console.store.model.safe import safe_line
from team_console.widgets.document import CANNOT_BE_SHOWN
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line, Part, age, crop_name, fit, marked_hits, pad, spread, width_of
from team_console.widgets.wrapping import wrap
from textual.geometry import Size

RowT = TypeVar("RowT")

GUTTER = 2
"""Cells before each row: the cursor's bar, and the mark or the dot of what is new."""
_WIDEST_NAME = 24
"""Cells of the column of names at most."""
WORDY = 84
"""Cells of a row from which on there is room for further words: the word for its kind has a column."""
_KIND_WIDTH = 10
"""Cells of that column."""
_LEAST_NAME = 16
"""Cells that a name keeps at least where it is cut for what stands behind it."""
_APART: Part = (" · ", "muted")
"""What stands between two facts."""


class Drawing(Struct, frozen=True):
    """What a row is drawn for.

    Attributes:
        width: Cells of each line, the gutter excluded.
        now: The present moment, for ages.
        lines: Lines of each row, 1 or 2.
        is_expanded: Whether only the second line is drawn, below a first one that is the row's line when it has one.
        longest_name: Cells of the longest name in the list.
    """

    width: int
    now: datetime
    lines: int
    is_expanded: bool = False
    longest_name: int = _WIDEST_NAME

    @property
    def name_width(self) -> int:
        """Cells of the column of names in rows of one line."""
        return min(self.longest_name, _WIDEST_NAME, max(10, self.width // 3))

    def name(self, agent: str, *, room: int = 0) -> str:
        """Return an agent's name, made safe, in the cells of a name; beyond them it has `room`, or is cut before its
        last word.
        """
        name = safe_line(agent, 64)
        width = max(self.name_width, min(width_of(((name, ""),)), room))
        return pad(crop_name(name, width), width)


def age_column(moment: datetime | None, drawing: Drawing, *, tone: str = "muted", sign: str = " ") -> Line:
    """Return the age of a moment for the right end of a row, in four cells of which the first is for a sign."""
    return ((f" {sign}{age(moment, drawing.now):>3}", tone),)


Draw = Callable[[RowT, Drawing], tuple[Line, ...]]
"""A pure function from a row to its lines; each is padded or cut to the width."""


class RowPainter(Generic[RowT]):
    """Draws rows, headings, and the words where there are no rows.

    Attributes:
        now: The present moment, for ages.
        hits: Words to mark wherever they stand in a row, case folded.
        empty: Lines that stand where there are no rows.
        longest_name: Cells of the longest name in the rows.
    """

    def __init__(
        self,
        draw: Draw[RowT],
        *,
        heading: Callable[[tuple[RowT, ...], Drawing], Line],
        is_new: Callable[[RowT], bool],
        failed: Callable[[Exception], object],
    ) -> None:
        """Paint rows by `draw`, which tells `failed` of a row it cannot draw."""
        self._draw, self._heading, self._is_new, self._failed = draw, heading, is_new, failed
        self.now = datetime.now(UTC)
        self.hits: tuple[str, ...] = ()
        self.empty: tuple[Line, ...] = ()
        self.longest_name = _WIDEST_NAME

    def measure_names(self, names: Iterable[str]) -> None:
        """Make the column of names as wide as the longest of them."""
        self.longest_name = max((width_of(((safe_line(name, 64), ""),)) for name in set(names)), default=_WIDEST_NAME)

    def lines_of(self, row: RowT, width: int, lines: int, *, is_expanded: bool = False) -> tuple[Line, ...]:
        """Return the lines of a row; one that cannot be drawn does not take the others with it.

        Args:
            is_expanded: Whether the second line stands below the line of a row that has one.
        """
        drawing = Drawing(max(1, width - GUTTER), self.now, lines, is_expanded, self.longest_name)
        try:
            return self._draw(row, drawing)
        except Exception as error:
            self._failed(error)
            return (((CANNOT_BE_SHOWN, "bad"),),)

    def line(self, row: RowT, number: int, width: int, lines: int) -> Line:
        """Return one line of a row with its hits, in the cells beside the gutter.

        Args:
            number: Which of its lines, from 0; one beyond its `lines` is the second line of a row that is expanded.
        """
        is_expanded = number >= lines
        made = self.lines_of(row, width, 2, is_expanded=True) if is_expanded else self.lines_of(row, width, lines)
        shown = next(iter(made[number:]), ())
        return fit(marked_hits(shown, self.hits) if self.hits else shown, width - GUTTER)

    def sign(self, row: RowT, *, is_marked: bool) -> Part:
        """Return the sign in the gutter: the mark, or the dot of what is new."""
        if is_marked:
            return ("*", "mark")
        return ("•", "open") if self._is_new(row) else (" ", "")

    def heading(self, below: tuple[RowT, ...], width: int) -> Line:
        """Return the heading above the rows `below`."""
        return fit(self._heading(below, Drawing(max(1, width), self.now, 1)), width)

    def empty_line(self, y: int, room: Size) -> Line:
        """Return line `y` of what stands where there are no rows, in the middle of the upper part."""
        lines = [part for line in self.empty for part in (wrap(line, room.width - 4) if line else [()])]
        number = y - max(0, (room.height - len(lines)) // 3)
        line = lines[number] if 0 <= number < len(lines) else ()
        return fit(((" " * max(0, (room.width - width_of(line)) // 2), ""), *line), room.width)


def row_lines(
    drawing: Drawing, sign: Sign, title: Line, end: Line, *, word: str = "", who: str = "", facts: Sequence[Part] = ()
) -> tuple[Line, ...]:
    """Return the lines of a row: sign, kind, name and title on one; on two the title has the first to itself.

    Args:
        end: What stands at the right end of the first line.
        word: The kind in a word; empty where all rows are of one kind. Without a column it begins the second line.
        who: The agent, as the store has the name.
        facts: What stands behind the name on the second line.
    """
    head: Line = (sign.mark,)
    has_kind_column = bool(word) and drawing.width >= WORDY
    if has_kind_column:
        head = (*head, (pad(word, _KIND_WIDTH) + " ", sign.tone))
    # Where all else leaves more room than the column of names has, a longer name is whole.
    name = drawing.name(who, room=drawing.width - width_of((*head, *title, *end)) - 2) if who else ""
    if drawing.lines == 1:
        name_column: Line = ((name + "  ", ""),) if who else ()
        return (spread((*head, *name_column, *title), end, drawing.width),)
    kind: Part | None = (word, sign.tone) if word and not has_kind_column else None
    line_above_has_name = drawing.is_expanded and name.rstrip() == safe_line(who, 64)
    if not who or (line_above_has_name and (kind or facts)):
        parts = [kind, *facts]
    else:
        parts = [kind, _name_beside(who, kind, facts, drawing.width - width_of(head)), *facts]
    below: list[Part] = [(" " * width_of(head), "")]
    for part in filter(None, parts):
        below += [_APART, part] if len(below) > 1 else [part]
    return spread((*head, *title), end, drawing.width), tuple(below)


def _name_beside(who: str, kind: Part | None, facts: Sequence[Part], room: int) -> Part:
    """Return a name that leaves room for the facts behind it where it can, and for the kind before it in any case."""
    apart = width_of((_APART,))
    room -= width_of((kind,)) + apart if kind else 0
    beside_facts = room - sum(width_of((fact,)) + apart for fact in facts)
    return crop_name(safe_line(who, 64), beside_facts if beside_facts >= _LEAST_NAME else room), ""


# Where rows stand: how many lines each has, and above which a heading stands.


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
