"""What was decided and is not written yet, the seconds left to take it back, and the keys for it."""

from __future__ import annotations

from typing import ClassVar

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.text.cells import Line


class GraceBar(OneLine):
    """One line above the keys, there only while something is not written yet."""

    DEFAULT_CSS = """
    GraceBar { display: none; padding: 0 1; background: $warning 14%; }
    GraceBar.-shown { display: block; }
    """
    HELP: ClassVar[str] = "What is not written yet: U takes the last of it back, W writes all of it now."

    def show(self, words: str, seconds: int, *, more: int = 0) -> None:
        """Show the decision `words`, safe text; empty for none.

        Args:
            seconds: Left until it is written.
            more: Other decisions that wait before it.
        """
        self.set_class(bool(words), "-shown")
        if not words:
            return
        others = f" and {more:,} more" if more else ""
        left: Line = (("◔ not written yet: ", "alert"), (words, "strong"), (others, ""))
        right: Line = (
            (f" {seconds} s  ", "alert"),
            ("U", "key"),
            (" take back  ", "muted"),
            ("W", "key"),
            (" now", "muted"),
        )
        self.set_line(left, right)
