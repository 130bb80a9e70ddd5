"""Sprints (seed 002): batches with their stories, and the eleven steps of each temporary agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from team_console.store.protocol.foreign_fields import ids_listed, key_in, mapping_in, texts_in
from team_console.store.protocol.membership import DESTROYED, ROSTER, created_agent
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.protocol.sprint_bodies import (
    BATCH_REPORT,
    COMPLETE,
    CORRECTION,
    DISPATCH,
    PLAN,
    batch_key,
    dispatched_name,
    planned,
    replanned,
)
from team_console.store.views.facts import Requests
from team_console.store.views.rows import Batch, Lifecycle, Sprint, Step, Story, StoryState

TASK = "TASK_ASSIGNMENT"
_DONE_WORDS = frozenset({"success", "passed", "done", "complete", "completed", "skipped"})
_FAILED_WORDS = frozenset(
    {"failure", "failed", "error", "timeout", "needs-intervention", "completeness-violation", "test-regression"}
    | {"scope-violation", "e2e-failure", "login-failure"}
)
_AGENTS_THAT_HAND_ON = ("story-creator", "story-reviewer", "dev-runner")
"""Agents whose success hands the story on; it is not done yet (`docs/contributing/requirements.md` B.4)."""


class _Batch(Struct):
    batch_id: str
    stories: list[str] = []
    slave: str = ""
    source: PlacedMessage | None = None
    report: PlacedMessage | None = None


class _Session(Struct):
    name: str
    batches: dict[str, _Batch] = {}
    needs: dict[str, list[str]] = {}
    states: dict[str, StoryState] = {}
    agents: dict[str, str] = {}
    slaves: dict[str, str] = {}

    def plan(self, batches: Mapping[str, list[str]], source: PlacedMessage) -> None:
        """Take over a plan in place of what was planned before; what was reported stays as it is."""
        before = self.batches
        self.batches = {key: batch for key, batch in before.items() if batch.report is not None}
        for key, stories in batches.items():
            slave = next((agent for story in stories if (agent := self.slaves.get(story))), "")
            known = before.get(key)
            source_of = known.source if known is not None and known.stories == stories else source
            self.batches.setdefault(key, _Batch(key, stories, slave, source_of))

    def batch_of(self, story: str) -> _Batch | None:
        """Return the batch that holds a story."""
        return next((batch for batch in self.batches.values() if story in batch.stories), None)


class _SprintFold:
    """Sessions by name, and agent -> the session and the story it was given and has not reported."""

    def __init__(self) -> None:
        self.sessions: dict[str, _Session] = {}
        self.work: dict[str, tuple[str, str]] = {}

    def _session(self, entry: PlacedMessage) -> _Session:
        name = key_in(entry.read.body, "session_id")
        return self.sessions.setdefault(name, _Session(name))

    def plan(self, entry: PlacedMessage) -> None:
        """The latest plan of a session wins over earlier ones."""
        body, session = entry.read.body, self._session(entry)
        session.plan(planned(body.get("batches")), entry)
        graph = mapping_in(body, "dependency_graph")
        for story in graph:
            session.needs[str(story)] = ids_listed(mapping_in(graph, story).get("depends_on"))

    def correct(self, entry: PlacedMessage) -> None:
        """Take a correction: it drops what it drops, and what an agent works on stays where it is."""
        session = self._session(entry)
        now = {key: batch.stories for key, batch in session.batches.items() if batch.report is None}
        begun = {story for story, state in session.states.items() if state is not StoryState.OPEN}
        session.plan(replanned(now, entry.read.body, begun), entry)

    def task(self, entry: PlacedMessage) -> None:
        """Note that an agent works on a story."""
        body, session, is_dispatch = entry.read.body, self._session(entry), entry.read.name == DISPATCH
        agent = dispatched_name(entry.read) if is_dispatch else entry.message.recipients[0]
        story = key_in(body, "story_key")
        if not story:
            return
        slave = key_in(body, "report_to") or entry.message.sender
        batch = session.batch_of(story)
        if batch is None:
            key = _batch_of_slave(slave)
            batch = session.batches.setdefault(key, _Batch(key, [], slave, entry))
            batch.stories.append(story)
        batch.slave = batch.slave or slave
        session.slaves[story] = slave
        session.states[story], session.agents[story] = StoryState.RUNNING, agent
        self.work[agent] = session.name, story

    def report(self, entry: PlacedMessage) -> None:
        """Note how an agent says that its work on a story ended."""
        body, agent = entry.read.body, entry.message.sender
        name, story = self.work.pop(agent, ("", ""))
        story = story or key_in(body, "story_key")
        session = self.sessions.get(name or key_in(body, "session_id"))
        if session is None or not story or session.batch_of(story) is None:
            return
        state = report_state(body)
        if state is StoryState.FAILED or (state is StoryState.DONE and not agent.startswith(_AGENTS_THAT_HAND_ON)):
            session.states[story] = state
        session.agents[story] = agent

    def end(self, entry: PlacedMessage) -> None:
        """Note that nobody works any more on the story of an agent that was destroyed."""
        agent = created_agent(entry.read) or ""
        self.work.pop(agent, None)
        for session in self.sessions.values():
            for story, name in session.agents.items():
                if name == agent and session.states.get(story) is StoryState.RUNNING:
                    session.states[story] = StoryState.OPEN

    def finish(self, entry: PlacedMessage) -> None:
        """Take the report of a slave on its batch."""
        body, session, slave = entry.read.body, self._session(entry), entry.message.sender
        key = batch_key(body.get("batch_id")) or _batch_of_slave(slave)
        batch = session.batches.setdefault(key, _Batch(key, [], slave, entry))
        batch.slave, batch.report = slave, entry
        for state, name in ((StoryState.DONE, "stories_completed"), (StoryState.FAILED, "stories_failed")):
            for story in ids_listed(body.get(name)):
                if session.batch_of(story) is None:
                    batch.stories.append(story)
                session.states[story] = state


_FOLD_OF_KIND: Mapping[str, Callable[[_SprintFold, PlacedMessage], None]] = {
    PLAN: _SprintFold.plan,
    CORRECTION: _SprintFold.correct,
    TASK: _SprintFold.task,
    DISPATCH: _SprintFold.task,
    COMPLETE: _SprintFold.report,
    BATCH_REPORT: _SprintFold.finish,
    DESTROYED: _SprintFold.end,
}
BATCH_FACTS = frozenset(_FOLD_OF_KIND)
"""Kinds that batches are made of."""


def sprint(facts: Iterable[PlacedMessage]) -> Sprint:
    """Fold the facts of `BATCH_FACTS`, in order."""
    fold = _SprintFold()
    for entry in facts:
        _FOLD_OF_KIND[entry.read.name](fold, entry)
    unfinished: dict[str, tuple[str, ...]] = {}
    following: dict[str, list[str]] = {}
    batches: list[Batch] = []
    done: set[str] = set()
    for session in fold.sessions.values():
        done |= {story for story, state in session.states.items() if state is StoryState.DONE}
        for batch in session.batches.values():
            batches.append(_batch_row(session, batch))
            left = tuple(story for story in batch.stories if session.states.get(story) is not StoryState.DONE)
            if batch.slave and left:
                unfinished[batch.slave] = unfinished.get(batch.slave, ()) + left
        for story, needs in session.needs.items():
            for need in needs:
                following.setdefault(need, []).append(story)
    work = {agent: story for agent, (_, story) in fold.work.items()}
    return Sprint(tuple(batches), work, unfinished, following, frozenset(done))


def report_state(body: Mapping[str, Any]) -> StoryState | None:
    """Return the end of an agent's work on a story by its report; None where the report says neither."""
    status = key_in(body, "status").lower()
    if status in _FAILED_WORDS:
        return StoryState.FAILED
    return StoryState.DONE if status in _DONE_WORDS else None


