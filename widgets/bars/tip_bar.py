"""One line that says what to try next, until the human has had enough of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.text.cells import Line, width_of
from textual.events import Resize

_CLOSE: Line = (("  esc ✕", "muted"),)


class TipBar(OneLine):
    """Not there unless there is a tip; once dismissed it does not come back."""

    DEFAULT_CSS = """
    TipBar { background: $primary-muted; padding: 0 1; display: none; }
    TipBar.-shown { display: block; }
    TipBar.-shown.-behind { display: none; }
    TipBar:ansi { background: ansi_default; text-style: underline; }
    """
    HELP: ClassVar[str] = "What to try next. esc takes it away."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.is_over = False
        self._tips: tuple[Line, ...] = ()

    def show(self, tips: Sequence[Line]) -> None:
        """Show a tip, unless it was dismissed.

        Args:
            tips: The same in several lengths, the longest first; the first that fits is shown, else the last.
                None leaves the line blank.
        """
        if self.is_over:
            return
        self.set_class(True, "-shown")
        if (new := tuple(tips)) != self._tips:
            self._tips = new
            self._choose()

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._choose()

    def _choose(self) -> None:
        room = self.room - width_of(_CLOSE)
        fitting = (tip for tip in self._tips if width_of(tip) <= room)
        self.set_line(next(fitting, self._tips[-1]) if self._tips else (), _CLOSE if self._tips else ())

    def dismiss(self) -> bool:
        """Take it away for good; False when it was not there."""
        was_shown = self.has_class("-shown")
        self.is_over = True
        self.set_class(False, "-shown")
        return was_shown
