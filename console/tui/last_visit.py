"""The visit of last time: when the human left, and how the room was parted."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec import Struct
from team_console.console.tui.state_files import replace_file, state_file

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
