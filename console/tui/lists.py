"""The lists of the console: each is made when it is first gone to, and one of them is in front."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from importlib import import_module
from typing import Any

from team_console.console.selection import Mode
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.situation import Situation, shows_the_same
from team_console.console.tui.textual_fixes import start_worker
from textual.app import ComposeResult
from textual.containers import Container

_PANES = {
    Mode.NEEDS: "needs:NeedsPane",
    Mode.REQUESTS: "needs:RequestsPane",
    Mode.AGENTS: "agents:AgentsPane",
    Mode.HISTORY: "history:HistoryPane",
    Mode.DECISIONS: "decisions:DecisionsPane",
    Mode.HEALTH: "health:HealthPane",
    Mode.SPRINT: "sprint:SprintPane",
    Mode.DELIVERIES: "deliveries:DeliveriesPane",
}
"""The lists: each is made, and its module imported, when it is first gone to."""


class Lists(Container):
    """The lists, one of them in front; a list shows the latest situation when it is gone to.

    Attributes:
        mode: The list in front.
    """

    def __init__(
        self,
        cache: ScreenCache,
        *,
        report: Callable[[BaseException], None],
        when_left: Callable[[], None],
        when_entered: Callable[[], None],
    ) -> None:
        """Make the first list; the others are made when they are gone to.

        Args:
            cache: What all of them know.
            report: Takes an exception of a list that cannot be shown.
            when_left: Called as soon as another list is in front.
            when_entered: Called once that list is drawn and has the focus.
        """
        super().__init__(id="body")
        self.mode = Mode.NEEDS
        self._cache, self._report = cache, report
        self._when_left, self._when_entered = when_left, when_entered
        self._panes: dict[Mode, Pane[Any]] = {}
        self._shown: dict[Mode, Situation] = {}
        self._situation, self._now = Situation(), cache.team.clock()
        self._put_in_front(self.mode)  # there from the beginning: a console that is told to end composes nothing more

    def compose(self) -> ComposeResult:
        """Yield the first list; the others are made when they are gone to."""
        yield self.front

    # Which is in front.

    @property
    def front(self) -> Pane[Any]:
        """The list in front."""
        return self._panes[self.mode]

    @property
    def is_drawn(self) -> bool:
        """Whether the list in front is complete; before that no key acts on it and nothing is shown in it."""
        return self.front.is_complete

    def _put_in_front(self, mode: Mode) -> bool:
        """Put the list `mode` in front; return whether it was made just now and must be mounted."""
        is_fresh = mode not in self._panes
        if is_fresh:
            module, _, name = _PANES[mode].partition(":")
            made: type[Pane[Any]] = getattr(import_module(f"team_console.console.tui.modes.{module}"), name)
            self._panes[mode] = made(self._cache)
        if self.mode in self._panes:
            self.front.remove_class("-active")
        self.mode = mode
        self.front.add_class("-active")
        return is_fresh

    def go(self, mode: Mode) -> None:
        """Go to a list."""
        if mode is self.mode:
            if self.is_drawn:
                self.front.set_reading(False)
                self.front.focus_first()
            return
        if self.front.is_reading:
            self.front.set_reading(False)
        is_fresh = self._put_in_front(mode)
        self._when_left()
        if is_fresh:
            start_worker(self, self._mount_and_enter, self.front, group="panes", exit_on_error=True)
        else:
            self._enter()

    async def _mount_and_enter(self, pane: Pane[Any]) -> None:
        await self.mount(pane)
        if self.front is pane:
            self._enter()

    def _enter(self) -> None:
        if not self.is_drawn:
            return
        self.front.divider.shrink_list(False)
        self._show(again=True)
        self.front.focus_first()
        self.app.call_later(self._when_entered)  # behind the focus, which moves later: its keys are written once

    def go_to_row(self, mode: Mode, key: str) -> None:
        """Go to a row of a list."""
        self.go(mode)
        self.front.seek(key)

    def go_to_agent(self, name: str) -> None:
        """Go to the page of an agent."""
        self.go(Mode.AGENTS)
        self.front.seek_agent(name)  # type: ignore[attr-defined]

    # What they show.

    @property
    def shown_in_front(self) -> Situation | None:
        """The situation that the list in front shows; None before it shows any."""
        return self._shown.get(self.mode)

    def takes_unpainted(self, situation: Situation) -> bool:
        """Take a situation that looks the same as the one in front, and paint nothing; return whether it does."""
        shown = self.shown_in_front
        if shown is None or shown is situation or not shows_the_same(shown, situation):
            return False
        self._situation = self._shown[self.mode] = self.front.listing.situation = situation
        return True

    def show(self, situation: Situation, now: datetime) -> None:
        """Show another situation in front; the other lists follow when they are gone to."""
        self._situation, self._now = situation, now
        if self.is_drawn:
            self._show()

    def _show(self, *, again: bool = False) -> None:
        """Show the situation in front; a list that fails says so instead of showing what was true before.

        One that is in front already comes again because more is known of its rows: they are the same ones.
        """
        if self.shown_in_front is self._situation and not again:
            self.front.rows.refresh()
            self.front.presenter.show_changed()
            return
        self._shown[self.mode] = self._situation
        try:
            self.front.show(self._situation, self._now)
        except Exception as error:
            self._report(error)
            self.front.give_up()

    def forget_shown(self) -> None:
        """Show the same situation anew when it comes again, because more is known of it."""
        self._shown.clear()

    def tick(self, now: datetime) -> None:
        """Let ages go on."""
        self._now = now
        if self.is_drawn:
            self.front.tick(now)

    def take_preferences(self) -> None:
        """Make what the human chose hold in every list."""
        for pane in self._panes.values():
            if pane.is_complete:
                pane.take_preferences()

    # What was decided in them.

    def step_on(self, decided: Collection[str]) -> None:
        """Go from what was just decided to the next thing; that it leaves the list is no disturbance."""
        if self.is_drawn:
            self.front.step_on(decided)

    def expect_no_leaving(self) -> None:
        """Count rows that leave as disturbances again, in every list: their decisions were undone or refused."""
        for pane in self._panes.values():
            if pane.is_complete:
                pane.rows.disturbances.expect_no_leaving()

    def seek(self, subject: str) -> None:
        """Put the cursor on the row of what was taken back."""
        if self.is_drawn:
            self.front.seek_subject(subject)