def _batch_row(session: _Session, batch: _Batch) -> Batch:
    """Return a batch of a session as it is shown."""
    shown = batch.report or batch.source
    return Batch(
        key=f"{session.name}/{batch.batch_id}",
        session_id=session.name,
        batch_id=batch.batch_id,
        slave=batch.slave,
        stories=tuple(_story(session, story) for story in batch.stories),
        complete=batch.report is not None,
        report=key_in(batch.report.read.body, "batch_report") if batch.report is not None else "",
        message=shown.message if shown is not None else None,
    )


def _story(session: _Session, key: str) -> Story:
    needs = tuple(session.needs.get(key, ()))
    state = session.states.get(key, StoryState.OPEN)
    blocked = tuple(need for need in needs if session.states.get(need) is not StoryState.DONE)
    return Story(key, state, session.agents.get(key, ""), needs, () if state is StoryState.DONE else blocked)


def _batch_of_slave(slave: str) -> str:
    return slave.removeprefix("slave-").removeprefix("batch-")


# The eleven steps of a temporary agent (seed 002), and which are missing or out of order.

STEP_TITLES = (
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
_PERMANENT = frozenset({"master", "resident", "slave"})
"""Roles of agents without a lifecycle."""
_ASKED, _CREATED, _ANNOUNCED, _LISTED, _TASK, _WORKS, _REPORTED, _END_ASKED, _TOLD, _ENDED, _UNLISTED = range(1, 12)
"""Numbers of the steps, as `STEP_TITLES` names them."""
_STEPS_WITHOUT_MESSAGE = frozenset({_CREATED, _WORKS})
"""Steps that are no message; they are known by the message after them."""
_ROSTER_STEPS = frozenset({_LISTED, _UNLISTED})
"""Steps that only a roster tells."""
_DISPATCH_STEPS = frozenset({_CREATED, _ANNOUNCED, _LISTED, _TASK})
"""Steps that a dispatch, which asks for an agent together with its task, makes needless."""
_TEMPORARY_STEPS = frozenset({_ASKED, _ANNOUNCED, _TASK, _REPORTED, _END_ASKED})
"""Steps by which an agent is known to be a temporary one."""
_STEP_OF_KIND = {
    DISPATCH: _ASKED,
    "AGENT_CREATED": _ANNOUNCED,
    "TASK_ASSIGNMENT": _TASK,
    COMPLETE: _REPORTED,
    "AGENT_DESTROY_REQUEST": _END_ASKED,
    "shutdown_request": _TOLD,
    "AGENT_DESTROYED": _ENDED,
}


class _Life(Struct):
    """One agent from its creation to its end, with the first message of each step."""

    agent: str
    seen: dict[int, PlacedMessage] = {}

    @property
    def is_over(self) -> bool:
        """Whether its end was confirmed; one that was dispatched is over once it was told to stop."""
        return _ENDED in self.seen or (self.was_dispatched and _TOLD in self.seen)

    @property
    def was_dispatched(self) -> bool:
        """Whether it was asked for together with its task."""
        return _ASKED in self.seen and self.seen[_ASKED].read.name == DISPATCH


def lifecycles(
    known: Sequence[PlacedMessage], requests: Requests, roles: Mapping[str, str], *, complete: bool
) -> tuple[Lifecycle, ...]:
    """Build the lifecycles of all temporary agents, those still going on first, then by the time they began.

    Args:
        known: The facts, in order.
        roles: Everybody there is or was.
        complete: Whether all messages are known; if not, steps before the first one seen are not called missing.
    """
    lives = _lives_by_agent(known, requests, roles)
    without_rosters = "resident" not in roles.values()  # rosters go to residents alone
    rows: list[Lifecycle] = []
    for agent, own in lives.items():
        temporary = [life for life in own if life.seen.keys() & _TEMPORARY_STEPS]
        for number, life in enumerate(temporary, start=1):
            unneeded = _STEPS_WITHOUT_MESSAGE
            if without_rosters or life.was_dispatched:
                unneeded |= _ROSTER_STEPS
            if life.was_dispatched:
                unneeded |= _DISPATCH_STEPS
            first, last = _ASKED if complete else min(life.seen), max(life.seen)
            row = Lifecycle(
                key=agent if number == 1 else f"{agent}#{number}",
                agent=agent,
                slave=_slave_of(life),
                steps=tuple(_step(life, item) for item in range(_ASKED, _UNLISTED + 1)),
                missing=tuple(item for item in range(first, last) if item not in life.seen and item not in unneeded),
                out_of_order=_out_of_order(life),
                ended=life.is_over,
            )
            rows.append(row)
    return tuple(sorted(rows, key=lambda row: row.ended))


def _lives_by_agent(
    known: Iterable[PlacedMessage], requests: Requests, roles: Mapping[str, str]
) -> Mapping[str, Sequence[_Life]]:
    """Return the lives of each agent, the oldest first; a name that is used again begins a new one."""
    lives: dict[str, list[_Life]] = {}
    still_listed: dict[str, _Life] = {}
    roster: PlacedMessage | None = None
    listed: frozenset[str] = frozenset()
    for entry in known:
        if entry.read.name == ROSTER:
            roster, listed = entry, frozenset(texts_in(mapping_in(entry.read.body, "roster"), "temps"))
            for agent in listed & lives.keys():
                life = lives[agent][-1]
                if _ANNOUNCED in life.seen and not life.is_over:
                    life.seen.setdefault(_LISTED, entry)
            for agent in still_listed.keys() - listed:
                still_listed.pop(agent).seen[_UNLISTED] = entry
            continue
        step, agent = _STEP_OF_KIND.get(entry.read.name), _agent_of(entry)
        if step is None or not agent or roles.get(agent) in _PERMANENT:
            continue
        own = lives.setdefault(agent, [])
        if not own or (step in (_ASKED, _ANNOUNCED, _TASK) and own[-1].is_over):
            own.append(_Life(agent))
            if roster is not None and agent in listed and step in (_ANNOUNCED, _TASK):
                own[-1].seen[_LISTED] = roster
        life = own[-1]
        life.seen.setdefault(step, entry)
        asked = requests.creations.get(entry.message.message_id)
        if asked is not None:
            life.seen.setdefault(_ASKED, asked)
        if step == _ENDED:
            still_listed[agent] = life
    return lives


def _agent_of(entry: PlacedMessage) -> str:
    """Return the temporary agent in whose life a step is."""
    match entry.read.name:
        case "TASK_ASSIGNMENT" | "shutdown_request":
            return next(iter(entry.message.recipients), "")
        case "AGENT_COMPLETE":
            return entry.message.sender
        case "AGENT_DISPATCH_REQUEST":
            return dispatched_name(entry.read)
    return created_agent(entry.read) or ""


def _step(life: _Life, number: int) -> Step:
    entry, title = life.seen.get(number), STEP_TITLES[number - 1]
    if entry is None:
        after = life.seen.get(number + 1) if number in _STEPS_WITHOUT_MESSAGE else None
        return Step(number, title, after.moment if after is not None else None)
    return Step(number, title, entry.moment, entry.message)


def _out_of_order(life: _Life) -> tuple[int, ...]:
    """Return the numbers of the steps that were made before an earlier one was."""
    found: list[int] = []
    latest: PlacedMessage | None = None
    for number, entry in sorted(life.seen.items()):
        if entry.moment is not None:
            if latest is not None and _came_before(entry, latest):
                found.append(number)
            else:
                latest = entry
    return tuple(found)


def _came_before(entry: PlacedMessage, other: PlacedMessage) -> bool:
    """Compare by time; within one second, which is all that many writers tell, by the order of the store."""
    same_second = entry.when.replace(microsecond=0) == other.when.replace(microsecond=0)
    if same_second and 0 in (entry.when.microsecond, other.when.microsecond):
        return entry.place < other.place
    return entry.when < other.when


def _slave_of(life: _Life) -> str:
    """Return the slave it works for: whoever gave the task, was told of the creation, or asked for the end."""
    for step in (_ASKED, _TASK, _END_ASKED):
        if step in life.seen:
            return life.seen[step].message.sender
    for step in (_ANNOUNCED, _ENDED, _REPORTED):
        if step in life.seen:
            return life.seen[step].message.recipients[0]
    return ""
