"""Every action, agent, open request and team by its name, for the command palette."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from team_console.console.actions import Action, actions_in, shown_key
from team_console.console.main import MainScreen
from team_console.console.selection import Mode
from team_console.console.words import error_text
from team_console.store.backends.open import find_teams
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line
from team_console.widgets.overlay import Overlay
from textual import on
from textual.binding import Binding, BindingType
from textual.command import Command, CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.markup import escape
from textual.widget import Widget
from textual.widgets import OptionList
from textual.worker import Worker

_OF_THE_LIST = frozenset(("enter", "up", "down", "pageup", "pagedown"))
"""Keys that mean what the search comes to."""


class Palette(Overlay, CommandPalette):
    """The list of everything by its name, with a line to search it by."""

    # Before the line gets it: from then on keys are meant for what the command leads to.
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Run", show=False, priority=True)]

    _sought: str | None = None
    _search: Worker[Any] | None = None
    _is_chosen = False

    @property
    def takes_keys(self) -> bool:
        """Whether its line and its list are there, until one is chosen: keys typed ahead wait for what comes then."""
        return self.focused is not None and not self._is_chosen

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Give a widget the focus; the line keeps it where nothing would have it, as after a click beside all."""
        if widget is not None or self.focused is None or not self.focused.is_attached:
            super().set_focus(widget, scroll_visible, from_app_focus)

    def holds_back(self, key: str) -> bool:
        """Whether `key` must wait for the list of what is typed: the one of before would be meant otherwise."""
        is_found = self._search is not None and self._search.is_finished
        return key in _OF_THE_LIST and not (is_found and self._sought == self.query_one(CommandInput).value.strip())

    def action_choose(self) -> None:
        """Run the command under the cursor."""
        commands = self.query_one(CommandList)
        option = commands.highlighted_option
        if isinstance(option, Command):
            self._choose(option)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        event.prevent_default()  # the toolkit's way closes the list first and lets keys in before the command ran
        if isinstance(event.option, Command):
            self._choose(event.option)

    def _choose(self, command: Command) -> None:
        if not self._is_chosen:
            self._is_chosen = True
            self._cancel_gather_commands()
            self.app.delay_update()
            self.app.call_later(self._leave_for, command.hit.command)

    def _leave_for(self, act: Callable[[], Any]) -> Any:
        """Close and act at once: no key comes between."""
        self.dismiss()
        return act()

    def _gather_commands(self, search_value: str) -> Worker[Any]:
        """Search, and remember for what."""
        self._sought, self._search = search_value, super()._gather_commands(search_value)
        return self._search

    def run_worker(self, *arguments: Any, **options: Any) -> Worker[Any]:
        """Run a search, whose end without a list, because the palette was closed, is nobody's business."""
        return super().run_worker(*arguments, **{**options, "exit_on_error": False})


class ActionProvider(Provider):
    """Names of actions, all of them the registry's, and of agents, open requests and teams."""

    _teams: tuple[str, ...] = ()

    async def search(self, query: str) -> Hits:
        """Actions whose name or help fits the query."""
        matcher = self.matcher(query)
        for action in self._usable():
            name = f"{action.group}: {action.label.rstrip('…')}"
            score = max(matcher.match(name), matcher.match(action.help) * 0.8)
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(name),
                    partial(self._do, action),
                    help=f"{shown_key(action)}  {action.help}",
                )

        for name, act, help_text in self._places(query):
            if (score := matcher.match(name)) > 0:
                # The library reads both as markup; a name of the team must neither colour, hide nor act.
                yield Hit(score, matcher.highlight(escape(name)), act, help=escape(help_text))

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self._usable():
            name = f"{action.group}: {action.label.rstrip('…')}"
            yield DiscoveryHit(name, partial(self._do, action), help=f"{shown_key(action)}  {action.help}")

    async def _wait_init(self) -> None:
        """Wait for the start, as the library does, whose start ends for good with the first search that is given up.

        Each letter typed gives up the search of the one before, and without a start nothing is ever found.
        """
        if self._init_task is not None:
            await asyncio.shield(self._init_task)

    async def startup(self) -> None:
        """Know the teams beside this one."""
        screen = self.screen
        root = screen.caller.team.root if isinstance(screen, MainScreen) else None
        if root is not None:
            self._teams = await asyncio.to_thread(_teams_beside, root)

    def _places(self, query: str) -> Iterator[tuple[str, Callable[[], None], str]]:
        """Agents, open requests and teams by their names: what it is called, what choosing it does, what it is."""
        screen = self.screen
        view = screen.view if isinstance(screen, MainScreen) else None
        if not isinstance(screen, MainScreen) or view is None:
            return
        for number, command in enumerate(screen.preferences.commands):
            yield command.name, partial(screen.action_perform, f"own:{number}"), f"{command.key}  a command of your own"
        for row in view.roster:
            yield f"agent {safe_line(row.name, 64)}", partial(screen.go_to_agent, row.name), "its inbox"
        for request in view.requests:
            if request.is_open:
                name = f"{safe_line(request.title, 80)} · {request.kind} of {safe_line(request.asker, 64)}"
                yield (
                    name,
                    partial(screen.go_to_row, Mode.REQUESTS, request.key),
                    safe_line(request.request_id, 80),
                )
        for location in self._teams:
            yield f"team {safe_line(location, 200)}", partial(self._switch, location), "leave this team for it"
        word, _, rest = query.partition(" ")
        if word == "team" and rest.strip() and rest.strip() not in self._teams:
            yield f"team {safe_line(rest.strip(), 200)}", partial(self._switch, rest.strip()), "leave this team for it"

    def _switch(self, location: str) -> None:
        try:
            self.app.switch_team(location)  # type: ignore[attr-defined]
        except TeamError as error:
            self.app.notify(error_text(error), severity="error", markup=False)

    def _usable(self) -> list[Action]:
        screen = self.screen
        if not isinstance(screen, MainScreen):
            return []
        subject = screen.subject()
        here = actions_in(screen.mode, read_only=screen.cannot_write)
        return [
            action
            for action in here
            if action.id not in ("palette", "mark", "back") and action.disabled(subject) is None
        ]

    def _do(self, action: Action) -> None:
        if isinstance(self.screen, MainScreen):
            self.screen.action_perform(action.id)


def _teams_beside(root: str | Path) -> tuple[str, ...]:
    """Locations of the teams in the same folder."""
    return tuple(find_teams(Path(root).resolve().parent, depth=1))
