"""What changed between two looks at a team, one plain line or one JSON object each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from team_console.store.contract.team import Snapshot
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.views.titles import said_in
from team_console.store.views.truth import State, judge

_HEALTHY = {State.OK, State.EMPTY}


class TeamChange(Struct, frozen=True):
    """One change.

    Attributes:
        at: When it was noticed, ISO 8601 UTC.
        change: `new`, `status`, `dropped`, `gone`, `condition` or `problem`.
        text: What happened, for people; may hold stored text.
        facts: The same as JSON values.
    """

    at: str
    change: str
    text: str
    facts: dict[str, Any]

    def line(self) -> str:
        """One safe line, in local time."""
        moment = from_text(self.at)
        return safe_line(f"[{moment.astimezone():%Y-%m-%d %H:%M:%S}] {self.text}" if moment else self.text)

    def as_json(self) -> dict[str, Any]:
        """One JSON object."""
        return {"at": self.at, "change": self.change, **self.facts}


def changes(before: Snapshot, after: Snapshot) -> Iterator[TeamChange]:
    """Every difference, condition first, then messages in stored order, then what is gone."""
    at = to_text(after.taken_at)
    was, state = (judge(snapshot, snapshot.taken_at).state for snapshot in (before, after))
    if was != state and not {was, state} <= _HEALTHY:
        yield TeamChange(at, "condition", f"condition {was} -> {state}", {"was": str(was), "condition": str(state)})
    for problem in after.problems:
        if problem not in before.problems:
            facts = {"code": problem.code, "severity": problem.severity, "place": problem.place}
            text = f"problem {problem.code} at {problem.place}: {problem.message}"
            yield TeamChange(at, "problem", text, {**facts, "message": problem.message, "hint": problem.hint})
    yield from _dropped(at, before, after)
    if after.messages is not before.messages:
        yield from _messages(at, before, after)


def _dropped(at: str, before: Snapshot, after: Snapshot) -> Iterator[TeamChange]:
    known = {message.message_id for message in before.dropped}
    for message in after.dropped:
        if message.message_id not in known:
            text = f"in drop/, to be taken in: {_about(message)}"
            yield TeamChange(at, "dropped", text, {**_facts(message), "summary": said_in(message)})


def _messages(at: str, before: Snapshot, after: Snapshot) -> Iterator[TeamChange]:
    # Messages may share an id (D26): what is the same object did not change, and only the rest is matched by ids.
    stayed = set(map(id, before.messages)) & set(map(id, after.messages))
    old = [message for message in before.messages if id(message) not in stayed]
    by_id: dict[str, list[Message]] = {}
    for message in reversed(old):
        by_id.setdefault(message.message_id, []).append(message)
    for message in after.messages:
        if id(message) in stayed:
            continue
        if not (known := by_id.get(message.message_id)):
            facts = {"status": message.status, "priority": message.priority, "summary": said_in(message)}
            yield TeamChange(at, "new", f"new {_about(message)}", {**_facts(message), **facts})
        else:
            yield from _progress(at, known.pop(), message)
    left = {id(message) for messages in by_id.values() for message in messages}
    for message in (message for message in old if id(message) in left and after.is_known):
        yield TeamChange(
            at, "gone", f"gone from the queue: {_about(message)}", {**_facts(message), "was": message.status}
        )


def _progress(at: str, was: Message, message: Message) -> Iterator[TeamChange]:
    readers = [name for name in message.read_by if name not in was.read_by]
    if was.status != message.status:
        facts = {**_facts(message), "was": was.status, "status": message.status}
        yield TeamChange(at, "status", f"{was.status} -> {message.status} {_about(message)}", facts)
    elif readers:
        facts = {**_facts(message), "status": message.status, "read_by": readers}
        yield TeamChange(at, "status", f"read by {', '.join(readers)} {_about(message)}", facts)
    elif was.record != message.record:
        yield TeamChange(at, "status", f"changed {_about(message)}", {**_facts(message), "status": message.status})


def _about(message: Message) -> str:
    who = f"{message.sender} -> {', '.join(message.recipients)}"
    return f'{message.message_id} {who} {message.type}: "{said_in(message)}"'


def _facts(message: Message) -> dict[str, Any]:
    return {
        "message_id": message.message_id,
        "from": message.sender,
        "to": list(message.recipients),
        "message_type": message.type,
    }
