"""The list of teams alone, before any of them is open; in a folder without one, what makes the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from team_console.console.tui.crash_guard import GuardedApp
from team_console.console.tui.empty_lists import first_step, no_team_lines
from team_console.console.tui.list_screens import TeamsScreen
from team_console.console.tui.screen_state import ScreenState
from team_console.console.tui.themes import THEMES, first_theme, native_colours
from team_console.store.model.errors import TeamError
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, Lines
from team_console.widgets.overlay import Overlay
from team_console.widgets.text import Line
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

_LOOK_FOR_A_TEAM = 1.0
"""Seconds between two looks for the first team of a folder."""


class FirstStepsScreen(Overlay, ModalScreen[str | None]):
    """What to do in a folder without a team; it is left with the location of the team as soon as there is one."""

    DEFAULT_CSS = """
    FirstStepsScreen { background: $surface; }
    FirstStepsScreen Detail { height: 1fr; margin: 1 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("Y", "copy", "Copy the command", show=False),
        Binding("escape,q", "leave", "Leave", show=False),
    ]

    def __init__(self, find: Callable[[], str | None]) -> None:
        super().__init__()
        self._find = find

    def compose(self) -> ComposeResult:
        """Yield the one text there is."""
        yield Detail()

    def on_mount(self) -> None:
        """Show the commands, and look for the team that one of them makes."""
        detail = self.query_one(Detail)
        closing_words: Line = (("q quit", "muted"),)
        text = Lines((*no_team_lines(), (), closing_words))
        detail.show(Document(key="first steps", title="team-console", blocks=(text,)))
        detail.focus()
        self.set_interval(_LOOK_FOR_A_TEAM, self._look)

    def _look(self) -> None:
        with suppress(TeamError):  # a folder that cannot be looked into now
            if (location := self._find()) is not None:
                self.dismiss(location)

    def action_copy(self) -> None:
        """Copy the command that lets an agent ask here."""
        self.app.copy_to_clipboard(first_step(ScreenState()))
        self.notify("Copied the command", markup=False)

    def action_leave(self) -> None:
        """Leave without a team."""
        self.dismiss(None)


class PickerApp(GuardedApp[str | None]):
    """The list of teams alone, before any of them is open; what makes the first one where there is none."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, make: Callable[[], ModalScreen[Any]]) -> None:
        """`make` returns its one screen, whose result is the location of a team; None for none."""
        super().__init__(ansi_color=native_colours())
        self._make = make
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = first_theme(self.console.color_system)

    def on_mount(self) -> None:
        """Show the teams, or the first steps."""
        self.push_screen(self._make(), self.exit)


def pick_team(locations: Sequence[str]) -> str | None:
    """Let the human choose one of the locations; None when none was chosen."""
    return PickerApp(lambda: TeamsScreen(lambda: locations, "enter open · q quit")).run_to_the_end()[0]


def wait_for_team(find: Callable[[], str | None]) -> str | None:
    """Show the first steps until `find` returns the location of a team; None when the human leaves before."""
    return PickerApp(lambda: FirstStepsScreen(find)).run_to_the_end()[0]
