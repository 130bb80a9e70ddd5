"""Lets the human choose among the teams that were found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from team_console.console.app.containment import ContainedApp
from team_console.console.app.leaving import run_to_the_end
from team_console.console.display.themes import THEMES, first_theme, native_colours
from team_console.store.model.safe import safe_line
from team_console.widgets.bars.key_bar import KeyBar, KeyHint
from team_console.widgets.guarded import Guarded
from team_console.widgets.layered import Layered
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.rows.row_list import RowList
from team_console.widgets.text.cells import Line
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen


class PickerScreen(Guarded, Layered, Screen[None]):
    """What the list stands on."""


class PickerApp(ContainedApp[str | None]):
    """A list of locations; enter chooses."""

    CSS = """
    Screen { background: $surface; }
    RowList { height: 1fr; border: round $accent; border-title-color: $text-accent; margin: 1 2; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,escape,ctrl+q", "quit", "Quit", show=False)]

    def __init__(self, locations: tuple[str, ...]) -> None:
        super().__init__(ansi_color=native_colours())
        self._locations = locations
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = first_theme(self.console.color_system)

    def get_default_screen(self) -> Screen[Any]:
        """A screen that comes to rest in a window that is dragged."""
        return PickerScreen(id="_default")

    def compose(self) -> ComposeResult:
        """The list and its keys."""
        yield RowList(str, _location_lines, markable=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the locations."""
        rows = self.query_one(RowList)
        rows.border_title = Content(f"Choose a team · {len(self._locations)}")
        rows.set_rows(self._locations, now=datetime.now(UTC))
        rows.focus()
        hints = (KeyHint("enter", "open"), KeyHint("j k", "move"))
        self.call_after_refresh(lambda: self.query_one(KeyBar).show(hints, (KeyHint("q", "quit"),)))

    @on(RowList.Opened)
    def _chosen(self, event: RowList.Opened) -> None:
        self.exit(event.key)


def pick_team(locations: Sequence[str]) -> str | None:
    """Let the human choose one of the locations; None when none was chosen."""
    return run_to_the_end(PickerApp(tuple(locations)))[0]


def _location_lines(location: str, drawing: Drawing) -> tuple[Line, ...]:
    folder, _, name = location.rstrip("/").rpartition("/")
    return ((("◆ ", "accent"), (safe_line(name, 80), "strong"), (f"  {safe_line(folder, 300)}", "muted")),)
