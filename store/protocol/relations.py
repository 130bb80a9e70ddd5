"""Tell which messages are on record as answers, which rest on others, and which stop an agent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.message import Fields, Message, from_record
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFact, RecordedFacts
from team_console.store.protocol.grants import use_in
from team_console.store.protocol.judgement import Judged, judge_entries
from team_console.store.protocol.kinds import UNKNOWN, RequestKind, kind_of
from team_console.store.protocol.membership import (
    CREATED,
    DESTROYED,
    ROSTER,
    Membership,
    created_agent,
    entries_of,
    is_end,
    is_master,
    lasting_notes,
    membership_of,
)
from team_console.store.protocol.parsing import EARLIEST, Order, PlacedMessage, carried_name, parse_message
from team_console.store.protocol.request_chains import succession_of
from team_console.store.protocol.verdicts import objection
from team_console.store.settings.team_config import TeamConfig

_QUOTING = ("request_id", "requestId", "in_reply_to", "approve", "approved")
"""Keys by which a message of any kind may belong to a request."""


def is_answer(message: Message) -> bool:
    """Return whether a message answers a request or takes one back, so that its content may not change once
    recorded.
    """
    read = parse_message(message)
    if read.kind is UNKNOWN or read.opens is not None:
        return False
    return read.answers is not None or read.kind.withdraws or (read.request_id is not None and read.approve is not None)


def fact_of(
    raw: bytes, record: Fields, *, line: int, at: datetime | None, by_desk: bool, in_time: bool
) -> RecordedFact | None:
    """Return the fact that a record of the trail tells of a request; None when it belongs to none.

    Args:
        raw: The record as JSON.
        line, at, by_desk, in_time: As in `RecordedFact`.
    """
    if not _may_belong(record):
        return None
    try:
        message = from_record(record)
    except ValueError:
        return None
    read = parse_message(message)
    if read.request_id is None and read.answers is None:
        return None
    is_question = read.opens is not None
    grant, use = use_in(message)
    return RecordedFact(
        message.message_id,
        line,
        at,
        message.created_at,
        by_desk,
        None if is_question else read.request_id,
        b"" if is_question else raw,
        in_time,
        grant,
        use,
        (created_agent(read) or "") if read.name == CREATED else "",
    )


def _may_belong(record: Fields) -> bool:
    """Return whether it may be a question or an answer; quick, and lets few others through."""
    payload, name = record.get("payload"), record.get("type")
    if not isinstance(payload, dict) or not isinstance(name, str):
        return True
    kind = kind_of(carried_name(name, payload) or name)
    if kind.request_kind is not None or kind.withdraws:
        return True
    return any(key in payload or key in record for key in _QUOTING)


# Reliance: which read messages the meaning of others still rests on, so that they may not leave the queue alone.


def retained_ids(messages: Sequence[Message], *, present: Collection[str]) -> frozenset[str]:
    """Return the ids of messages without which those `present` would mean something else: an older plan would be open
    again.

    These are the rest of their threads, what superseded them, and the newest words on who is in the team.

    Args:
        messages: In stored order; the present ones among them.
        present: Ids of messages that are in the queue.
    """
    threads = threads_of(messages)
    kept = {key for key, thread in threads.items() if any(message.message_id in present for message in thread)}
    chains: dict[object, list[str]] = {}
    for key, thread in threads.items():
        for message in thread:
            if (chain := succession_of(message)) is not None:
                chains.setdefault(chain, []).append(key)
    for keys in chains.values():
        # Each superseded the one before it: from the first that is kept, all that follow are needed.
        first_kept = next((place for place, key in enumerate(keys) if key in kept), len(keys))
        kept.update(keys[first_kept:])
    members = (message.message_id for key in kept for message in threads[key])
    return frozenset((*members, *newest_words(messages)))


def threads_of(messages: Iterable[Message]) -> dict[str, list[Message]]:
    """Return the messages of each request id."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        request_id = parse_message(message).request_id
        if request_id is not None:
            threads.setdefault(request_id, []).append(message)
    return threads


def newest_words(messages: Sequence[Message]) -> Iterable[str]:
    """Yield ids of the newest words on who is in the team, on each agent's end, and on what its sessions do."""
    # guard: lasting-notes-kept
    yield from lasting_notes(messages)
    roster_seen = False
    stopped: set[str] = set()
    for message in reversed(messages):
        name = parse_message(message).name
        if name in (CREATED, DESTROYED, ROSTER) and not roster_seen:
            yield message.message_id
            roster_seen = name == ROSTER
        elif name == RESPONSE and message.sender not in stopped:
            stopped.add(message.sender)
            yield message.message_id


