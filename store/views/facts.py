"""What counts whether it is live or archived: rosters, stops, requests, batches, lifecycles and who wrote when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from team_console.store.model.errors import Problem
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.checks import report_targets
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.membership import CREATED, MEMBERSHIP, Membership, membership
from team_console.store.protocol.parsing import named_agent
from team_console.store.protocol.relations import REQUEST, RESPONSE, Stop, is_speech, shutdowns
from team_console.store.protocol.sprint_plans import Plan, plans_of
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.last_seen import LastSeen, drift
from team_console.store.views.lifecycles import LifecycleIndex
from team_console.store.views.ordered import Ordered
from team_console.store.views.requests import RequestIndex
from team_console.store.views.sprint import BATCH_FACTS, Sprint, sprint

_SHUTDOWN = frozenset({REQUEST, RESPONSE})
_PARTS = (MEMBERSHIP, _SHUTDOWN, BATCH_FACTS)
"""Names of the facts that are folded together, each part for itself."""


class Facts:
    """Folds over facts. Each part is rebuilt only when a fact of its own came, changed or went."""

    def __init__(self, config: TeamConfig, recorded: RecordedFacts | None = None) -> None:
        self.requests = RequestIndex(config, recorded)
        self.lifecycles = LifecycleIndex()
        self.team: Membership = membership(config, ())
        self.stops: dict[str, Stop] = {}
        self.sprint = Sprint()
        self.report_to: dict[str, frozenset[str]] = {}
        self.plans: dict[str, Plan] = {}
        self.drift: tuple[Problem, ...] = ()
        self._config, self._recorded = config, recorded
        self._parts: dict[frozenset[str], Ordered[Entry]] = {names: Ordered() for names in _PARTS}
        self._dirty: set[frozenset[str]] = set()
        self._left: dict[tuple[frozenset[str], Order], Entry] = {}

    def add(self, entry: Entry) -> None:
        """A fact came."""
        self.requests.add(entry)
        self.lifecycles.add(entry)
        self._hear_of_creation(entry)
        for names in _parts_of(entry):
            self._parts[names].put(entry.order, entry)
            before = self._left.pop((names, entry.order), None)
            # Who is in the team is not worked out again because somebody read a roster.
            if before is None or names is BATCH_FACTS or not _says_the_same(before, entry):
                self._dirty.add(names)

    def remove(self, entry: Entry) -> None:
        """A fact was changed or is a copy; what replaces it is added apart."""
        self.requests.remove(entry)
        self.lifecycles.remove(entry)
        self._hear_of_creation(entry)
        for names in _parts_of(entry):
            self._parts[names].drop(entry.order)
            self._left[names, entry.order] = entry

    def heard(self, entries: Iterable[Entry]) -> None:
        """Messages of any kind came or went."""
        for name in {entry.message.sender for entry in entries if is_speech(entry)}:
            self.requests.heard(name)

    def refresh(self, now: datetime, last_seen: LastSeen, *, complete: bool) -> None:
        """Bring every part up to date; `complete` says whether all archived facts are known."""
        self._dirty |= {names for names, _ in self._left}
        self._left.clear()
        if MEMBERSHIP in self._dirty:
            self.team = membership(self._config, self._parts[MEMBERSHIP].rows)
            self.drift = tuple(drift(self._config, self.team, self._parts[MEMBERSHIP].rows))
        if not self._dirty.isdisjoint((MEMBERSHIP, _SHUTDOWN)):
            self.stops = shutdowns(self._config, self.team, self._parts[_SHUTDOWN].rows, self._recorded)
        if BATCH_FACTS in self._dirty:
            batches = self._parts[BATCH_FACTS].rows
            self.sprint = sprint(batches)
            self.report_to = report_targets(entry.read for entry in batches)
            self.plans = plans_of(entry.read for entry in batches)
        self._dirty.clear()
        self.lifecycles.refresh(
            roles={**self.team.gone, **self.team.roles},
            asked=self.requests.creation,
            refused=self.requests.listed.is_refused,
            changed=self.requests.refresh(now, last_seen=last_seen, team=self.team),
            complete=complete,
        )

    def _hear_of_creation(self, entry: Entry) -> None:
        if entry.read.name == CREATED:
            self.requests.heard(named_agent(entry.read))


def _parts_of(entry: Entry) -> list[frozenset[str]]:
    return [names for names in _PARTS if entry.read.name in names] if entry.read.kind is not None else []


def _says_the_same(entry: Entry, other: Entry) -> bool:
    here, there = entry.message, other.message
    same = (here.sender, here.recipients, entry.read.name) == (there.sender, there.recipients, other.read.name)
    return same and entry.read.body == other.read.body and here.message_id == there.message_id
