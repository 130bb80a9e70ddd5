"""Last reports: what each agent last said of its own state, live or archived."""

from __future__ import annotations

from team_console.store.protocol.entries import Entry
from team_console.store.protocol.relations.state_reports import report_of, reporter_of
from team_console.store.views.ordered import Ordered


class LastReports:
    """State reports by sender. What left the queue still counts until a newer one comes."""

    def __init__(self) -> None:
        self._live: dict[str, Ordered[Entry]] = {}
        self._past: dict[str, Entry] = {}

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        if report_of(entry.message) is not None:
            self._live.setdefault(reporter_of(entry.message), Ordered()).put(entry.order, entry)

    def remove(self, entry: Entry) -> None:
        """A message was changed or left; its successor is added next."""
        reports = self._live.get(reporter_of(entry.message))
        if reports is not None:
            reports.drop(entry.order)

    def remember(self, entry: Entry) -> None:
        """A message is in the archive."""
        name = reporter_of(entry.message)
        known = self._past.get(name)
        if report_of(entry.message) is not None and (known is None or known.order[0] <= entry.order[0]):
            self._past[name] = entry

    def clear_live(self) -> None:
        """Forget the queue; what was archived stays known."""
        self._live.clear()

    def latest(self, name: str) -> Entry | None:
        """The newest report of this agent."""
        reports, past = self._live.get(name), self._past.get(name)
        live = reports.last if reports is not None else None
        if live is None or past is None:
            return live or past
        return live if live.order[0] >= past.order[0] else past
