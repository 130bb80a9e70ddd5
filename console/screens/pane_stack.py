"""The panes of the modes: each is made when it is first gone to, and told only what it was not told yet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any

from team_console.console.display.screen_state import ScreenState, shows_the_same
from team_console.console.input.subject import Mode
from team_console.console.panes.attachments import AttachmentCache
from team_console.console.panes.list_pane import ListPane
from team_console.console.panes.pane import Pane

_PANES = {
    Mode.NEEDS: "needs:NeedsPane",
    Mode.INBOXES: "inboxes:InboxesPane",
    Mode.REQUESTS: "requests:RequestsPane",
    Mode.DELIVERIES: "deliveries:DeliveriesPane",
    Mode.SPRINT: "sprint:SprintPane",
    Mode.HISTORY: "history:HistoryPane",
    Mode.HEALTH: "health:HealthPane",
    Mode.DECISIONS: "decisions:DecisionsPane",
}


class PaneStack:
    """Panes by their mode, one of them in front.

    Attributes:
        mode: The mode in front.
    """

    def __init__(self, mode: Mode, shelf: AttachmentCache, report: Callable[[Exception], None]) -> None:
        self.mode, self._shelf, self._report = mode, shelf, report
        self._panes: dict[Mode, Pane] = {}
        self._shown: dict[Mode, ScreenState] = {}

    @property
    def shown_in_front(self) -> ScreenState | None:
        """The situation that stands in front."""
        return self._shown.get(self.mode)

    @property
    def front(self) -> Pane:
        """The pane in front."""
        return self._panes[self.mode]

    @property
    def listing(self) -> ListPane[Any] | None:
        """The list in front; None when it is not complete."""
        return self.front if isinstance(self.front, ListPane) and self.front.is_complete else None

    def bring(self, mode: Mode) -> bool:
        """Put the pane of `mode` in front; whether it was made for that and must be mounted."""
        fresh = mode not in self._panes
        if fresh:
            self._panes[mode] = _make(mode, self._shelf)
        if self.mode in self._panes:
            self.front.remove_class("-active")
        self.mode = mode
        self.front.add_class("-active")
        return fresh

    def show(self, situation: ScreenState, now: datetime, *, again: bool = False) -> None:
        """Show a situation in front, if it is another one or `again` is set.

        A pane that fails says so instead of showing what was true before.
        """
        if self._shown.get(self.mode) is situation and not again:
            return
        self._shown[self.mode] = situation
        try:
            self.front.show(situation, now)
        except Exception as error:
            self._report(error)
            self.front.give_up()

    def keeps(self, situation: ScreenState) -> bool:
        """Whether what stands in front is true of this situation as well, so that nothing needs to be painted."""
        shown = self.shown_in_front
        if shown is None or shown is situation or not shows_the_same(shown, situation):
            return False
        self._shown[self.mode] = self.front.situation = situation
        return True

    def stay(self) -> None:
        """What was decided about stays in every list after all: that it leaves later is a change like any other."""
        for pane in self._panes.values():
            if isinstance(pane, ListPane) and pane.is_complete:
                pane.rows.stay()

    def forget_shown(self) -> None:
        """Show the same situation anew, because more is known of it."""
        self._shown.clear()


def _make(mode: Mode, shelf: AttachmentCache) -> Pane:
    """The pane of a mode; its module is imported when it is first gone to."""
    module, _, name = _PANES[mode].partition(":")
    made: type[Pane] = getattr(import_module(f"team_console.console.panes.{module}"), name)
    return made(shelf)
