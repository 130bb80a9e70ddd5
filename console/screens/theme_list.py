"""A list of themes; each shows while the cursor is on it, enter keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

from team_console.console.display.themes import choices, remember_theme
from team_console.store.model.safe import safe_line
from team_console.widgets.overlay import Overlay
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.rows.row_list import RowList
from team_console.widgets.text.cells import Line
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen


class ThemeList(Overlay, ModalScreen[None]):
    """At the right, so that most of the console shows what a theme looks like."""

    DEFAULT_CSS = """
    ThemeList { align: right middle; background: $background 0%; }
    ThemeList > RowList { width: 34; height: 70%; background: $panel; border: round $accent;
        border-title-color: $text-accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f2", "leave", "Back", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._before = ""
        self._choices: Mapping[str, str] = choices()

    def compose(self) -> ComposeResult:
        """The list."""
        yield RowList[str](str, self._line, markable=False)

    def on_mount(self) -> None:
        """Begin at the theme there is."""
        self._before = self.app.theme
        rows = self.query_one(RowList)
        rows.border_title = Content("Theme · enter keeps it")
        rows.set_rows(tuple(self._choices), now=datetime.now(UTC))
        present = next((name for name, theme in self._choices.items() if theme == self.app.theme), "")
        rows.select(present, by_user=False)
        rows.focus()

    def action_leave(self) -> None:
        """Go back to the theme of before."""
        self.app.theme = self._before
        self.dismiss()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        if event.key is not None and event.by_user:
            self.app.theme = self._choices[event.key]

    @on(RowList.Opened)
    def _chosen(self, event: RowList.Opened) -> None:
        self.app.theme = self._choices[event.key]
        remember_theme(self.app.theme)
        self.dismiss()

    def _line(self, name: str, drawing: Drawing) -> tuple[Line, ...]:
        return (
            ((safe_line(name, 40), ""), ("  of last time" if self._choices[name] == self._before else "", "muted")),
        )
