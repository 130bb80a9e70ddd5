"""The absence of the human: when the last visit ended, and what happened since, on a card above the list."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.console.tui.drafts import replace_file, state_file
from team_console.console.tui.screen_protocols import MainScreenProtocol
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.contract.team import Team
from team_console.store.model.safe import safe_line
from team_console.store.views.digest import Digest, DigestGroup, digest_of_team, group_head, happening_line
from team_console.store.views.rows import View
from team_console.widgets.bars import Card
from team_console.widgets.text import Line, clock_time, pad, span


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

    def __init__(self, screen: MainScreenProtocol, left_at: datetime | None) -> None:
        self._screen = screen
        self.left_at = self._to_tell_since = left_at
        self.card = Card(id="since")

    def tell_once_read(self) -> None:
        """Say once, when the whole store is read, what happened since the last visit."""
        if self._to_tell_since is not None and self._screen.situation.is_read:
            # The first rows do not wait for it.
            self._screen.app.call_after_refresh(self.tell, self._to_tell_since)
            self._to_tell_since = None

    def tell_after_absence(self, seconds: float) -> None:
        """Say what happened while the human was away for so long, and mark what came meanwhile."""
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


# What happened, as the lines of a card: a line for each kind of thing.

_HALF_A_MINUTE = 30
"""Seconds by which a span is rounded: twelve hours are not eleven when the clock has gone on since."""
_HEAD_WIDTH = 21
"""Cells of the words before the things of a kind."""


def digest_title(since: datetime, now: datetime, *, has_left: bool) -> str:
    """Return the title of the card; `has_left` when it is known that the human left at `since`."""
    away = span((now - since).total_seconds() + _HALF_A_MINUTE)
    begins = f"Since you left at {clock_time(since, now)}" if has_left else f"Since {clock_time(since, now)}"
    return f"{begins} ({away})"


def digest_lines(found: Digest) -> tuple[Line, ...]:
    """Return the lines of the card, each of one kind of thing; the last says what waits now."""
    lines: list[Line] = []
    for group in DigestGroup:
        items = found.of(group)
        if items:
            things = " · ".join(safe_line(happening_line(item), 200) for item in reversed(items))
            lines.append(
                ((pad(group_head(group, len(items)), _HEAD_WIDTH) + " ", _TONES.get(group, "")), (things, "muted"))
            )
    if not lines:
        lines.append((("Nothing that is on record happened.", "muted"),))
    waits = f"{found.waiting:,} wait for you" if found.waiting > 1 else "1 waits for you"
    waits = waits if found.waiting else "nothing waits for you"
    lines.append(((waits, "strong"), ("   . shows all · esc back", "muted")))
    return tuple(lines)


_TONES = {
    DigestGroup.ASKED: "open",
    DigestGroup.DENIED: "warn",
    DigestGroup.FAILED: "bad",
    DigestGroup.REFUSED: "warn",
    DigestGroup.DONE: "good",
}


_MOST_SHARES = 200
"""Shares of a divider that no console writes."""


class Visit(Struct, frozen=True):
    """A visit of one human to a team.

    Attributes:
        left_at: When the human left; None when that is not known.
        divider: Shares by which lists are wider than usual, or narrower.
    """

    left_at: datetime | None = None
    divider: int = 0


class LastVisit:
    """The last visit to one team under one identity, in `XDG_STATE_HOME/team-console/places`."""

    def __init__(self, location: str, me: str, *, enabled: bool) -> None:
        self._path, self._enabled = state_file("places", location, me), enabled

    def read(self) -> Visit:
        """Return it; one of which nothing is known when there was none or it cannot be read."""
        try:
            visit = msgspec.json.decode(self._path.read_bytes() if self._enabled else b"{}", type=Visit)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return Visit()
        return visit if abs(visit.divider) < _MOST_SHARES else Visit(visit.left_at)

    def keep(self, visit: Visit) -> None:
        """Keep it for next time; a state folder that cannot be written only forgets it."""
        if self._enabled:
            with suppress(OSError):
                replace_file(self._path, msgspec.json.encode(visit))
