"""A list of rows that keeps its place by key, and draws no more of them than stand on the screen.

How a row is drawn, and on which lines it stands, is in `row_drawing`; here are cursor, marks, keys and scrolling, and
what disturbed whoever was about to act on the row under the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from team_console.widgets.held_frames import Frames, HeldRows, WhenHeld, frames_of, visible_region
from team_console.widgets.panel import NotShown, TitledPanel, WidgetMessage, press_shown_key, room_of
from team_console.widgets.row_drawing import GUTTER, Draw, Drawing, RowPainter, RowPlaces
from team_console.widgets.text import Line, text_of
from team_console.widgets.tones import ThemedLines
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

RowT = TypeVar("RowT")

_LEAST_WIDTH = 26
"""Cells from which on a second line has room for something."""
_EXPANDS_FROM = 8
"""Height of a list from which on the row under the cursor has a second line where the others have one."""


class RowList(TitledPanel, ThemedLines, ScrollView, Generic[RowT], can_focus=True):
    """Takes rows by `set_rows`, and tells by messages where the cursor went, what was opened and what is marked.

    Cursor and marks belong to keys, so rows may come, go and change order under them. Rows of one group stand together
    below a heading, which is a line of its own.

    Attributes:
        rows: The rows in the order of the list.
        cursor_key: The key of the row under the cursor, None without rows.
        marks: Keys of the marked rows.
        held: Which rows the terminal held.
        disturbances: When the row under the cursor changed without the user's doing.
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
        Binding("ctrl+d", "page(1, True)", "Half a page down", show=False),
        Binding("ctrl+u", "page(-1, True)", "Half a page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("space", "mark", "Mark", show=False, id="mark"),
        Binding("enter", "open", "Open", show=False, id="open"),
    ]
    HELP = "Move with the arrows or j and k, g and G, ctrl+d and ctrl+u. Space marks a row, enter opens it."

    @dataclass
    class Moved(WidgetMessage[ScrollView]):
        """The cursor is on another row, or its row changed; `by_user` says whose doing it was."""

        key: str | None
        by_user: bool

    @dataclass
    class Opened(WidgetMessage[ScrollView]):
        """Enter was pressed or the row clicked twice."""

        key: str

    class Marked(WidgetMessage[ScrollView]):
        """Marks changed."""

    class GroupScrolled(WidgetMessage[ScrollView]):
        """Rows of another group are at the top of what is in sight."""

    def __init__(
        self,
        key: Callable[[RowT], str],
        draw: Draw[RowT],
        *,
        lines: int = 1,
        two_lines_from: int = 0,
        basis: Callable[[RowT], object] = lambda row: row,
        markable: bool = True,
        group: Callable[[RowT], str] = lambda row: "",
        has_group_in_title: bool = False,
        heading: Callable[[tuple[RowT, ...], Drawing], Line] = lambda below, drawing: (),
        is_new: Callable[[RowT], bool] = lambda row: False,
        who: Callable[[RowT], str] | None = None,
        clock: Callable[[], float] = monotonic,
        id: str | None = None,
    ) -> None:
        """Make an empty list.

        Args:
            key: What names a row.
            draw: How a row looks.
            lines: Lines of each row, 1 or 2.
            two_lines_from: Height from which on rows have two lines; below it only the one under the cursor has. 0 to
                leave `lines` as it is.
            basis: The part of a row that a human decides on; a change of it under the cursor is a disturbance.
            markable: Whether space marks rows.
            group: What the rows below one heading have in common; empty for rows without a heading.
            has_group_in_title: Whether the title names the group at the top, so that the first needs no heading.
            heading: How the heading looks, from the rows below it.
            is_new: Whether the human has not seen a row yet.
            who: The agent that a row names, for the width of that column; None where the rows have none.
            clock: Seconds that only go forward.
        """
        super().__init__(id=id)
        self.key_of, self._group, self._markable = key, group, markable
        self._painter = RowPainter(
            draw, heading=heading, is_new=is_new, failed=lambda error: self.post_message(NotShown(error))
        )
        self._has_group_in_title, self._group_told = has_group_in_title, ""
        self._places, self._two_lines_from, self._who = RowPlaces(lines), two_lines_from, who
        self._wants_two_lines = True
        self.disturbances, self.held = Disturbances(basis, clock), HeldRows(key, basis)
        self.rows: tuple[RowT, ...] = ()
        self.cursor_key: str | None = None
        self.marks: frozenset[str] = frozenset()
        self._cursor = 0  # the index of the row under it
        self._is_touched = False  # whether the user moved the cursor, or marked or opened a row
        self._index_by_key: dict[str, int] | None = None  # made when it is asked for
        self._marked_last: str | None = None

    def on_mount(self) -> None:
        """Note which rows the terminal holds."""
        if (frames := frames_of(self)) is not None:
            frames.watch(self)

    def new_in_frame(self, frames: Frames) -> Iterator[WhenHeld]:
        """Yield what notes each row that stands on the terminal now, and did not before as it is."""
        room, seen, width = self.content_region, visible_region(self), room_of(self).width
        for y in range(room_of(self).height):
            index, line = self._places.at(y + self.scroll_offset.y)
            if line != 0 or not 0 <= index < len(self.rows) or room.y + y not in seen.line_range:
                continue
            row = self.rows[index]
            if self.held.has(row):
                continue
            text = text_of(next(iter(self._painter.lines_of(row, width, self._places.lines)), ()))
            if frames.shows(text, Region(room.x + GUTTER, room.y + y, width - GUTTER, 1)):
                yield partial(self.held.note, row)

    @property
    def cursor_row(self) -> RowT | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self._cursor < len(self.rows) else None

    @property
    def position(self) -> tuple[int, int]:
        """The number of the row under the cursor, from 1, and how many there are."""
        return (self._cursor + 1 if self.rows else 0), len(self.rows)

    def marked_rows(self) -> tuple[RowT, ...]:
        """Return the marked rows in list order."""
        return tuple(row for row in self.rows if self.key_of(row) in self.marks) if self.marks else ()

    def set_rows(self, rows: tuple[RowT, ...], *, now: datetime, empty: tuple[Line, ...] = ()) -> None:
        """Show `rows`, or the lines `empty` where there are none.

        The cursor follows its key; when that is gone it stays at the same place of the list.
        """
        # What it was before, to be compared with what it is then.
        key, row, keys_in_sight = self.cursor_key, self.cursor_row, self._keys_in_sight()
        is_at_top, line_on_screen = self.scroll_offset.y == 0, self._places.top(self._cursor) - self.scroll_offset.y
        if rows is not self.rows:
            self._replace_rows(rows)
        self._places.expand(self._cursor if self.rows else None)
        self._painter.empty, self._painter.now = () if rows else empty, now
        self._resize_virtual()
        self._tell_group()
        if not is_at_top and key is not None:
            self._scroll_rows(self._places.top(self._cursor) - line_on_screen)
        self._show_cursor()
        self.refresh()
        if keys_in_sight and keys_in_sight != self._keys_in_sight():
            self.disturbances.note_move()
        is_another = self.disturbances.note_change(
            row, self.cursor_row, is_same_key=self.cursor_key == key, is_here=lambda each: self._find(each) is not None
        )
        if is_another or self.cursor_row != row:
            self.post_message(self.Moved(self, self.cursor_key, by_user=False))

    def _replace_rows(self, rows: tuple[RowT, ...]) -> None:
        """Take other rows; cursor and marks stay with their keys."""
        self.rows, self._index_by_key = rows, None
        index = self._find(self.cursor_key)
        self._cursor = min(self._cursor, max(0, len(rows) - 1)) if index is None else index
        self.cursor_key = self.key_of(rows[self._cursor]) if rows else None
        self.marks = frozenset(key for key in self.marks if self._find(key) is not None)
        self._places.arrange(map(self._group, rows), skip_first=self._has_group_in_title)
        if self._who is not None:
            self._painter.measure_names(map(self._who, rows))

    def _keys_in_sight(self) -> list[str]:
        """Return the key of the row at each line that is in sight."""
        lines = range(self.scroll_offset.y, self.scroll_offset.y + room_of(self).height)
        indexes = (self._places.at(line).row for line in lines)
        return [self.key_of(self.rows[index]) for index in indexes if index < len(self.rows)]

    def set_density(self, *, two_lines: bool) -> None:
        """Give rows two lines where there is room, or one however high the list is."""
        self._wants_two_lines = two_lines
        self._fit_lines()
        self.refresh()

    def set_two_lines_from(self, height: int) -> None:
        """Give rows two lines from this height of the list on."""
        if height != self._two_lines_from:
            self._two_lines_from = height
            self._fit_lines()

    def set_hits(self, words: tuple[str, ...]) -> None:
        """Mark these words, case folded, wherever they stand in a row."""
        if words != self._painter.hits:
            self._painter.hits = words
            self.refresh()

    def tick(self, now: datetime) -> None:
        """Draw the lines that read otherwise as of `now`. Most ages stay; drawing costs more than looking."""
        room = room_of(self)
        before = [self.render_line(line) for line in range(room.height)]
        self._painter.now = now
        for line, strip in enumerate(before):
            if self.render_line(line) != strip:
                self.refresh(Region(0, line, room.width, 1))

    def select(self, key: str, *, by_user: bool = True) -> bool:
        """Put the cursor on the row `key`; False when there is none."""
        index = self._find(key)
        if index is not None:
            self._go(index, by_user=by_user)
        return index is not None

    def begin_at_top(self) -> None:
        """Put the cursor on the first row, unless the user did something with a row already."""
        if not self._is_touched and self._cursor:
            self.disturbances.note()
            self._go(0, by_user=False)

    def step_on(self, is_treated: Callable[[RowT], bool]) -> None:
        """Move the cursor behind the rows that were just dealt with; that they leave the list is no disturbance."""
        leaving = frozenset(self.key_of(row) for row in self.rows if is_treated(row))
        self.disturbances.expect(leaving, is_treated)
        self.clear_marks()
        if self.is_leaving:  # else the treated row left already, and the cursor is on the next one
            after = (*range(self._cursor, len(self.rows)), *reversed(range(self._cursor)))
            stays = (index for index in after if self.key_of(self.rows[index]) not in self.disturbances.leaving)
            self._go(next(stays, self._cursor))

    @property
    def is_leaving(self) -> bool:
        """Whether the row under the cursor was treated and is still here."""
        return self.cursor_key in self.disturbances.leaving

    def mark_all(self) -> None:
        """Mark every row, or take all marks away when all are marked."""
        keys = frozenset(map(self.key_of, self.rows))
        self._mark(frozenset() if keys <= self.marks else keys)

    def mark_range(self) -> None:
        """Mark every row from the one marked last, else the first one, to the one under the cursor."""
        first, last = sorted((self._find(self._marked_last) or 0, self._cursor))
        self._mark(self.marks | {self.key_of(row) for row in self.rows[first : last + 1]})

    def clear_marks(self) -> None:
        """Take all marks away."""
        self._mark(frozenset())

    def _mark(self, marks: frozenset[str]) -> None:
        """Let these rows be marked, and no others."""
        if self._markable and marks != self.marks:
            self._is_touched, self.marks = True, marks
            self.refresh()
            self.post_message(self.Marked(self))

    def action_move(self, step: int) -> None:
        """Move the cursor by `step` rows."""
        self._go(self._cursor + step)

    def action_end(self, last: bool) -> None:
        """Go to the first or the last row."""
        self._go(len(self.rows) - 1 if last else 0)

    def action_page(self, direction: int, half: bool = False) -> None:
        """Move a page, or half a page."""
        rows = self._page() // 2 if half else self._page() - 1
        self._go(self._cursor + direction * max(1, rows))

    def action_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go on to the next."""
        if self.cursor_key is not None and self._markable:
            self._marked_last = self.cursor_key
            self._mark(self.marks ^ {self.cursor_key})
            self.action_move(1)

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.cursor_key is not None:
            self._is_touched = True
            self.post_message(self.Opened(self, self.cursor_key))

    def on_click(self, event: Click) -> None:
        """Put the cursor where a click is; open at a double click. In a heading press the key that is clicked on."""
        y = event.y - self.gutter.top  # the title above the rows is no row
        index, line = self._places.at(y + self.scroll_offset.y)
        if y < 0 or not 0 <= index < len(self.rows):
            return
        if line < 0:
            below = self.rows[self._places.below(index)]
            press_shown_key(self, self._painter.heading(below, room_of(self).width), event.x)
        else:
            self._go(index)
            self.disturbances.note_click()
            if event.chain == 2:
                self.action_open()

    def on_resize(self, event: Resize) -> None:
        """Keep the cursor in sight at another size; two lines a row wherever they have room."""
        self._fit_lines()
        self._resize_virtual()
        self._show_cursor()
        self.draw_title()

    def _fit_lines(self) -> None:
        """Give rows two lines where the list is wide and high enough, else one."""
        room = room_of(self)
        if self._two_lines_from and room.height > 0:
            is_wide = room.width >= _LEAST_WIDTH
            has_two_lines = self._wants_two_lines and is_wide and room.height >= self._two_lines_from
            before, self._places.lines = self._places.lines, 2 if has_two_lines else 1
            self._places.expands = is_wide and not has_two_lines and room.height >= _EXPANDS_FROM
            self._places.expand(self._cursor if self.rows else None)
            self._resize_virtual()
            if self._places.lines != before:
                self._show_cursor()
                self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line of the row that is there, the gutter included."""
        width = room_of(self).width
        index, line = self._places.at(y + self.scroll_offset.y)
        if index >= len(self.rows):
            room = Size(width, room_of(self).height)
            return self.strip(self._painter.empty_line(y, room), width)
        if line < 0:
            return self.strip(self._painter.heading(self.rows[self._places.below(index)], width), width)
        states = (self.CURSOR,) if index == self._cursor else ()
        row, is_first = self.rows[index], line == 0
        is_marked = is_first and bool(self.marks) and self.key_of(row) in self.marks
        bar = ("▌" if states else " ", "" if self.has_focus else "muted")
        sign = self._painter.sign(row, is_marked=is_marked) if is_first else (" ", "")
        text = self._painter.line(row, line, width, self._places.lines)
        return Strip.join([self.strip((bar, sign), GUTTER, *states), self.strip(text, width - GUTTER, *states)])

    def _find(self, key: str | None) -> int | None:
        """Return the place of the row `key`."""
        if self._index_by_key is None:
            self._index_by_key = {self.key_of(row): index for index, row in enumerate(self.rows)}
        return self._index_by_key.get(key) if key is not None else None

    @property
    def rows_at_top(self) -> tuple[RowT, ...]:
        """The rows of the group that is at the top of the screen; none where its heading stands there."""
        group = self._group_at_top
        return tuple(row for row in self.rows if self._group(row) == group) if group else ()

    @property
    def _group_at_top(self) -> str:
        """The group of the first line in sight; empty where that is a heading, which says it already."""
        index, line = self._places.at(self.scroll_offset.y)
        return self._group(self.rows[min(index, len(self.rows) - 1)]) if self.rows and line >= 0 else ""

    def _tell_group(self) -> None:
        """Tell that rows of another group are at the top now."""
        if not self._has_group_in_title or not self.rows:
            return
        group = self._group_at_top
        if group != self._group_told:
            self._group_told = group
            self.post_message(self.GroupScrolled(self))

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Tell the group: other rows are at the top."""
        super().watch_scroll_y(old, new)
        self._tell_group()

    def _page(self) -> int:
        """Return the rows that fit into the list."""
        return max(1, room_of(self).height // self._places.lines)

    def _go(self, index: int, *, by_user: bool = True) -> None:
        """Put the cursor on a row, and paint the lines that this changes."""
        index, old = max(0, min(index, len(self.rows) - 1)), self._cursor
        if index == old or not self.rows:
            return
        self._is_touched = self._is_touched or by_user
        self._cursor, self.cursor_key = index, self.key_of(self.rows[index])
        self._places.expand(index)
        room = Region(0, 0, self.outer_size.width, room_of(self).height)
        for top, lines in self._places.changed(old, index):
            self.refresh(Region(0, top - self.scroll_offset.y, room.width, lines).intersection(room))
        self._show_cursor()
        self.post_message(self.Moved(self, self.cursor_key, by_user))

    def _show_cursor(self) -> None:
        """Scroll so that the row of the cursor is in sight: a third of a page down, two thirds up, each rarely."""
        height, top, row = room_of(self).height, self.scroll_offset.y, self._places.top(self._cursor)
        if height <= 0:
            return
        end = row + min(self._places.lines_of(self._cursor), height)  # the line behind the row
        begin = max(row - self._places.has_heading(self._cursor), end - height)  # its heading as far as it has room
        step = height // 3
        lines_above, lines_below = top - begin, end - (top + height)  # of it, out of sight
        if lines_above > 0:
            is_near = lines_above < height
            self._scroll_rows(min(begin, end - height + step) if is_near else begin)
        elif lines_below > 0:
            is_near = lines_below < height
            self._scroll_rows(end - height + (step if is_near else 0))

    def _scroll_rows(self, y: int) -> None:
        """Scroll at once, before the scrollbar that belongs to new rows is there."""
        self.scroll_to(y=max(0, y), animate=False, force=True)

    def _resize_virtual(self) -> None:
        """Tell the toolkit how many lines there are, for its scrollbar."""
        size = Size(room_of(self).width, self._places.height(len(self.rows)))
        if size != self.virtual_size:
            self.virtual_size = size


# What disturbed whoever was about to act on the row under the cursor: keys that follow at once are asked about again.

_NEVER = float("-inf")
JUST = 0.7
"""Seconds within which nobody has seen yet that rows moved."""


class Disturbances(Generic[RowT]):
    """When the row under the cursor last changed by itself; that a row leaves which the user treated is none.

    Attributes:
        leaving: Keys of the rows that were treated and are still there.
    """

    def __init__(self, basis: Callable[[RowT], object], clock: Callable[[], float]) -> None:
        """Begin undisturbed; `basis` returns the part of a row that a human decides on."""
        self._basis, self._clock = basis, clock
        self._at = self._moved_at = _NEVER
        self._lost: RowT | None = None
        self.leaving: frozenset[str] = frozenset()

    def seconds_since(self) -> float:
        """Return seconds since the last one."""
        return self._clock() - self._at

    def note(self, lost: RowT | None = None) -> None:
        """Note that the row the user chose, `lost` where it is known, is no longer under the cursor as it was."""
        self._at = self._clock()
        if lost is not None:
            self._lost = lost

    def note_move(self) -> None:
        """Note that rows in sight are at other places."""
        self._moved_at = self._clock()

    def note_click(self) -> None:
        """Note that a row was clicked on: just after rows moved it may be another one than was meant."""
        # guard: click-on-a-row-that-moved
        if self._clock() - self._moved_at < JUST:
            self.note()

    def note_change(
        self, old: RowT | None, row: RowT | None, *, is_same_key: bool, is_here: Callable[[str], bool]
    ) -> bool:
        """Note it where another row is under the cursor now, or says other; return whether that is so.

        It is no disturbance where expected rows have left.

        Args:
            is_same_key: Whether it is the same row, which may say other.
            is_here: Tells of the key of a row whether it is still in the list.
        """
        if row is None or old is None or row is old:
            is_another = row is not old
        else:
            is_another = not is_same_key or self._basis(row) != self._basis(old)
        left = {key for key in self.leaving if not is_here(key)}
        self.leaving -= left
        if is_another and old is not None and not left:
            self.note(old)
        return is_another

    def expect(self, leaving: frozenset[str], is_treated: Callable[[RowT], bool]) -> None:
        """Expect treated rows to leave; when the treated one has left already, that was no disturbance."""
        if self._lost is not None and is_treated(self._lost):
            self._lost, self._at = None, _NEVER
        self.leaving |= leaving

    def expect_no_leaving(self) -> None:
        """Keep the treated rows after all: one that leaves from now on counts as a disturbance."""
        self.leaving = frozenset()
