"""The shutdown of the team, supervised, over the whole screen."""

from __future__ import annotations

from typing import ClassVar

from team_console.console.screens.reading import ReadingScreen
from team_console.store.views.rows import View
from team_console.store.views.stopping import stops_of
from team_console.widgets.details.document import Document
from team_console.widgets.details.stopping import stopping_document
from textual.binding import Binding, BindingType

_CLOCK = 5.0
"""Seconds between two looks at the clock while somebody is asked and has not answered."""


class StopsScreen(ReadingScreen):
    """Who was asked to stop, what became of it, and who is left."""

    TITLE_WORDS: ClassVar[str] = "Shutdown of the team"
    HELP = "Who was asked to stop, has it, saw it, agreed or refused, ended, and who is left."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "ask_nobody_else", "Ask nobody else", show=False)]

    def on_mount(self) -> None:
        """Clocks go on while it is looked at."""
        self.set_interval(_CLOCK, self.follow)

    def document(self, view: View) -> Document:
        """The shutdown as it is now."""
        workspace = self.workspace
        busy = workspace.busy if workspace.busy.startswith("stopping") else ""
        return stopping_document(stops_of(view), now=workspace.caller.team.clock(), busy=busy)

    def action_ask_nobody_else(self) -> None:
        """Stop asking agents that were not asked yet."""
        self.workspace.background.cancel_stopping()
