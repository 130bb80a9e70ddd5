"""The eleven steps of a temporary agent (seed 002), and which are missing, out of order or doubled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Set
from itertools import islice
from operator import itemgetter

from msgspec import Struct, field
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.membership import ROSTER
from team_console.store.protocol.parsing import named_agent
from team_console.store.protocol.sprint_plans import DISPATCH, dispatched_name
from team_console.store.views.rows import Lifecycle, Step

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
PERMANENT = frozenset({"master", "resident", "slave"})
"""Roles of agents without a lifecycle."""
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


class Rosters:
    """The rosters that were sent, in order."""

    def __init__(self, facts: Iterable[Entry]) -> None:
        self._sent = [(entry, temps_of(entry)) for entry in facts if entry.read.name == ROSTER]
        self._orders = [entry.order for entry, _ in self._sent]

    def first(self, agent: str, *, listed: bool, after: Order, before: Order | None = None) -> Entry | None:
        """The first roster in that stretch that lists `agent` as a temporary one, or does not."""
        for entry, temps in islice(self._sent, bisect_right(self._orders, after), None):
            if before is not None and entry.order >= before:
                return None
            if (agent in temps) is listed:
                return entry
        return None

    def latest(self, agent: str, *, before: Order) -> Entry | None:
        """The latest roster before that moment, if it lists `agent` as a temporary one."""
        place = bisect_left(self._orders, before)
        return self._sent[place - 1][0] if place and agent in self._sent[place - 1][1] else None


def temps_of(roster: Entry) -> frozenset[str]:
    """The temporary agents a roster lists."""
    lists = roster.read.body.get("roster")
    temps = lists.get("temps") if isinstance(lists, Mapping) else None
    return frozenset(temp for temp in temps if isinstance(temp, str)) if isinstance(temps, list) else frozenset()


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


def lifecycles(facts: Iterable[Entry], around: Surroundings, permanent: Set[str]) -> tuple[Lifecycle, ...]:
    """Build the lifecycles of all temporary agents, those still going on first, then by the time they began.

    Args:
        facts: In order.
        permanent: Agents that have none.
    """
    by_agent: dict[str, list[Entry]] = {}
    for entry in facts:
        for agent in agents_of(entry):
            by_agent.setdefault(agent, []).append(entry)
    rows: list[tuple[tuple[bool, Order, int], Lifecycle]] = []
    for agent, own in by_agent.items():
        if agent not in permanent:
            for number, life in enumerate(filter(is_temporary, lives_of(agent, own)), start=1):
                row = lifecycle(life, number, around)
                rows.append(((row.ended, own[0].order, number), row))
    return tuple([row for _, row in sorted(rows, key=itemgetter(0))])


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
