"""Every action by its name, for the command palette; those that cannot be used now are left out."""

from __future__ import annotations

from functools import partial

from team_console.console.input.actions import Action, actions_in
from team_console.console.screens.main import MainScreen
from textual.command import DiscoveryHit, Hit, Hits, Provider


class ActionProvider(Provider):
    """Names of actions, all of them the registry's."""

    async def search(self, query: str) -> Hits:
        """Actions whose name or help fits the query."""
        matcher = self.matcher(query)
        for action in self._usable():
            name = f"{action.group}: {action.label.rstrip('…')}"
            score = max(matcher.match(name), matcher.match(action.help) * 0.8)
            if score > 0:
                yield Hit(
                    score, matcher.highlight(name), partial(self._do, action), help=f"{action.shown}  {action.help}"
                )

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self._usable():
            name = f"{action.group}: {action.label.rstrip('…')}"
            yield DiscoveryHit(name, partial(self._do, action), help=f"{action.shown}  {action.help}")

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
