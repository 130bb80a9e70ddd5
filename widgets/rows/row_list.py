"""A virtual list of rows that keeps its place by key and repaints only rows that changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import inf
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from team_console.widgets.rows.drawing import NO_NAMES, Draw, in_one_ink
from team_console.widgets.rows.picture import GUTTER, Headings, ListPicture, changed_lines
from team_console.widgets.rows.places import HEADING
from team_console.widgets.rows.selection import RowSelection
from team_console.widgets.text.cells import Line, fit, marked_hits
from team_console.widgets.text.scrolled import Scrolled
from team_console.widgets.text.short_names import ShortNames
from team_console.widgets.text.viewport import room_of
from team_console.widgets.told import Told
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.strip import Strip

RowT = TypeVar("RowT")

_BROAD = 26
"""Cells from which on a second line has room for something."""
_WIDE = 100
"""Columns of the screen from which on each row has one line."""


class RowList(Scrolled, Generic[RowT], can_focus=True):
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
    class Moved(Told[Scrolled]):
        """The cursor is on another row, or its row changed; `by_user` says whose doing it was."""

        key: str | None
        by_user: bool

    @dataclass
    class Opened(Told[Scrolled]):
        """Enter was pressed or the row clicked twice."""

        key: str

    class Marked(Told[Scrolled]):
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
        self._picture = ListPicture(self._chosen, draw, headings, lambda error: self.app._handle_exception(error))
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
            is_narrow = room.width >= _BROAD and self.app.size.width < self._wide
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
