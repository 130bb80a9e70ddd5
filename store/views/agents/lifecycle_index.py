"""The lifecycles of all temporary agents; a changed message rebuilds only the lives it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from team_console.store.model.reuse.memo import Memo, Multimap
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.relations.membership import ROSTER
from team_console.store.views.agents.lifecycles import Surroundings, agents_of, is_temporary, lifecycle, lives_of
from team_console.store.views.agents.sent_rosters import Rosters
from team_console.store.views.ordered import Ordered
from team_console.store.views.rows import Lifecycle

_PERMANENT = frozenset({"master", "resident", "slave"})
_ROSTER_STEPS = ((3, 4), (10, 11))
"""A step, and the one that the first fitting roster after it makes."""
_Lives = dict[tuple[bool, Order, int], Lifecycle]
"""The lives of one agent by their keys among the rows."""


class LifecycleIndex:
    """Lifecycles, those still going on first, then by the time they began."""

    def __init__(self) -> None:
        self._facts = Multimap(agents_of)
        self._lives = Memo[str, _Lives]()
        self._rows: Ordered[Lifecycle] = Ordered()
        self._rosters = Rosters()
        self._rosters_changed: set[datetime] = set()
        self._permanent: frozenset[str] = frozenset()
        self._judged_by = (True, True)

    @property
    def rows(self) -> tuple[Lifecycle, ...]:
        """All of them."""
        return self._rows.rows

    def add(self, entry: Entry) -> None:
        """A fact came."""
        if entry.read.name == ROSTER:
            self._rosters.add(entry)
            self._rosters_changed.add(entry.when)
        self._lives.touch(*self._facts.put(entry))

    def remove(self, entry: Entry) -> None:
        """A fact was changed; its successor is added next."""
        if entry.read.name == ROSTER:
            self._rosters.remove(entry)
            self._rosters_changed.add(entry.when)
        self._lives.touch(*self._facts.drop(entry))

    def refresh(
        self,
        *,
        roles: Mapping[str, str],
        asked: Callable[[str], Entry | None],
        refused: Callable[[str], bool],
        changed: Iterable[str] = (),
        complete: bool = True,
    ) -> None:
        """Rebuild the lives that were touched; all of them once the past is `complete`, or no longer is.

        Args:
            changed: Agents of whom something was asked or answered since.
        """
        around = Surroundings(self._rosters, "resident" in roles.values(), asked, refused, complete)
        self._touch(changed, frozenset(name for name, role in roles.items() if role in _PERMANENT), around)
        renewed = self._lives.renew(lambda agent: self._built(agent, around))
        for _, before, _ in renewed:  # drop all before putting any: what was one agent's beginning may be another's now
            for key in before or ():
                self._rows.drop(key)
        for _, _, after in renewed:
            for key, life in (after or {}).items():
                self._rows.put(key, life)

    def _touch(self, changed: Iterable[str], permanent: frozenset[str], around: Surroundings) -> None:
        """Whose lives may be others by what is told of the team."""
        self._lives.touch(*changed, *(permanent ^ self._permanent))
        if self._judged_by != (around.has_residents, around.complete):
            self._lives.touch(*self._facts.keys)
        for moment in self._rosters_changed:
            self._lives.touch(*(life.agent for life in self._rows.rows if _may_rest_on(life, moment)))
        self._rosters_changed.clear()
        self._permanent, self._judged_by = permanent, (around.has_residents, around.complete)

    def _built(self, agent: str, around: Surroundings) -> _Lives | None:
        facts = sorted(self._facts.of(agent), key=lambda entry: entry.order)
        if not facts or agent in self._permanent:
            return None
        lives = [life for life in lives_of(agent, facts) if is_temporary(life)]
        built = [lifecycle(life, number, around) for number, life in enumerate(lives, start=1)]
        return {(life.ended, facts[0].order, number): life for number, life in enumerate(built)}


def _may_rest_on(life: Lifecycle, moment: datetime) -> bool:
    """Whether a roster that was sent at this moment could make a step of this life."""
    for event, listing in _ROSTER_STEPS:
        happened, listed = life.steps[event - 1], life.steps[listing - 1]
        is_after = happened.message is not None and (happened.at is None or happened.at <= moment)
        if (is_after or listed.message is None) and (listed.at is None or moment <= listed.at):
            return True
    return False
