"""When each agent last wrote or read anything, and when it last said something that shows it is alive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.protocol.checks import expected_on_roster, roster_gaps
from team_console.store.protocol.entries import EARLIEST, Entry, Order
from team_console.store.protocol.membership import Membership, report_of, reporter_of
from team_console.store.protocol.relations import is_speech
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.ordered import ByAge, Ordered


class LastSeen:
    """Times by agent. What left the queue still counts: an agent does not un-speak, and does not un-read."""

    def __init__(self) -> None:
        self._live: defaultdict[str, ByAge] = defaultdict(ByAge)
        self._speech: defaultdict[str, ByAge] = defaultdict(ByAge)
        self._past: dict[str, Order] = {}
        self._past_speech: dict[str, Order] = {}
        self._reading: defaultdict[str, Ordered[datetime]] = defaultdict(Ordered)
        self._past_reading: dict[str, datetime] = {}
        self._changes = self._cleared = 0
        self._changed: dict[str, int] = {}

    def version(self, name: str) -> int:
        """A number that is another one once something was learnt of this agent."""
        return self._changed.get(name, self._cleared)

    @property
    def names(self) -> Iterable[str]:
        """Everybody who ever wrote, as far as known."""
        return self._live.keys() | self._past.keys()

    @property
    def live(self) -> Iterable[str]:
        """Everybody of whom there is a live message."""
        return self._live.keys()

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        if entry.message.more:
            for name, moment in _readings(entry).items():
                self._reading[name].put((moment, entry.place), moment)
                self._learnt_of(name)
        sender = entry.message.sender
        self._learnt_of(sender)
        self._live[sender].add(entry)
        if is_speech(entry):
            self._speech[sender].add(entry)

    def remove(self, entry: Entry) -> None:
        """A message was changed; its successor is added next."""
        for name, moment in _readings(entry).items():
            self._reading[name].drop((moment, entry.place))
            self._learnt_of(name)
        self._learnt_of(entry.message.sender)
        for known in (self._live, self._speech):
            entries = known.get(entry.message.sender)
            if entries is not None:
                entries.drop(entry)
                if not entries:
                    del known[entry.message.sender]

    def remember(self, entry: Entry) -> None:
        """A message is in the archive."""
        for name, moment in _readings(entry).items():
            self._past_reading[name] = max(moment, self._past_reading.get(name, moment))
            self._learnt_of(name)
        sender = entry.message.sender
        self._learnt_of(sender)
        self._past[sender] = max(entry.order, self._past.get(sender, entry.order))
        if is_speech(entry):
            self._past_speech[sender] = max(entry.order, self._past_speech.get(sender, entry.order))

    def clear_live(self) -> None:
        """Forget the queue; what was archived stays known."""
        self._live.clear()
        self._reading.clear()
        self._speech.clear()
        self._changed.clear()
        self._changes += 1
        self._cleared = self._changes

    def last_seen(self, name: str) -> datetime | None:
        """When the agent last wrote or read, None when it never did or the time is unknown."""
        live = self._reading.get(name)
        read = live.last if live is not None else None
        moments = (self.last_written(name), read, self._past_reading.get(name))
        return max((moment for moment in moments if moment is not None), default=None)

    def last_written(self, name: str) -> datetime | None:
        """When the agent last wrote, None when it never did or the time is unknown."""
        order = _latest(self._live.get(name), self._past.get(name))
        return None if order is None or order[0] is EARLIEST else order[0]

    def spoke(self, name: str) -> Order | None:
        """When it last said anything but that it agrees to stop."""
        return _latest(self._speech.get(name), self._past_speech.get(name))

    def _learnt_of(self, name: str) -> None:
        self._changes += 1
        self._changed[name] = self._changes


def _readings(entry: Entry) -> dict[str, datetime]:
    """When each agent last read or took the message, as far as its record tells."""
    latest: dict[str, datetime] = {}
    for name, text in entry.message.reading_times():
        moment = from_text(text)
        if moment is not None:
            latest[name] = max(moment, latest.get(name, moment))
    return latest


def _latest(live: ByAge | None, past: Order | None) -> Order | None:
    if live is None or live.last is None:
        return past
    return live.last.order if past is None else max(live.last.order, past)


# Last reports: what each agent last said of its own state, live or archived.


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


# Where the latest roster and what is known of creations, destructions and settings do not agree.


def drift(config: TeamConfig, team: Membership, facts: Iterable[Entry]) -> Iterator[Problem]:
    """`ROSTER_DRIFT` for each agent the latest roster wrongly leaves out or still lists."""
    roster = team.roster
    if roster is None:
        return
    expected = expected_on_roster(config, (entry for entry in facts if entry.order < roster.order))
    for name, wrong in roster_gaps(roster.read, expected):
        hint = "The next complete roster repairs it; the lead sends it with: team-console roster --send"
        text = f"{name} {wrong} in the latest roster"
        yield Problem("ROSTER_DRIFT", "warning", f"{roster.message.message_id} {name}", text, hint)
