"""What happened while the human was away, on a card above the list."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from msgspec.structs import replace
from team_console.console.tui.one_screen import OneScreen
from team_console.console.tui.words import digest_lines, digest_title
from team_console.console.tui.workers import start_worker
from team_console.store.contract.team import Team
from team_console.store.views.digest import Digest, digest_of_team
from team_console.store.views.rows import View
from team_console.widgets.bars import Card


def news_of_team(team: Team, view: View, since: datetime) -> Digest:
    """Return what happened since a moment, without what the human decided: that is no news to the human."""
    found = digest_of_team(team, view, since)
    return replace(found, happened=tuple(item for item in found.happened if item.by != view.me))


class Absence:
    """The time since the human was last here.

    Attributes:
        left_at: The end of that time, None for somebody who was never here.
        card: Says what happened since.
    """

    def __init__(self, screen: OneScreen, left_at: datetime | None) -> None:
        self._screen = screen
        self.left_at = self._tells_since = left_at
        self.card = Card(id="since")

    def begin(self) -> None:
        """Say once, when the whole store is read, what happened since the last visit."""
        if self._tells_since is not None and self._screen.situation.is_read:
            self.tell(self._tells_since)
            self._tells_since = None

    def came_back(self, seconds: float) -> None:
        """The human was away for so long: say what happened, and mark what came meanwhile."""
        screen = self._screen
        self.left_at = screen.cache.new_since = screen.caller.team.clock() - timedelta(seconds=seconds)
        self.tell(self.left_at)

    def tell(self, since: datetime, *, always: bool = False) -> None:
        """Say what happened since a moment; without `always` only where something did."""
        if (view := self._screen.view) is not None:
            start_worker(self._screen.app, self._tell, view, since, always, group="since")

    async def _tell(self, view: View, since: datetime, always: bool) -> None:
        found = await asyncio.to_thread(news_of_team, self._screen.caller.team, view, since)
        if always or found.happened:
            title = digest_title(found.since, self._screen.now, has_left=self.left_at is not None)
            self.card.show(title, digest_lines(found))
