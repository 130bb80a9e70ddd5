"""The base of widgets that are one line of parts: repainted only when the line is another one."""

from __future__ import annotations

from collections.abc import Iterable

from team_console.widgets.text.cells import Line, spread, width_of
from team_console.widgets.text.tones import Inked
from textual.events import Click
from textual.strip import Strip
from textual.widget import Widget


class OneLine(Inked, Widget):
    """One line: parts at the left, parts at the right."""

    DEFAULT_CSS = "OneLine { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Line = ()
        self._right: Line = ()
        self._ends: tuple[tuple[int, str], ...] = ()

    @property
    def text(self) -> str:
        """What the line says."""
        return "".join(text for text, _ in (*self._left, *self._right))

    def set_line(self, left: Line, right: Line = (), *, ends: Iterable[tuple[int, str]] = ()) -> None:
        """Show these parts; nothing is repainted when they are the same as before.

        Args:
            ends: Cell before which a part ends, and its name, in order; what can be clicked has one.
        """
        self._ends = tuple(ends)
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def under(self, event: Click) -> str:
        """The name of the part under the mouse; empty for none."""
        x = event.x - self.styles.padding.left
        return next((name for end, name in self._ends if x < end), "")

    def render_line(self, y: int) -> Strip:
        """The line, as wide as the widget."""
        width = self.size.width
        return self.strip(spread(self._left, self._right, width), width)


def ends_of(pieces: Iterable[tuple[str, Line]], at: int = 0) -> list[tuple[int, str]]:
    """Where each of these named pieces ends, the first of which begins at the cell `at`."""
    ends = []
    for name, piece in pieces:
        at += width_of(piece)
        ends.append((at, name))
    return ends
