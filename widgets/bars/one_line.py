"""The base of widgets that are one line of parts: repainted only when the line is another one."""

from __future__ import annotations

from collections.abc import Iterable
from operator import eq

from team_console.widgets.text.cells import Line, spread, width_of
from team_console.widgets.text.plain_sides import PlainLine
from team_console.widgets.text.tones import Inked
from textual.events import Click
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget


class OneLine(Inked, Widget):
    """One line: parts at the left, parts at the right."""

    DEFAULT_CSS = "OneLine { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._styles_cache = PlainLine()
        self._left: Line = ()
        self._right: Line = ()
        self._ends: tuple[tuple[int, str], ...] = ()
        self._spread: tuple[Line, Line, int, Line] | None = None
        self._measured: tuple[Size, int] | None = None

    @property
    def text(self) -> str:
        """What the line says."""
        return "".join(text for text, _ in (*self._left, *self._right))

    @property
    def room(self) -> int:
        """Cells for the line: what Textual works out from its styles at each look, and is asked for often."""
        if self._measured is None or self._measured[0] != self.outer_size:
            self._measured = self.outer_size, self.size.width
        return self._measured[1]

    def set_line(self, left: Line, right: Line = (), *, ends: Iterable[tuple[int, str]] = ()) -> None:
        """Show these parts; nothing is repainted when they are the same as before.

        Args:
            ends: Cell before which a part ends, and its name, in order; what can be clicked has one.
        """
        self._ends = tuple(ends)
        if (left, right) != (self._left, self._right):
            before, self._left, self._right = self._whole(), left, right
            start, stop = changed_cells(before, self._whole())
            changed = Region(start, 0, stop - start, 1)  # within the padding, which Textual adds by itself
            self.refresh(*([changed] if changed else []))

    def notify_style_update(self) -> None:
        """Draw in other styles, and so with other sides."""
        super().notify_style_update()
        self._styles_cache.clear()

    def under(self, event: Click) -> str:
        """The name of the part under the mouse; empty for none."""
        x = event.x - self.styles.padding.left
        return next((name for end, name in self._ends if x < end), "")

    def render_line(self, y: int) -> Strip:
        """The line, as wide as the widget."""
        return self.strip(self._whole(), self.room)

    def _whole(self) -> Line:
        """The line in all its width; it is asked for when it changes and when it is painted."""
        width = self.room
        if self._spread is None or self._spread[:3] != (self._left, self._right, width):
            self._spread = self._left, self._right, width, spread(self._left, self._right, width)
        return self._spread[3]


def changed_cells(before: Line, after: Line) -> tuple[int, int]:
    """The first cell in which two lines differ, and the cell after the last one, as far as whole parts tell."""
    first = _alike(before, after)
    old, new = before[first:], after[first:]
    last = _alike(old[::-1], new[::-1])
    start = width_of(after[:first])
    return start, start + max(width_of(old[: len(old) - last]), width_of(new[: len(new) - last]))


def _alike(line: Line, other: Line) -> int:
    """How many parts both begin with."""
    same = list(map(eq, line, other))
    return same.index(False) if False in same else len(same)


def ends_of(pieces: Iterable[tuple[str, Line]], at: int = 0) -> list[tuple[int, str]]:
    """Where each of these named pieces ends, the first of which begins at the cell `at`."""
    ends = []
    for name, piece in pieces:
        at += width_of(piece)
        ends.append((at, name))
    return ends
