"""Builds small teams for the tests of views: who says what, one second after the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from string import Template
from typing import Any

import yaml
from team_console.store.contract.snapshot import Condition, Snapshot
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, new_record
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.store.views.projection import view_of
from team_console.store.views.rows import RequestRow, RosterRow, View

from tests.equipment.cases import constant
from tests.equipment.memory_team import put_on_record
from tests.equipment.teams import team_of

START = datetime(2026, 2, 24, 10, 0, 0, tzinfo=UTC)
LEAD = "ceo"
AGENTS = (
    Agent("task-manager", plan_mode_required=True),
    Agent("file-manager"),
    Agent("scrum-master", role="resident"),
    Agent("debugger", role="resident"),
    Agent("slave-batch-1", role="slave"),
)


def settings(**more: Any) -> TeamConfig:
    """A team led by `ceo`."""
    return team_of(*AGENTS, **more)


def snapshot_of(
    messages: Iterable[Message],
    *,
    config: TeamConfig | None = None,
    problems: tuple[Problem, ...] = (),
    condition: Condition = Condition.OK,
    missing: Iterable[str] = (),
    recorded: RecordedFacts | None = None,
) -> Snapshot:
    """A snapshot with these messages."""
    config = config or settings()
    return Snapshot(
        *("r", START, START, config, tuple(messages), problems, condition),
        missing=frozenset(missing),
        recorded=recorded,
    )


@dataclass
class Chronicle:
    """Messages in the order they were written, one second apart unless `wait` says otherwise."""

    config: TeamConfig = field(default_factory=settings)
    now: datetime = START
    messages: list[Message] = field(default_factory=list)
    archived: list[Message] = field(default_factory=list)
    lost: list[Message] = field(default_factory=list)
    problems: tuple[Problem, ...] = ()
    recorded: RecordedFacts | None = None
    line: int = 0

    def record(self, *messages: Message, by_desk: bool = True) -> None:
        """Put messages on the audit trail as they are now, on one line."""
        self.recorded = self.recorded if self.recorded is not None else RecordedFacts()
        self.line += 1
        for message in messages:
            put_on_record(self.recorded, message, line=self.line, at=self.now, by_desk=by_desk)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def say(self, sender: str, to: str, type: str = "message", *, id: str = "", **more: Any) -> Message:
        """Write a message; `priority`, `status` and other envelope keys go to the record, the rest is payload."""
        self.wait(1)
        envelope = {key: more.pop(key) for key in tuple(more) if key in _ENVELOPE}
        payload = {"summary": "A summary of five words", "content": "Text", **more} if type == "message" else more
        message = new_record(
            message_id=id or f"m{len(self.messages) + len(self.archived) + len(self.lost) + 1}",
            type=type,
            sender=sender,
            to=to,
            created=to_text(self.now),
            priority=envelope.pop("priority", "medium"),
            payload=payload,
        )
        self.messages.append(message.with_changes(**envelope) if envelope else message)
        return self.messages[-1]

    def sprint(self, sender: str, to: str, name: str, *, id: str = "", **body: Any) -> Message:
        """Write a sprint message, `NAME: {json}` in a plain one."""
        text = f"{name}: {json.dumps({'msg_type': name, **body})}"
        return self.say(sender, to, id=id, content=text, summary=f"{name} for {to}")

    def plan(self, author: str = "task-manager", *, request_id: str = "plan-1", to: str = LEAD, **more: Any) -> Message:
        """Hand in a plan."""
        return self.say(author, to, "plan_approval_request", request_id=request_id, content="1. Do it", **more)

    def verdict(self, request_id: str = "plan-1", *, approve: bool, sender: str = LEAD, **more: Any) -> Message:
        """Answer a plan."""
        to = more.pop("to", "task-manager")
        return self.say(sender, to, "plan_approval_response", request_id=request_id, approve=approve, **more)

    def stop(self, agent: str = "file-manager", *, request_id: str = "stop-1", **more: Any) -> Message:
        """Ask an agent to stop."""
        return self.say(LEAD, agent, "shutdown_request", request_id=request_id, **more)

    def stopped(
        self, agent: str = "file-manager", *, request_id: str = "stop-1", approve: bool = True, **more: Any
    ) -> Message:
        """Answer it."""
        return self.say(agent, LEAD, "shutdown_response", request_id=request_id, approve=approve, **more)

    def roster(self, *temps: str, to: Iterable[str] = ("scrum-master", "debugger"), sender: str = LEAD) -> None:
        """Tell the residents who is there."""
        lists = {"residents": ["scrum-master", "debugger"], "slaves": ["slave-batch-1"], "temps": list(temps)}
        for name in to:
            self.sprint(sender, name, "AGENT_ROSTER_BROADCAST", session_id="s1", roster=lists)

    def change(self, message: Message, **changes: Any) -> Message:
        """Replace a message in its place; nothing happens when nothing would change."""
        new = message.with_changes(**changes)
        if new.record == message.record:
            return message
        self.messages[self.messages.index(message)] = new
        return new

    def archive(self, message: Message) -> None:
        """Move a message out of the queue; an archive takes each id once."""
        self.messages.remove(message)
        if not self._is_archived(message):
            self.archived.append(message)

    def lose(self, message: Message) -> None:
        """Take a message out of the queue as a program does that does not lock and archives nothing."""
        self.messages.remove(message)
        if not self._is_archived(message):
            self.lost.append(message)

    def _is_archived(self, message: Message) -> bool:
        return message.message_id in {message.message_id for message in self.archived}

    def heal(self) -> None:
        """Put everything lost back at the end of the queue."""
        self.messages += self.lost
        self.lost.clear()

    def snapshot(self, **more: Any) -> Snapshot:
        """The queue as it is."""
        lost = {message.message_id for message in self.lost} - {message.message_id for message in self.messages}
        known = {"recorded": self.recorded, **more}
        return snapshot_of(self.messages, config=self.config, problems=self.problems, missing=lost, **known)

    def view(self, *, me: str = LEAD, after: float = 0.0) -> View:
        """What `me` sees `after` seconds."""
        now = self.now + timedelta(seconds=after)
        return view_of(self.snapshot(), me=me, now=now, history=reversed(self.archived))

    def codes(self, **more: Any) -> set[str]:
        """The codes of all findings."""
        return {finding.code for finding in self.view(**more).findings}


_ENVELOPE = constant(__file__, "ENVELOPE", set[str])


def row(view: View, request_id: str) -> RequestRow:
    """The request with this id."""
    return next(request for request in view.requests if request.request_id == request_id)


def agent(view: View, name: str) -> RosterRow:
    """The roster row of this agent."""
    return next(item for item in view.roster if item.name == name)


def creation(story: Chronicle, agent: str = "dev-runner-3-1", *, upto: int = 11, skip: Iterable[int] = ()) -> None:
    """The eleven steps of a temporary agent, as far as `upto`, without those to `skip`."""
    text = Template(constant(__file__, "CREATION", str)).substitute(agent=agent)
    steps: Mapping[int, list[Any]] = yaml.safe_load(text)
    for number, (act, *words, fields) in steps.items():
        if number <= upto and number not in skip:
            getattr(story, act)(*words, **fields)


def task(story_key: str, slave: str = "slave-batch-1") -> dict[str, Any]:
    """The body of a task assignment."""
    return {
        "story_key": story_key,
        "story_path": f"stories/{story_key}.md",
        "mode": "dev",
        "session_id": "s1",
        "report_to": slave,
        "resident_contacts": {"debugger": "debugger"},
        "config_overrides": {},
    }