# Stops: who was asked to stop, who agreed, and whether it fell silent since.

REQUEST, RESPONSE = "shutdown_request", "shutdown_response"
SHUTDOWN = frozenset({REQUEST, RESPONSE})
_SESSION_OVER = "its session has ended"
_ASKED, _AGREED, _LEFT = "asked to stop, has not answered", "agreed to stop", "ended, or left out of the latest roster"


class Stop(Struct, frozen=True):
    """The latest word on an agent's stop.

    Attributes:
        ended: It agreed, was destroyed or left the roster; False while its answer is awaited.
        since: When it was asked or ended.
        reason: In a few words.
        is_alive: Whether it is alive all the same: it spoke after its end (D17).
    """

    ended: bool
    since: Order
    reason: str
    is_alive: bool = False


def agent_stops(
    config: TeamConfig,
    team: Membership,
    judged: Judged,
    spoken: Mapping[str, Order],
    recorded: RecordedFacts | None,
) -> dict[str, Stop]:
    """Return the stop of each agent that has one.

    A request by anybody but the lead, or to the lead or the human, stops nobody, nor does a yes to it (decision D10).

    Args:
        judged: All that were asked for; a yes to one that is not known any more counts too.
        spoken: When each agent last said anything but that it agrees to stop.
        recorded: The audit trail, for what was said before the team began to sign.
    """
    asked: dict[str, Stop] = {}
    ends: list[tuple[str, Stop]] = []
    for row in judged.rows:
        if row.kind is RequestKind.SHUTDOWN and is_master(config, row.asker):
            if row.is_open and row.addressee not in (config.lead, USER):
                asked[row.addressee] = Stop(False, (row.asked_at or EARLIEST, row.order[3]), _ASKED)
            elif row.is_approved:
                ends.append((row.addressee, Stop(True, (row.answered_at or EARLIEST, row.decided[3]), _AGREED)))
    for entry in judged.orphans:
        agrees = entry.read.name == RESPONSE and entry.read.approve
        if agrees and not objection(config, entry.message, recorded=recorded):
            ends.append((entry.message.sender, Stop(True, entry.order, _AGREED)))
    ends += [(name, Stop(True, order, _LEFT)) for name, order in team.left.items()]
    for name, order in team.sessions.ended().items():
        if name not in (*asked, config.lead, USER):
            ends.append((name, Stop(True, order, _SESSION_OVER)))
    found: dict[str, Stop] = {}
    for name, stop in (*asked.items(), *sorted(ends, key=lambda end: end[1].since)):
        if name in team.gone or team.arrived.get(name, stop.since) <= stop.since:
            is_alive = stop.ended and spoken.get(name, stop.since) > stop.since
            if not (is_alive and name in asked):
                found[name] = replace(stop, is_alive=is_alive)
    return found


def silent_agents(config: TeamConfig, messages: Iterable[Message]) -> frozenset[str]:
    """Return who does not listen: stopped or destroyed and silent since, or asked to stop without an answer yet."""
    return frozenset(name for name, stop in _stops_now(config, messages, None).items() if not stop.is_alive)


def stopped_agents(config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None) -> frozenset[str]:
    """Return who agreed to stop or was destroyed, and has been silent since."""
    now = _stops_now(config, messages, recorded).items()
    return frozenset(name for name, stop in now if stop.ended and not stop.is_alive)


def _stops_now(config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None) -> dict[str, Stop]:
    """Return the stop of each agent that these live messages tell of."""
    messages = list(messages)
    judged = judge_entries(config, recorded, entries_of(messages, lambda message: message.type in SHUTDOWN))
    speech = filter(is_speech, entries_of(messages, lambda message: True))
    spoken = {entry.message.sender: entry.order for entry in speech}
    return agent_stops(config, membership_of(config, messages), judged, spoken, recorded)


def is_speech(entry: PlacedMessage) -> bool:
    """Return whether the sender of this message is alive: all but agreeing to stop, or the end of its session, says
    so.
    """
    return not (entry.read.name == RESPONSE and entry.read.approve is True) and not is_end(entry)
