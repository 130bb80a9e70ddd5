"""Relations between messages: which one is recorded, stops an agent, or rests on another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from team_console.store.model.message import Message, Status, from_record
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFact, RecordedFacts
from team_console.store.protocol.judgement import succession_of
from team_console.store.protocol.kinds import KINDS, carried_name
from team_console.store.protocol.membership import (
    CREATED,
    DESTROYED,
    ROSTER,
    Membership,
    entries_of,
    is_end,
    is_master,
    lasting_notes,
    membership_of,
)
from team_console.store.protocol.parsing import Order, PlacedMessage, parse_message
from team_console.store.protocol.verdicts import objection
from team_console.store.settings.team_config import TeamConfig

_QUOTING = ("request_id", "requestId", "in_reply_to", "approve", "approved")
"""Keys by which a message of any kind may belong to a request."""


def is_answer(message: Message) -> bool:
    """Whether a message answers a request or takes one back, so that its content may not change once recorded."""
    read = parse_message(message)
    if read.kind is None or read.opens is not None:
        return False
    return read.answers is not None or read.kind.withdraws or (read.request_id is not None and read.approve is not None)


def fact_of(
    raw: bytes, record: Mapping[str, Any], *, line: int, at: datetime | None, by_desk: bool, in_time: bool
) -> RecordedFact | None:
    """What a record on the trail tells of a request, None when it belongs to none.

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
    return RecordedFact(
        message.message_id,
        line,
        at,
        message.created_at,
        by_desk,
        None if is_question else read.request_id,
        b"" if is_question else raw,
        in_time,
    )


def _may_belong(record: Mapping[str, Any]) -> bool:
    """A quick look that lets every question and answer through, and few others."""
    payload, name = record.get("payload"), record.get("type")
    if not isinstance(payload, dict) or not isinstance(name, str):
        return True
    kind = KINDS.get(carried_name(name, payload) or name)
    if kind is not None and (kind.matter is not None or kind.withdraws):
        return True
    return any(key in payload or key in record for key in _QUOTING)


# Reliance: which read messages the meaning of others still rests on, so that they may not leave the queue alone.

DONE = frozenset({Status.READ, Status.RECALLED})
"""What a reader has, and what its writer took back before anybody had it: it leaves once it is archived."""


def retained_ids(messages: Sequence[Message], *, present: Collection[str]) -> frozenset[str]:
    """Ids of messages without which those `present` would mean something else: an older plan would be open again.

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
        kept.update(keys[next((place for place, key in enumerate(keys) if key in kept), len(keys)) :])
    members = (message.message_id for key in kept for message in threads[key])
    return frozenset((*members, *newest_words(messages)))


def threads_of(messages: Iterable[Message]) -> dict[str, list[Message]]:
    """The messages of each request id."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        request_id = parse_message(message).request_id
        if request_id is not None:
            threads.setdefault(request_id, []).append(message)
    return threads


