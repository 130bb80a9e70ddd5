"""Batches with the state of their stories and what waits for what, folded from plans, tasks and reports (seed 002)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from team_console.store.protocol.entries import Entry
from team_console.store.views.rows import Batch, Story, StoryState

PLAN, CORRECTION, TASK = "BATCH_PLAN_READY", "COURSE_CORRECTION", "TASK_ASSIGNMENT"
REPORT, BATCH_REPORT = "AGENT_COMPLETE", "SLAVE_BATCH_COMPLETE"
BATCH_FACTS = frozenset({PLAN, CORRECTION, TASK, REPORT, BATCH_REPORT})
"""Kinds that batches are made of."""
_GOOD = frozenset({"success", "passed", "done", "complete", "completed", "skipped"})
_BAD = frozenset(
    {"failure", "failed", "error", "timeout", "needs-intervention", "completeness-violation", "test-regression"}
    | {"scope-violation", "e2e-failure", "login-failure"}
)
_NOT_LAST = ("story-creator", "story-reviewer", "dev-runner")
"""Agents whose success hands the story on; it is not done yet (`REQUIREMENTS.md` B.4)."""


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

    def plan(self, batches: list[tuple[str, list[str]]], source: Entry) -> None:
        """Take over a plan in place of what was planned before; what was reported stays as it is."""
        self.batches = {key: batch for key, batch in self.batches.items() if batch.report is not None}
        for key, stories in batches:
            slave = next((agent for story in stories if (agent := self.slaves.get(story))), "")
            self.batches.setdefault(key, _Batch(key, stories, slave, source))

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
    name = _text(entry.read.body.get("session_id"))
    return sessions.setdefault(name, _Session(name))


def _plan(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    session.plan(_planned(body.get("batches")), entry)
    graph = body.get("dependency_graph")
    for story, needs in graph.items() if isinstance(graph, Mapping) else ():
        session.needs[str(story)] = _texts(needs.get("depends_on") if isinstance(needs, Mapping) else None)


def _correct(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    batches = _planned(body.get("new_batches") or body.get("new_batch_plan"))
    if batches:
        session.plan(batches, entry)
    dropped = set(_texts(body.get("dropped_stories")))
    for item in session.batches.values():
        if item.report is None:
            item.stories = [story for story in item.stories if story not in dropped]


def _task(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    story, agent = _text(body.get("story_key")), entry.message.recipients[0]
    if not story:
        return
    slave = _text(body.get("report_to")) or entry.message.sender
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
    story = story or _text(body.get("story_key"))
    session = sessions.get(name or _text(body.get("session_id")))
    if session is None or not story or session.batch_of(story) is None:
        return
    status = _text(body.get("status")).lower()
    if status in _BAD:
        session.states[story] = StoryState.FAILED
    elif status in _GOOD and not agent.startswith(_NOT_LAST):
        session.states[story] = StoryState.DONE
    session.agents[story] = agent


def _finish(sessions: dict[str, _Session], work: dict[str, tuple[str, str]], entry: Entry) -> None:
    body, session = entry.read.body, _session(sessions, entry)
    key = _key(body.get("batch_id")) or _batch_of_slave(entry.message.sender)
    batch = session.batches.setdefault(key, _Batch(key, [], entry.message.sender, entry))
    batch.slave, batch.report = entry.message.sender, entry
    for state, name in ((StoryState.DONE, "stories_completed"), (StoryState.FAILED, "stories_failed")):
        for story in _texts(body.get(name)):
            if session.batch_of(story) is None:
                batch.stories.append(story)
            session.states[story] = state


_FOLDS = {PLAN: _plan, CORRECTION: _correct, TASK: _task, REPORT: _report, BATCH_REPORT: _finish}


def _row(session: _Session, batch: _Batch) -> Batch:
    shown = batch.report or batch.source
    return Batch(
        key=f"{session.name}/{batch.batch_id}",
        session_id=session.name,
        batch_id=batch.batch_id,
        slave=batch.slave,
        stories=tuple(_story(session, story) for story in batch.stories),
        complete=batch.report is not None,
        report=_text(batch.report.read.body.get("batch_report")) if batch.report is not None else "",
        message=shown.message if shown is not None else None,
    )


def _story(session: _Session, key: str) -> Story:
    needs = tuple(session.needs.get(key, ()))
    state = session.states.get(key, StoryState.OPEN)
    blocked = tuple(need for need in needs if session.states.get(need) is not StoryState.DONE)
    return Story(key, state, session.agents.get(key, ""), needs, () if state is StoryState.DONE else blocked)


def _planned(value: Any) -> list[tuple[str, list[str]]]:
    found = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping) and _key(item.get("batch_id")):
            stories = _texts(item.get("stories") or item.get("story_keys"))
            found.append((_key(item.get("batch_id")), list(dict.fromkeys(stories))))
    return found


def _key(value: Any) -> str:
    return _text(value).removeprefix("batch-")


def _batch_of_slave(slave: str) -> str:
    return slave.removeprefix("slave-").removeprefix("batch-")


def _text(value: Any) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _texts(value: Any) -> list[str]:
    return [text for item in value if (text := _text(item))] if isinstance(value, list) else []
