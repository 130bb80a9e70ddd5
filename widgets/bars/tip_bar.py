"""One line that says what to try next, until the human has had enough of it."""

from __future__ import annotations

from typing import ClassVar

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.text.cells import Line


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

    def show(self, tip: Line) -> None:
        """Show `tip`, unless it was dismissed."""
        if not self.is_over:
            self.set_line(tip, (("esc ✕", "muted"),))
            self.set_class(True, "-shown")

    def dismiss(self) -> bool:
        """Take it away for good; False when it was not there."""
        was_shown = self.has_class("-shown")
        self.is_over = True
        self.set_class(False, "-shown")
        return was_shown
