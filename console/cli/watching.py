"""`watch`: one line for each change of a team; and a look that is long enough to tell a lock that blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import asdict, replace
from team_console.console.cli.arguments import seconds, verb
from team_console.console.cli.call import Call
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team
from team_console.store.model.clock import local_time, to_text
from team_console.store.model.message import Message
from team_console.store.model.safe import counted
from team_console.store.protocol.titles import said_in
from team_console.store.views.status import LONG_WRITE, State, assess, is_in_the_way

_PAUSE = 0.05
"""Seconds between two looks at a lock."""


def settled_snapshot(team: Team, *, whole: bool = False) -> Snapshot:
    """Return the team as it is now. A lock that is held is watched for a second, to tell one that blocks from a
    write.

    What counts is the moment of the last look, not now: a look on a busy machine is old when it is there.

    Args:
        whole: Read all of a large table.
    """
    look = team.whole if whole else team.snapshot
    snapshot = look()
    first, until = snapshot.holder, time.monotonic() + 2 * LONG_WRITE
    while (holder := snapshot.holder) is not None and first is not None and time.monotonic() < until:
        is_same = (holder.pid, holder.since) == (first.pid, first.since)
        if not is_same or is_in_the_way(holder, snapshot.taken_at):
            break
        time.sleep(_PAUSE)
        snapshot = look()
    return snapshot


@verb(seconds("--for", "stop after this long", zero=True, dest="seconds"))
def do_watch(call: Call) -> None:
    """Print one line per change, in local time (one JSON object per line with --json, in UTC). Nothing is written.

    Examples:
      team-console watch --for 60"""
    team = call.team
    last = settled_snapshot(team)
    state = assess(last, last.taken_at).state
    call.note(f"watching {team.location}: {state}, {counted(len(last.messages), 'message')}")

    if not call.as_json:
        call.note_zone()

    def look() -> None:
        nonlocal last
        now = team.snapshot()
        if now is last:
            return
        for change in changes(last, now):
            if call.as_json:
                call.json({"at": to_text(now.taken_at), "change": change.kind, **change.facts}, one_line=True)
            else:
                call.say(f"[{local_time(now.taken_at)}] {change.text}")
        call.flush()
        last = now if now.is_known else replace(now, messages=last.messages)

    from team_console.store.service.waiting import until  # 5 ms, which no other look needs

    until(team, look, timeout=call.options.seconds)


# What changed between two looks at a team, one plain line or one JSON object each.

_HEALTHY = {State.OK, State.EMPTY}
"""Conditions between which a change is none that anybody has to be told of."""


class Change(NamedTuple):
    """One difference between two looks.

    Attributes:
        kind: `new`, `status`, `dropped`, `gone`, `condition` or `problem`.
        text: What happened, for people.
        facts: The same as JSON values.
    """

    kind: str
    text: str
    facts: dict[str, Any]


def changes(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    """Yield every difference, condition first, then messages in stored order, then what is gone."""
    was, state = (assess(snapshot, snapshot.taken_at).state for snapshot in (before, after))
    if was != state and not {was, state} <= _HEALTHY:
        facts: dict[str, Any] = {"was": str(was), "condition": str(state)}
        yield Change("condition", f"condition {was} -> {state}", facts)
    for problem in after.problems:
        if problem not in before.problems:
            text = f"problem {problem.code} at {problem.place}: {problem.message}"
            yield Change("problem", text, asdict(problem))
    waiting = {message.message_id for message in before.dropped}
    for message in after.dropped:
        if message.message_id not in waiting:
            yield _change("dropped", "in drop/, to be taken in:", message, summary=said_in(message))
    if after.messages is before.messages:
        return
    old = {message.message_id: message for message in before.messages}
    for message in after.messages:
        known, status = old.pop(message.message_id, None), message.status
        if known is message:
            continue
        if known is None:
            about = {"priority": message.priority, "summary": said_in(message)}
            yield _change("new", "new", message, status=status, **about)
        elif known.status != status:
            yield _change("status", f"{known.status} -> {status}", message, was=known.status, status=status)
        elif readers := [name for name in message.read_by if name not in known.read_by]:
            yield _change("status", f"read by {', '.join(readers)}", message, status=status, read_by=readers)
        elif known.record != message.record:
            yield _change("status", "changed", message, status=status)
    for message in old.values() if after.is_known else ():
        yield _change("gone", "gone from the queue:", message, was=message.status)


def _change(kind: str, words: str, message: Message, **facts: Any) -> Change:
    """Return the change of a message: the words, then which message it is."""
    names = {"message_id": message.message_id, "from": message.sender, "to": list(message.recipients)}
    who = f"{message.sender} -> {', '.join(message.recipients)}"
    text = f'{words} {message.message_id} {who} {message.type}: "{said_in(message)}"'
    return Change(kind, text, {**names, "message_type": message.type, **facts})
