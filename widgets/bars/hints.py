"""The keys of a form in one line, each whole: what does not fit is left out, the last ones first."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.text.cells import Line, width_of
from textual.events import Resize

_APART = " · "


class Hints(OneLine):
    """What the keys of a form do; the key itself is in the colour of keys."""

    HELP = "What the keys of the form do."
    DEFAULT_CSS = "Hints { width: 1fr; height: 1; }"

    def __init__(self, hints: Sequence[str], *, classes: str | None = None) -> None:
        """`hints`: a key and what it does, parted by a space; the most important ones first."""
        super().__init__(classes=classes)
        self._hints = tuple(hints)

    def show(self, hints: Sequence[str]) -> None:
        """Show other keys."""
        self._hints = tuple(hints)
        self._choose()

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._choose()

    def _choose(self) -> None:
        line: Line = ()
        for hint in self._hints:
            key, _, words = hint.partition(" ")
            longer = (*line, (_APART if line else "", "muted"), (key, "key"), (f" {words}", "muted"))
            if width_of(longer) <= self.size.width:
                line = longer
        self.set_line(line)
