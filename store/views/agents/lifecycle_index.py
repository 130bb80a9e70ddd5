"""The lifecycles of all temporary agents; a changed message rebuilds only the lives it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.relations.membership import ROSTER
from team_console.store.views.agents.lifecycles import LIFE, agent_of, is_temporary, lifecycle, lives_of
from team_console.store.views.agents.sent_rosters import Rosters
from team_console.store.views.ordered import Ordered
from team_console.store.views.rows import Lifecycle

_PERMANENT = frozenset({"master", "resident", "slave"})


class LifecycleIndex:
    """Lifecycles, those still going on first, then by the time they began."""

    def __init__(self) -> None:
        self._facts: dict[str, Ordered[Entry]] = {}
        self._rosters = Rosters()
        self._built: dict[str, dict[tuple[bool, Order, int], Lifecycle]] = {}
        """Agent -> its lives by their keys among the rows."""
        self._rows: Ordered[Lifecycle] = Ordered()
        self._dirty: set[str] = set()
        self._vacated: set[Order] = set()
        self._permanent: set[str] = set()
        self._complete = True

    @property
    def rows(self) -> tuple[Lifecycle, ...]:
        """All of them."""
        return self._rows.rows

    def add(self, entry: Entry) -> None:
        """A fact came."""
        if entry.read.name == ROSTER:
            newest = self._rosters.newest
            self._rosters.add(entry)
            in_place = entry.order in self._vacated
            self._dirty |= self._facts.keys() if newest and newest > entry.order and not in_place else self._waiting()
            if in_place:
                self._dirty |= self._facts.keys() & self._resting_on(entry.order)
            return
        agent = self._agent(entry)
        if agent is not None:
            self._facts.setdefault(agent, Ordered()).put(entry.order, entry)
            self._dirty.add(agent)

    def remove(self, entry: Entry) -> None:
        """A fact was changed; its successor is added next."""
        if entry.read.name == ROSTER:
            self._dirty |= self._resting_on(entry.order)
            self._rosters.remove(entry)
            self._vacated.add(entry.order)
            return
        agent = self._agent(entry)
        if agent is not None and agent in self._facts:
            self._facts[agent].drop(entry.order)
            self._dirty.add(agent)

    def touch(self, agents: Iterable[str]) -> None:
        """What was asked or answered about these agents changed."""
        self._dirty |= self._facts.keys() & set(agents)

    def refresh(
        self,
        *,
        roles: Mapping[str, str],
        asked: Mapping[str, Entry],
        refused: Callable[[str], bool],
        complete: bool = True,
    ) -> None:
        """Rebuild the lives that were touched; all of them once the past is `complete`, or no longer is."""
        if complete is not self._complete:
            self._complete = complete
            self._dirty |= self._facts.keys()
        permanent = {name for name, role in roles.items() if role in _PERMANENT}
        self._dirty |= self._facts.keys() & (permanent ^ self._permanent)
        self._permanent = permanent
        wanted = "resident" in roles.values()
        if wanted is not self._rosters.wanted:
            self._rosters.wanted = wanted
            self._dirty |= self._facts.keys()
        for agent in self._dirty:
            self._forget(agent)
        for agent in self._dirty:
            self._rebuild(agent, asked=asked, refused=refused)
        self._dirty.clear()
        self._vacated.clear()

    def _forget(self, agent: str) -> None:
        for key in self._built.pop(agent, ()):
            self._rows.drop(key)

    def _rebuild(self, agent: str, *, asked: Mapping[str, Entry], refused: Callable[[str], bool]) -> None:
        facts = self._facts.get(agent)
        if not facts or agent in self._permanent:
            return
        lives = [life for life in lives_of(agent, facts.rows) if is_temporary(life)]
        built = [
            lifecycle(
                life,
                number=number,
                rosters=self._rosters,
                asked=asked,
                refused=refused,
                complete=self._complete,
            )
            for number, life in enumerate(lives, start=1)
        ]
        began = facts.rows[0].order
        self._built[agent] = {(life.ended, began, number): life for number, life in enumerate(built)}
        for key, life in self._built[agent].items():
            self._rows.put(key, life)

    def _waiting(self) -> set[str]:
        """Agents whose life still waits for a roster to list them, or to list them no more."""
        return {
            agent
            for agent, built in self._built.items()
            if any(life.steps[3].at is None or (life.ended and life.steps[10].at is None) for life in built.values())
        }

    def _resting_on(self, order: Order) -> set[str]:
        """Agents whose steps were made by the roster at this order."""
        moment = order[0]
        return {
            agent
            for agent, built in self._built.items()
            if any(life.steps[place].at == moment for life in built.values() for place in (3, 10))
        }

    @staticmethod
    def _agent(entry: Entry) -> str | None:
        return agent_of(entry) if entry.read.name in LIFE else None