def newest_words(messages: Sequence[Message]) -> Iterable[str]:
    """Ids of the newest words on who is in the team, on each agent's end, and on what its sessions do."""
    # guard: lasting-notes-kept
    yield from lasting_notes(messages)
    roster_seen = False
    stops: set[str] = set()
    for message in reversed(messages):
        name = parse_message(message).name
        if name in (CREATED, DESTROYED, ROSTER) and not roster_seen:
            yield message.message_id
            roster_seen = name == ROSTER
        elif name == "shutdown_response" and message.sender not in stops:
            stops.add(message.sender)
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
        asked_again: When it was asked once more after its end, and has not answered that.
    """

    ended: bool
    since: Order
    reason: str
    asked_again: Order | None = None

    def is_over(self, spoke: Order | None) -> bool:
        """Whether it is alive all the same: it spoke after its end (D17)."""
        return self.ended and spoke is not None and spoke > self.since

    def after(self, spoke: Order | None) -> Stop:
        """The stop as it stands once the agent last `spoke` then: whoever came back may be asked again."""
        if self.asked_again is None or not self.is_over(spoke):
            return self
        return Stop(False, self.asked_again, _ASKED)


def shutdowns(
    config: TeamConfig, team: Membership, facts: Iterable[PlacedMessage], recorded: RecordedFacts | None = None
) -> dict[str, Stop]:
    """The standing stop of each agent that has one.

    A request by anybody but the lead, or to the lead or the human, stops nobody, nor does a yes to it (decision D10).
    An answer counts although its clock says that it came before the question; the first answer to a request counts
    (D14).

    Args:
        facts: Shutdown requests and responses, in order; forged ones stop nobody.
        recorded: The audit trail, for what was said before the team began to sign.
    """
    facts = [entry for entry in facts if not objection(config, entry.message, recorded=recorded)]
    answers: dict[tuple[str, str | None], PlacedMessage] = {}
    asked: dict[tuple[str, str | None], bool] = {}
    for entry in facts:
        read, sender = entry.read, entry.message.sender
        if read.name == RESPONSE and read.request_id is not None and read.approve is not None:
            answers.setdefault((sender, read.request_id), entry)
        for name in entry.message.recipients if read.name == REQUEST else ():
            key = name, read.request_id
            asked[key] = asked.get(key, False) or is_master(config, sender)
    agreed: dict[str, Order] = {}
    waiting: dict[str, Order] = {}
    for entry in facts:
        sender, request_id = entry.message.sender, entry.read.request_id
        if entry.read.name == REQUEST and request_id is not None and is_master(config, sender):
            for name in (name for name in entry.message.recipients if name not in (config.lead, USER)):
                waiting[name] = entry.order
                if (name, request_id) in answers:
                    del waiting[name]
        elif answers.get((sender, request_id)) is entry and entry.read.approve:
            if not asked.get((sender, request_id), True):
                continue
            agreed[sender] = entry.order
            waiting.pop(sender, None)
    standing = {name: Stop(False, order, _ASKED) for name, order in waiting.items()}
    standing |= {name: Stop(True, order, _AGREED, waiting.get(name)) for name, order in agreed.items()}
    for name, order in team.left.items():
        stop = standing.get(name)
        if stop is None or not stop.ended or stop.since <= order:
            standing[name] = Stop(True, order, _LEFT)
    for name, order in team.sessions.ended().items():
        stop = standing.get(name)
        if name not in (config.lead, USER) and (stop is None or (stop.ended and stop.since < order)):
            standing[name] = Stop(True, order, _SESSION_OVER)
    back = {name for name, order in team.arrived.items() if name in standing and order > standing[name].since}
    return {name: stop for name, stop in standing.items() if name not in back or name in team.gone}


def silent(config: TeamConfig, messages: Iterable[Message]) -> frozenset[str]:
    """Who does not listen: agreed to stop or destroyed and silent since, or asked to stop without an answer yet."""
    return frozenset(_standing_now(config, messages))


def has_stopped(
    config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None = None
) -> frozenset[str]:
    """Who agreed to stop or was destroyed, and has been silent since."""
    return frozenset(name for name, stop in _standing_now(config, messages, recorded).items() if stop.ended)


def _standing_now(
    config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None = None
) -> dict[str, Stop]:
    messages = list(messages)
    standing = shutdowns(
        config,
        membership_of(config, messages),
        entries_of(messages, lambda message: message.type in SHUTDOWN),
        recorded,
    )
    spoken = spoken_since(standing, messages)
    now = {name: stop.after(spoken.get(name)) for name, stop in standing.items()}
    return {name: stop for name, stop in now.items() if not stop.is_over(spoken.get(name))}


def spoken_since(standing: Mapping[str, Stop], messages: Iterable[Message]) -> dict[str, Order]:
    """When each of these agents last said anything but that it agrees to stop."""
    spoken: dict[str, Order] = {}
    for place, message in enumerate(messages):
        if message.sender in standing:
            entry = PlacedMessage.of(message, place)
            if is_speech(entry):
                spoken[message.sender] = max(entry.order, spoken.get(message.sender, entry.order))
    return spoken


def is_speech(entry: PlacedMessage) -> bool:
    """Whether the sender of this message is alive: all but agreeing to stop, or the end of its session, says so."""
    return not (entry.read.name == RESPONSE and entry.read.approve is True) and not is_end(entry)
