"""Every key that does something here, with what it does and, for greyed ones, why not now."""

from __future__ import annotations

from msgspec import Struct
from team_console.widgets.detail import Detail
from team_console.widgets.document import Block, Document, Heading, Lines
from team_console.widgets.overlay import Overlay
from team_console.widgets.text import Line, pad
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

_KEY, _TEXT = 12, 66
"""Cells of the column of keys and of the one beside it."""


class HelpRow(Struct, frozen=True):
    """A key, what it does, and why it cannot be used now; empty when it can."""

    key: str
    text: str
    why_not: str = ""


class HelpPanel(Overlay, ModalScreen[None]):
    """Sections of keys; it scrolls like any document."""

    DEFAULT_CSS = """
    HelpPanel { align: center middle; background: $background 60%; }
    HelpPanel > .help--box { width: 84; max-width: 96%; height: 90%; background: $surface; border: round $accent;
        border-title-color: $text-accent; border-title-style: bold; border-subtitle-color: $text-muted; }
    HelpPanel Detail { height: 1fr; }
    """
    BINDINGS = [Binding("escape,q,question_mark", "dismiss", "Close", show=False)]
    HELP = "All keys of this place."

    def __init__(self, title: str, intro: str, sections: tuple[tuple[str, tuple[HelpRow, ...]], ...]) -> None:
        super().__init__()
        self._title, self._intro, self._sections = title, intro, sections

    def compose(self) -> ComposeResult:
        """A box with one scrolled document."""
        with Container(classes="help--box") as box:
            box.border_title = Content(f"Keys · {self._title}")
            box.border_subtitle = Content("j k scroll · esc back")
            yield Detail()

    def on_mount(self) -> None:
        """Show the keys."""
        blocks: list[Block] = [Lines((((self._intro, "muted"),),))] if self._intro else []
        for title, rows in self._sections:
            blocks += [Heading(title), Lines(tuple(line for row in rows for line in _lines(row)), indent=_KEY)]
        detail = self.query_one(Detail)
        detail.show(Document(key="help", title="", blocks=tuple(blocks)))
        detail.focus()


def _lines(row: HelpRow) -> tuple[Line, ...]:
    """What the key does, and beside or below it why not now."""
    key = pad(row.key, _KEY - 1) + " "
    if not row.why_not:
        return (((key, "key"), (row.text, "")),)
    text, why = (row.text, "muted"), f"not now: {row.why_not}"
    if len(row.text) + len(why) < _TEXT:
        return (((key, "faint"), text, (f"  {why}", "faint")),)
    return ((key, "faint"), text), ((" " * _KEY, ""), (why, "faint"))
