"""The eleven steps of a temporary agent (seed 002), and which are missing, out of order or doubled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from team_console.store.model.reuse import Memo, Multimap
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.membership import ROSTER
from team_console.store.protocol.parsing import named_agent
from team_console.store.protocol.sprint_plans import DISPATCH, dispatched_name
from team_console.store.views.ordered import Ordered
from team_console.store.views.rows import Lifecycle, Step


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


TITLES = (
    "asked for",
    "created by the Master",
    "announced to the asker",
    "on the roster",
    "got its task",
    "works",
    "reported",
    "end asked for",
    "told to stop",
    "end confirmed",
    "off the roster",
)
"""What happened at each step, from 1."""
_UNSEEN = frozenset({2, 6})
"""Steps that are no message; they are known by the message after them."""
_BY_ROSTER = frozenset({4, 11})
_BY_DISPATCH = frozenset({2, 3, 4, 5})
_STEPS = {
    DISPATCH: 1,
    "AGENT_CREATED": 3,
    "TASK_ASSIGNMENT": 5,
    "AGENT_COMPLETE": 7,
    "AGENT_DESTROY_REQUEST": 8,
    "shutdown_request": 9,
    "AGENT_DESTROYED": 10,
}


class Surroundings(Struct, frozen=True):
    """What a life rests on beside the messages of its agent.

    Attributes:
        has_residents: Whether there is anybody to send a roster to.
        asked: The request that the AGENT_CREATED with this message id answers.
        refused: Whether the shutdown with this request id was refused, so that asking again is no doubled step.
        complete: Whether all messages are known; if not, steps before the first one seen are not called missing.
    """

    rosters: Rosters
    has_residents: bool
    asked: Callable[[str], Entry | None]
    refused: Callable[[str], bool]
    complete: bool


class Life(Struct):
    """One agent from its creation to its end; a name used again begins a new one."""

    agent: str
    seen: dict[int, list[Entry]] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether its end was confirmed; one that was dispatched is over once it was told to stop."""
        return 10 in self.seen or (self.was_dispatched and 9 in self.seen)

    @property
    def was_dispatched(self) -> bool:
        """Whether it was asked for together with its task."""
        asked = self.first(1)
        return asked is not None and asked.read.name == DISPATCH

    def first(self, step: int) -> Entry | None:
        """The message that first made this step."""
        entries = self.seen.get(step)
        return entries[0] if entries else None


def agents_of(entry: Entry) -> tuple[str, ...]:
    """The temporary agent in whose life a fact is a step, none when it is one in no life."""
    name = entry.read.name
    if name in ("TASK_ASSIGNMENT", "shutdown_request"):
        return entry.message.recipients[:1]
    if name == "AGENT_COMPLETE":
        return (entry.message.sender,)
    if name == DISPATCH:
        return (dispatched_name(entry.read),)
    agent = named_agent(entry.read) if name in _STEPS else ""
    return (agent,) if agent else ()


def lives_of(agent: str, facts: Iterable[Entry]) -> list[Life]:
    """Split the facts of one agent, in order, into its lives."""
    lives: list[Life] = []
    for entry in facts:
        step = _STEPS[entry.read.name]
        if not lives or (step in (1, 3, 5) and lives[-1].is_over):
            lives.append(Life(agent))
        lives[-1].seen.setdefault(step, []).append(entry)
    return lives


def is_temporary(life: Life) -> bool:
    """Whether this is the life of a temporary agent: it was asked for, created, given a task, or to be ended."""
    return not life.seen.keys().isdisjoint((1, 3, 5, 7, 8))


def lifecycle(life: Life, number: int, around: Surroundings) -> Lifecycle:
    """The eleven steps of one life; `number` says which life of this name it is, from 1."""
    _complete(life, around)
    steps = tuple(_step(life, item) for item in range(1, 12))
    first, last = 1 if around.complete else min(life.seen, default=1), max(life.seen, default=0)
    silent = _UNSEEN if around.has_residents and not life.was_dispatched else _UNSEEN | _BY_ROSTER
    silent |= _BY_DISPATCH if life.was_dispatched else frozenset()
    return Lifecycle(
        key=life.agent if number == 1 else f"{life.agent}#{number}",
        agent=life.agent,
        slave=_slave(life),
        steps=steps,
        missing=tuple(item for item in range(first, last) if item not in life.seen and item not in silent),
        out_of_order=_out_of_order(life),
        doubled=tuple(item for item in sorted(life.seen) if _is_doubled(life, item, around.refused)),
        ended=life.is_over,
    )


def _complete(life: Life, around: Surroundings) -> None:
    """Add the steps that are not the agent's own messages: the request and the rosters."""
    created, destroyed = life.first(3), life.first(10)
    question = around.asked(created.message.message_id) if created is not None else None
    if question is not None:
        life.seen[1] = [question]
    end = destroyed.order if destroyed is not None else None
    begun = created or life.first(5)
    if begun is not None and not life.was_dispatched:
        rosters = around.rosters
        listed = created and rosters.first(life.agent, listed=True, after=created.order, before=end)
        listed = listed or rosters.latest(life.agent, before=begun.order)
        if listed is not None:
            life.seen[4] = [listed]
    if end is not None:
        left = around.rosters.first(life.agent, listed=False, after=end)
        if left is not None:
            life.seen[11] = [left]


def _step(life: Life, number: int) -> Step:
    entry = life.first(number)
    if entry is not None:
        title = "asked for, with its task" if entry.read.name == DISPATCH else TITLES[number - 1]
        return Step(number, title, entry.moment, entry.message)
    after = life.first(number + 1) if number in _UNSEEN else None
    return Step(number, TITLES[number - 1], after.moment if after is not None else None)


def _out_of_order(life: Life) -> tuple[int, ...]:
    """Steps that were made before an earlier one was."""
    found: list[int] = []
    latest: Entry | None = None
    for number in sorted(life.seen):
        entry = life.seen[number][0]
        if entry.moment is None:
            continue
        if latest is not None and _came_before(entry, latest):
            found.append(number)
        else:
            latest = entry
    return tuple(found)


def _came_before(entry: Entry, other: Entry) -> bool:
    """By time; within one second, which is all that many writers tell, by the order in which they were stored."""
    same_second = entry.when.replace(microsecond=0) == other.when.replace(microsecond=0)
    if same_second and 0 in (entry.when.microsecond, other.when.microsecond):
        return entry.place < other.place
    return entry.when < other.when


def _is_doubled(life: Life, step: int, refused: Callable[[str], bool]) -> bool:
    ids = {entry.message.message_id: entry for entry in life.seen[step]}
    if step != 9:
        return len(ids) > 1
    return any(not refused(entry.read.request_id or "") for entry in list(ids.values())[:-1])


def _slave(life: Life) -> str:
    """The slave it works for: whoever gave the task, was told of the creation, or asked for the end."""
    for step in (1, 5, 8):
        entry = life.first(step)
        if entry is not None:
            return entry.message.sender
    for step in (3, 10, 7):
        entry = life.first(step)
        if entry is not None:
            return entry.message.recipients[0]
    return ""


# The lifecycles of all temporary agents; a changed message rebuilds only the lives it belongs to.

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
