"""The base of widgets that are one line of parts: repainted only when the line is another one."""

from __future__ import annotations

from team_console.widgets.text.cells import Line, spread
from team_console.widgets.text.tones import Inked
from textual.strip import Strip
from textual.widget import Widget


class OneLine(Inked, Widget):
    """One line: parts at the left, parts at the right."""

    DEFAULT_CSS = "OneLine { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Line = ()
        self._right: Line = ()

    @property
    def text(self) -> str:
        """What the line says."""
        return "".join(text for text, _ in (*self._left, *self._right))

    def set_line(self, left: Line, right: Line = ()) -> None:
        """Show these parts; nothing is repainted when they are the same as before."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line, as wide as the widget."""
        width = self.size.width
        return self.strip(spread(self._left, self._right, width), width)
