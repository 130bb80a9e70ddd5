"""Batches with the state of their stories and what waits for what, folded from plans, tasks and reports (seed 002)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.membership import DESTROYED
from team_console.store.protocol.sprint_plans import (
    BATCH_REPORT,
    CORRECTION,
    DISPATCH,
    PLAN,
    batch_key,
    dispatched_name,
    planned,
    replanned,
    text_of_key,
    texts_of,
)
from team_console.store.views.rows import Batch, Story, StoryState

TASK, REPORT = "TASK_ASSIGNMENT", "AGENT_COMPLETE"
BATCH_FACTS = frozenset({PLAN, CORRECTION, TASK, DISPATCH, REPORT, BATCH_REPORT, DESTROYED})
"""Kinds that batches are made of."""
_GOOD = frozenset({"success", "passed", "done", "complete", "completed", "skipped"})
_BAD = frozenset(
    {"failure", "failed", "error", "timeout", "needs-intervention", "completeness-violation", "test-regression"}
    | {"scope-violation", "e2e-failure", "login-failure"}
)
_NOT_LAST = ("story-creator", "story-reviewer", "dev-runner")
"""Agents whose success hands the story on; it is not done yet (`docs/requirements.md` B.4)."""


class _Batch(Struct):
    batch_id: str
    stories: list[str] = field(default_factory=list)
    slave: str = ""
    source: Entry | None = None
    report: Entry | None = None


class _Session(Struct):
    name: str
    batches: dict[str, _Batch] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    states: dict[str, StoryState] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    slaves: dict[str, str] = field(default_factory=dict)

    def plan(self, batches: Mapping[str, list[str]], source: Entry) -> None:
        """Take over a plan in place of what was planned before; what was reported stays as it is."""
        before = self.batches
        self.batches = {key: batch for key, batch in before.items() if batch.report is not None}
        for key, stories in batches.items():
            slave = next((agent for story in stories if (agent := self.slaves.get(story))), "")
            known = before.get(key)
            source_of = known.source if known is not None and known.stories == stories else source
            self.batches.setdefault(key, _Batch(key, stories, slave, source_of))

    def correct(self, body: Mapping[str, Any], source: Entry) -> None:
        """Take over a correction: it drops what it drops, and what an agent works on stays where it is."""
        now = {key: batch.stories for key, batch in self.batches.items() if batch.report is None}
        begun = {story for story, state in self.states.items() if state is not StoryState.OPEN}
        self.plan(replanned(now, body, begun), source)

    def batch_of(self, story: str) -> _Batch | None:
        """The batch that holds a story."""
        return next((batch for batch in self.batches.values() if story in batch.stories), None)


class Sprint(Struct, frozen=True):
    """What is planned, done and under way.

    Attributes:
        work: Agent -> the story it was given and has not reported.
        unfinished: Slave -> stories of its batches that are not done.
    """

    batches: tuple[Batch, ...] = ()
    work: Mapping[str, str] = field(default_factory=dict)
    unfinished: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _next: Mapping[str, list[str]] = field(default_factory=dict)
    _done: frozenset[str] = frozenset()

    def waiting_for(self, story: str) -> tuple[str, ...]:
        """Stories not done that wait for `story`, directly or through others; a circle ends where it began."""
        found: dict[str, None] = {}
        ahead = deque(self._next.get(story, ()))
        while ahead:
            each = ahead.popleft()
            if each not in found:
                found[each] = None
                ahead.extend(self._next.get(each, ()))
        return tuple(item for item in found if item not in self._done)


def sprint(facts: Iterable[Entry]) -> Sprint:
    """Fold the facts of `BATCH_FACTS`, in order; the latest plan of a session wins over earlier ones."""
    sessions: dict[str, _Session] = {}
    work: dict[str, tuple[str, str]] = {}
    for entry in facts:
        _FOLDS[entry.read.name](sessions, work, entry)
    unfinished: dict[str, tuple[str, ...]] = {}
    for session in sessions.values():
        for batch in session.batches.values():
            left = tuple(story for story in batch.stories if session.states.get(story) is not StoryState.DONE)
            if batch.slave and left:
                unfinished[batch.slave] = unfinished.get(batch.slave, ()) + left
    return Sprint(
        batches=tuple(_row(session, batch) for session in sessions.values() for batch in session.batches.values()),
        work={agent: story for agent, (_, story) in work.items()},
        unfinished=unfinished,
        _next=_next(sessions.values()),
        _done=frozenset(
            story
            for session in sessions.values()
            for story, state in session.states.items()
            if state is StoryState.DONE
        ),
    )


def _next(sessions: Iterable[_Session]) -> Mapping[str, list[str]]:
    """Story -> stories that name it as what they depend on."""
    found: dict[str, list[str]] = {}
    for session in sessions:
        for story, needs in session.needs.items():
            for need in needs:
                found.setdefault(need, []).append(story)
    return found


def _session(sessions: dict[str, _Session], entry: Entry) -> _Session:
    name = text_of_key(entry.read.body.get("session_id"))
    return sessions.setdefault(name, _Session(name))


def _plan(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    session.plan(planned(body.get("batches")), entry)
    graph = body.get("dependency_graph")
    for story, needs in graph.items() if isinstance(graph, Mapping) else ():
        session.needs[str(story)] = texts_of(needs.get("depends_on") if isinstance(needs, Mapping) else None)


def _correct(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    _session(sessions, entry).correct(entry.read.body, entry)


def _task(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    is_dispatch = entry.read.name == DISPATCH
    story, agent = (
        text_of_key(body.get("story_key")),
        dispatched_name(entry.read) if is_dispatch else entry.message.recipients[0],
    )
    if not story:
        return
    slave = text_of_key(body.get("report_to")) or entry.message.sender
    batch = session.batch_of(story)
    if batch is None:
        key = _batch_of_slave(slave)
        batch = session.batches.setdefault(key, _Batch(key, [], slave, entry))
        batch.stories.append(story)
    batch.slave = batch.slave or slave
    session.slaves[story] = slave
    session.states[story], session.agents[story] = StoryState.RUNNING, agent
    work[agent] = session.name, story


def _report(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, agent = entry.read.body, entry.message.sender
    name, story = work.pop(agent, ("", ""))
    story = story or text_of_key(body.get("story_key"))
    session = sessions.get(name or text_of_key(body.get("session_id")))
    if session is None or not story or session.batch_of(story) is None:
        return
    status = text_of_key(body.get("status")).lower()
    if status in _BAD:
        session.states[story] = StoryState.FAILED
    elif status in _GOOD and not agent.startswith(_NOT_LAST):
        session.states[story] = StoryState.DONE
    session.agents[story] = agent


def _end(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    """Nobody works any more on the story of an agent that was destroyed."""
    agent = text_of_key(entry.read.body.get("agent_name"))
    work.pop(agent, None)
    for session in sessions.values():
        for story, name in session.agents.items():
            if name == agent and session.states.get(story) is StoryState.RUNNING:
                session.states[story] = StoryState.OPEN


def _finish(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    key = batch_key(body.get("batch_id")) or _batch_of_slave(entry.message.sender)
    batch = session.batches.setdefault(key, _Batch(key, [], entry.message.sender, entry))
    batch.slave, batch.report = entry.message.sender, entry
    for state, name in ((StoryState.DONE, "stories_completed"), (StoryState.FAILED, "stories_failed")):
        for story in texts_of(body.get(name)):
            if session.batch_of(story) is None:
                batch.stories.append(story)
            session.states[story] = state


_FOLDS = {
    PLAN: _plan,
    CORRECTION: _correct,
    TASK: _task,
    DISPATCH: _task,
    REPORT: _report,
    BATCH_REPORT: _finish,
    DESTROYED: _end,
}


def _row(session: _Session, batch: _Batch) -> Batch:
    shown = batch.report or batch.source
    return Batch(
        key=f"{session.name}/{batch.batch_id}",
        session_id=session.name,
        batch_id=batch.batch_id,
        slave=batch.slave,
        stories=tuple(_story(session, story) for story in batch.stories),
        complete=batch.report is not None,
        report=text_of_key(batch.report.read.body.get("batch_report")) if batch.report is not None else "",
        message=shown.message if shown is not None else None,
    )


def _story(session: _Session, key: str) -> Story:
    needs = tuple(session.needs.get(key, ()))
    state = session.states.get(key, StoryState.OPEN)
    blocked = tuple(need for need in needs if session.states.get(need) is not StoryState.DONE)
    return Story(key, state, session.agents.get(key, ""), needs, () if state is StoryState.DONE else blocked)


def _batch_of_slave(slave: str) -> str:
    return slave.removeprefix("slave-").removeprefix("batch-")
