"""The rosters that were sent, and the first after some moment that lists an agent or does not."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from team_console.store.protocol.entries import Entry, Order
from team_console.store.views.ordered import Ordered


class Rosters:
    """Roster messages in order."""

    def __init__(self) -> None:
        self._sent: Ordered[tuple[Entry, frozenset[str]]] = Ordered()

    def add(self, entry: Entry) -> None:
        """A roster was sent."""
        self._sent.put(entry.order, (entry, temps_of(entry)))

    def remove(self, entry: Entry) -> None:
        """A roster was changed."""
        self._sent.drop(entry.order)

    def first(self, agent: str, *, listed: bool, after: Order, before: Order | None = None) -> Entry | None:
        """The first roster in that stretch that lists `agent` as a temporary one, or does not."""
        rows = self._sent.rows
        for entry, temps in rows[bisect_right(rows, after, key=lambda row: row[0].order) :]:
            if before is not None and entry.order >= before:
                return None
            if (agent in temps) is listed:
                return entry
        return None

    def latest(self, agent: str, *, before: Order) -> Entry | None:
        """The latest roster before that moment, if it lists `agent` as a temporary one."""
        rows = self._sent.rows
        place = bisect_left(rows, before, key=lambda row: row[0].order)
        return rows[place - 1][0] if place and agent in rows[place - 1][1] else None


def temps_of(roster: Entry) -> frozenset[str]:
    """The temporary agents a roster lists."""
    lists = roster.read.body.get("roster")
    temps = lists.get("temps") if isinstance(lists, Mapping) else None
    return frozenset(temp for temp in temps if isinstance(temp, str)) if isinstance(temps, list) else frozenset()
