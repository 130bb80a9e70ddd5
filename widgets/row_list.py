"""A virtual list of rows that keeps its place by key and repaints only rows that changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import inf
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from msgspec import Struct
from team_console.store.model.safe import safe_line
from team_console.widgets.document import CANNOT_BE_SHOWN, NotShown
from team_console.widgets.later import Told
from team_console.widgets.scrolled import room_of
from team_console.widgets.text import Line, ShortNames, age, fit, marked_hits, padded_name, width_of, wrap
from team_console.widgets.tones import Inked
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

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


# Places of rows in a list: which line each row begins at, with a heading of one line before each group.

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


# What a row is drawn for, and the lines that stand where there are no rows.

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

    def __init__(self, draw: Draw[RowT], on_defect: Callable[[Exception], object]) -> None:
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


# What each line of a list shows: rows drawn once and kept, headings, and the lines that stand where rows lack.

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
        on_defect: Callable[[Exception], object],
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


_ROW_LIST_BROAD = 26
"""Cells from which on a second line has room for something."""
_WIDE = 100
"""Columns of the screen from which on each row has one line."""


class RowList(Inked, ScrollView, Generic[RowT], can_focus=True):
    """Rows in, `Moved` and `Opened` out.

    Selection and marks belong to keys, so rows may come, go and change order under them.
    """

    DEFAULT_CSS = """
    RowList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        color: $foreground;
        & > .row-list--cursor { background: $foreground 8%; }
        &:focus > .row-list--cursor { background: $primary-muted; }
        &:ansi > .row-list--cursor { background: ansi_default; text-style: underline; }
    }
    """
    CURSOR = "row-list--cursor"
    COMPONENT_CLASSES = {"row-list--cursor"}
    """`row-list--cursor` is the row under the cursor."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False),
        Binding("k,up", "move(-1)", "Up", show=False),
        Binding("g,home", "end(False)", "First", show=False),
        Binding("G,end", "end(True)", "Last", show=False),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("space", "mark", "Mark", show=False, id="mark"),
        Binding("enter", "open", "Open", show=False, id="open"),
    ]
    HELP = "Move with the arrows or j and k, g and G, ctrl+d and ctrl+u. Space marks a row, enter opens it."

    @dataclass
    class Moved(Told[ScrollView]):
        """The cursor is on another row, or its row changed; `by_user` says whose doing it was."""

        key: str | None
        by_user: bool

    @dataclass
    class Opened(Told[ScrollView]):
        """Enter was pressed or the row clicked twice."""

        key: str

    class Marked(Told[ScrollView]):
        """Marks changed."""

    def __init__(
        self,
        key: Callable[[RowT], str],
        draw: Draw[RowT],
        *,
        lines: int = 1,
        roomy: int = 0,
        matter: Callable[[RowT], object] = lambda row: row,
        markable: bool = True,
        headings: Headings[RowT] | None = None,
        clock: Callable[[], float] = monotonic,
        id: str | None = None,
    ) -> None:
        """Make an empty list.

        Args:
            key: What names a row.
            draw: How a row looks.
            lines: Lines of each row, 1 or 2.
            roomy: Height from which on rows of a narrow screen have two lines; 0 to leave `lines` as it is.
            matter: What of a row a human decides on; a change of it under the cursor is a disturbance.
            markable: Whether space marks rows.
            headings: Lines above groups of rows.
            clock: Seconds that only go forward.
        """
        super().__init__(id=id)
        self._chosen = RowSelection(key, matter)
        self._picture = ListPicture(self._chosen, draw, headings, lambda error: self.post_message(NotShown(error)))
        self._picture.row_lines, self._disturbed_at = lines, float("-inf")
        self._clock, self._markable, self._roomy = clock, markable, roomy
        self._lost: RowT | None = None
        self._hits: tuple[str, ...] = ()
        self._wide: float = _WIDE

    @property
    def _width(self) -> int:
        """Cells a row has, the scrollbar's left out."""
        return room_of(self).width

    @property
    def rows(self) -> tuple[RowT, ...]:
        """The rows in the order of the list."""
        return self._chosen.rows

    @property
    def cursor_key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._chosen.cursor_key

    @property
    def cursor_row(self) -> RowT | None:
        """The row under the cursor."""
        return self._chosen.row

    @property
    def marks(self) -> frozenset[str]:
        """Keys of the marked rows."""
        return self._chosen.marks

    @property
    def position(self) -> tuple[int, int]:
        """The number of the row under the cursor, from 1, and how many there are."""
        return (self._chosen.cursor + 1 if self.rows else 0), len(self.rows)

    def marked_rows(self) -> tuple[RowT, ...]:
        """The marked rows in list order."""
        return self._chosen.marked_rows()

    def undisturbed_for(self) -> float:
        """Seconds since the row under the cursor last changed without the user's doing."""
        return self._clock() - self._disturbed_at

    def disturb(self) -> None:
        """What the user saw as chosen is not under the cursor any more."""
        self._disturbed_at = self._clock()

    def set_rows(
        self,
        rows: tuple[RowT, ...],
        *,
        now: datetime,
        empty: tuple[Line, ...] = (),
        names: ShortNames = NO_NAMES,
        again: bool = True,
    ) -> None:
        """Show `rows`, or the lines `empty` where there are none; without `again`, those shown stay until they age."""
        if rows is self.rows and empty == self._picture.empty and names is self._picture.names:
            if again or self._picture.is_aged(now):
                self.tick(now)
            return
        before = self._faces()
        had, old_row, old_screen_line = self.cursor_key, self.cursor_row, self._screen_line()
        self._picture.empty, self._picture.now, self._picture.names = empty, now, names
        changed = self._chosen.replace(rows)
        self._picture.arrange()
        self._keep_in_place(old_screen_line if had is not None else None)
        self._refresh_changed(before)
        own_left = self._chosen.take_left()
        if had is not None and changed and not own_left:
            self._disturbed_at = self._clock()
            self._lost = old_row
        if changed or self.cursor_row != old_row:
            self._tell(by_user=False)

    def set_look(self, hidden: frozenset[str], *, roomy: bool) -> None:
        """Leave columns out; `roomy` gives rows two lines wherever the list is high enough."""
        self._picture.hidden, self._wide = hidden, inf if roomy else _WIDE
        self._picture.forget()
        self.refresh()

    def set_hits(self, words: tuple[str, ...]) -> None:
        """Mark these words, case folded, wherever they stand in a row."""
        if words != self._hits:
            self._hits = words
            self.refresh()

    def set_lines(self, lines: int) -> None:
        """Give each row `lines` lines."""
        if lines != self._picture.row_lines:
            self._picture.row_lines = lines
            self._picture.arrange()
            self._resize_virtual()
            self._show_cursor()
            self.refresh()

    def tick(self, now: datetime) -> None:
        """Let ages go on: rows on the screen whose lines became other are repainted, no more."""
        before = self._faces()
        self._picture.now = now
        self._picture.forget()
        self._refresh_changed(before)

    def select(self, key: str, *, by_user: bool = True) -> bool:
        """Put the cursor on the row `key`; False when there is none."""
        index = self._chosen.find(key)
        if index is not None:
            self._go(index, by_user=by_user)
        return index is not None

    def begin_at_top(self) -> None:
        """Put the cursor on the first row, unless the user did something with a row already."""
        if not self._chosen.is_touched and self._chosen.cursor:
            self._disturbed_at = self._clock()
            self._go(0, by_user=False)

    def step_on(self, is_treated: Callable[[RowT], bool]) -> None:
        """Go on to the row after those that were just treated; that they leave the list is no disturbance."""
        if self._lost is not None and is_treated(self._lost):
            self._lost, self._disturbed_at = None, float("-inf")
        after = self._chosen.treat(is_treated)
        self.clear_marks()
        self._go(after)

    @property
    def is_leaving(self) -> bool:
        """Whether the row under the cursor was treated and is still here."""
        return self._chosen.is_leaving

    def stay(self) -> None:
        """What was treated stays after all: a row that leaves from now on is a disturbance."""
        self._chosen.stay()

    def mark_all(self) -> None:
        """Mark every row, or take all marks away when all are marked."""
        self._mark(self._chosen.all_marked())

    def mark_range(self) -> None:
        """Mark every row from the one marked last, else the first one, to the one under the cursor."""
        self._mark(self._chosen.range_marked())

    def clear_marks(self) -> None:
        """Take all marks away."""
        self._mark(frozenset())

    def _mark(self, marks: frozenset[str]) -> None:
        if self._markable and marks != self.marks:
            self._chosen.is_touched = True
            before = self._faces()
            self._chosen.marks = marks
            self._refresh_changed(before)
            self.post_message(self.Marked(self))

    def action_move(self, step: int) -> None:
        """Move the cursor by `step` rows."""
        self._go(self._chosen.cursor + step)

    def action_end(self, last: bool) -> None:
        """Go to the first or the last row."""
        self._go(len(self.rows) - 1 if last else 0)

    def action_half(self, direction: int) -> None:
        """Move half a page."""
        self._go(self._chosen.cursor + direction * max(1, self._page() // 2))

    def action_page(self, direction: int) -> None:
        """Move a page."""
        self._go(self._chosen.cursor + direction * max(1, self._page() - 1))

    def action_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go on to the next."""
        if self.cursor_key is not None and self._markable:
            self._mark(self._chosen.toggle(self.cursor_key))
            self._go(self._chosen.cursor + 1)

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.cursor_key is not None:
            self._chosen.is_touched = True
            self.post_message(self.Opened(self, self.cursor_key))

    def on_click(self, event: Click) -> None:
        """A click puts the cursor there, a double click opens."""
        y = event.y - self.gutter.top  # the title above the rows is no row
        index, line = self._picture.places.at(y + self.scroll_offset.y)
        if y >= 0 and line != HEADING and 0 <= index < len(self.rows):
            self._go(index)
            if event.chain == 2:
                self.action_open()

    def on_resize(self, event: Resize) -> None:
        """Keep the cursor in sight at another size."""
        if self._roomy:
            room = room_of(self)
            is_narrow = room.width >= _ROW_LIST_BROAD and self.app.size.width < self._wide
            self.set_lines(2 if room.height >= self._roomy and is_narrow else 1)
        self._resize_virtual()
        self._show_cursor()

    def render_line(self, y: int) -> Strip:
        """One line of the row that is there, the gutter included."""
        width = self._width
        index, line = self._picture.places.at(y + self.scroll_offset.y)
        if index >= len(self.rows):
            return self.strip(self._picture.empty_line(y, room_of(self).height, width), width)
        if line == HEADING:
            return self.strip(fit(self._picture.heading_of(index, width), width), width)
        shown = next(iter(self._picture.lines_of(index, width)[line:]), ())
        states = ("row-list--cursor",) if index == self._chosen.cursor else ()
        if states and self._picture.row_lines == 1:
            shown = in_one_ink(shown)
        shown = marked_hits(shown, self._hits) if self._hits else shown
        text = self.strip(fit(shown, width - GUTTER), width - GUTTER, *states)
        return Strip.join([self._gutter(index, first=line == 0), text])

    def _gutter(self, index: int, *, first: bool) -> Strip:
        on = index == self._chosen.cursor
        states = ("row-list--cursor",) if on else ()
        marked = first and self._chosen.is_marked(index)
        if not on and not marked:
            return self.strip(((" " * GUTTER, ""),), GUTTER)
        bar = ("▌" if on else " ", "" if self.has_focus else "faint")
        return self.strip((bar, ("*" if marked else " ", "mark" if marked else "")), GUTTER, *states)

    def _keep_in_place(self, screen_line: int | None) -> None:
        """Have the row under the cursor on the line of the screen where it stood, unless the list is at its top."""
        at_top = self.scroll_offset.y == 0
        self._resize_virtual()
        if not at_top and screen_line is not None:
            self._scroll_rows(self._picture.places.top(self._chosen.cursor) - screen_line)
        self._show_cursor()

    def _screen_line(self) -> int:
        return self._picture.places.top(self._chosen.cursor) - self.scroll_offset.y

    def _page(self) -> int:
        return max(1, room_of(self).height // self._picture.row_lines)

    def _go(self, index: int, *, by_user: bool = True) -> None:
        old = self._chosen.cursor
        if self._chosen.go(index, by_user=by_user):
            self._refresh_row(old)
            self._refresh_row(self._chosen.cursor)
            self._show_cursor()
            self._tell(by_user=by_user)

    def _tell(self, *, by_user: bool) -> None:
        self.post_message(self.Moved(self, self.cursor_key, by_user))

    def _show_cursor(self) -> None:
        """Scroll so that the cursor's row is in sight; a third of a page at a time, so that few keys repaint much."""
        height, top, row = room_of(self).height, self.scroll_offset.y, self._picture.places.top(self._chosen.cursor)
        last = row + min(self._picture.row_lines, height)
        first = max(self._picture.places.begin(self._chosen.cursor), last - height)  # the heading as far as it has room
        step = max(0, height // 3)
        if height <= 0:
            return
        if first < top:
            near = top - first < height
            self._scroll_rows(min(first, last - height + step) if near else first)
        elif last > top + height:
            near = last - top - height < height
            self._scroll_rows(last - height + (step if near else 0))

    def _scroll_rows(self, y: int) -> None:
        """At once, and before the scrollbar that belongs to new rows is there."""
        self.scroll_to(y=max(0, y), animate=False, force=True)

    def _resize_virtual(self) -> None:
        size = Size(self._width, self._picture.places.total)
        if size != self.virtual_size:
            self.virtual_size = size

    def _refresh_row(self, index: int) -> None:
        y = self._picture.places.top(index) - self.scroll_offset.y
        if -self._picture.row_lines < y < room_of(self).height:
            self.refresh(Region(0, y, self.outer_size.width, self._picture.row_lines))

    def _faces(self) -> list[tuple[object, ...]]:
        return self._picture.faces(self.scroll_offset.y, room_of(self).height, self._width)

    def _refresh_changed(self, before: list[tuple[object, ...]]) -> None:
        changed = changed_lines(before, self._faces())
        if changed is None:
            self.refresh()
        for y in changed or ():
            self.refresh(Region(0, y, self.outer_size.width, 1))
