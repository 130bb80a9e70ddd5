"""Receiving: an agent pulls what waits for it, a lease holds it until it is acknowledged (seed 000, decision D3).

Below the flow of a receive stands what each message is checked against before anybody is handed it (`TrustCheck`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.snapshot import OUTCOME_UNKNOWN
from team_console.store.contract.team import Addressed, Team, attachment_of
from team_console.store.contract.transaction import RefusedRowsError, Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.delivery_schedule import MAX_LEASE, attempts_of, is_held, next_attempt
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import TABLE_REFUSES, TRUST, Message, Status, ids_of
from team_console.store.model.names import canonical, check_name
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.model.safe import first_of
from team_console.store.protocol.foreign_fields import mapping_in
from team_console.store.protocol.kinds import SHUTDOWN_REQUEST, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.request_messages import claims_to_answer
from team_console.store.protocol.rights import breach
from team_console.store.protocol.shown_when_decided import digest_of, given_on
from team_console.store.protocol.trust import TrustMark, mark_of
from team_console.store.protocol.verdicts import may_be_verdict
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.compaction import tidy
from team_console.store.service.writing import archive_as_read, check_known, is_settled, leave_as_is
from team_console.store.settings.team_config import TeamConfig


class Received(Struct, frozen=True):
    """What `receive` hands out.

    Attributes:
        messages: Most urgent first, oldest first within a priority, as stored after the change; `trust` in a record
            says what is wrong with it.
        status_message: The sentence of seed 000 for the way it ended.
        delivered: Messages the router pushed and the agent did not acknowledge, left where they are (D19).
        damaged: Entries of the queue that could not be read, so that nobody knows whom they are for.
        may_change_by_itself: Whether something can come to wait without anybody writing: a lease that ends, or
            what is not known because it took a lock to look.
        is_complete: Whether that look showed, too, that no message is missing or damaged.
        unacknowledged: How many were pushed and not acknowledged, of which `delivered` may have only some.
        still_waiting: How many more wait, and did not fit into what was asked for at once.
    """

    agent: str
    messages: tuple[Message, ...]
    status_message: str
    notices: tuple[Problem, ...] = ()
    delivered: tuple[Message, ...] = ()
    damaged: int = 0
    may_change_by_itself: bool = True
    is_complete: bool = False
    unacknowledged: int = 0
    still_waiting: int = 0

    @property
    def count(self) -> int:
        """The number of messages."""
        return len(self.messages)

    def as_json(self) -> dict[str, Any]:
        """Exactly the three keys of seed 000 (requirement 40)."""
        return {
            "messages": [dict(message.record) for message in self.messages],
            "count": self.count,
            "status_message": self.status_message,
        }


# What waits for an agent, taken at once or held by a lease until it is acknowledged.

_NOT_YET_READ = tuple(status for status in Status if status not in (Status.PENDING, Status.READ))


class InboxQuery(Struct, frozen=True):
    """Which messages an agent asks for; arguments as for `receive`.

    Attributes:
        type: The record's, or the kind that a sprint message carries.
    """

    agent: str
    type: str | None = None
    delivered: bool = False
    limit: int | None = None
    most_bytes: int | None = None

    def among(self, messages: Iterable[Message], now: datetime, ranks: Mapping[str, int]) -> list[Message]:
        """Return the messages `receive` would hand out now, in its order (requirements 13-20).

        Nobody has them, or whoever had one did not acknowledge it in time.

        Args:
            ranks: The places of priorities by the team's own settings.
        """
        waiting = [message for message in messages if self._waits(message, now) and not _is_put_off(message, now)]
        return sorted(waiting, key=lambda message: message.order_by(ranks))

    def at_once(self, waiting: Sequence[Message]) -> Sequence[Message]:
        """Return as many of the waiting messages, from the first on, as are asked for at once."""
        chosen = waiting[: self.limit]
        # guard: answer-bounded-by-bytes
        return chosen if self.most_bytes is None else first_fitting(chosen, self.most_bytes, _bytes_of)

    def refused(self, messages: Iterable[Message], now: datetime) -> list[Message]:
        """Return the messages that wait and are not handed out now, since the table did not let their rows change."""
        return [message for message in messages if _is_put_off(message, now) and self._waits(message, now)]

    def _waits(self, message: Message, now: datetime) -> bool:
        """Return whether a message waits for the agent, one whose lease has ended among them."""
        waits = message.is_pending_for(self.agent) or (self.delivered and message.is_delivered_to(self.agent))
        if not waits and message.status == Status.CLAIMED and message.is_addressed_to(self.agent):
            waits = not is_held(message, now)
        return waits and self._fits(message)

    def pushed(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Return the messages that the router delivered and the agent did not acknowledge, urgent ones first."""
        pushed = [message for message in messages if message.is_delivered_to(self.agent) and self._fits(message)]
        return tuple(sorted(pushed, key=lambda message: message.order_by()))

    def _fits(self, message: Message) -> bool:
        return self.type is None or self.type in (message.type, parse_message(message).name)


def first_fitting(messages: Iterable[Message], room: float, size: Callable[[Message], float]) -> list[Message]:
    """Return the messages, from the first on, that fit into the room together; the first one however large it is."""
    fitting: list[Message] = []
    for message in messages:
        room -= size(message)
        if room < 0 and fitting:
            break
        fitting.append(message)
    return fitting


def _bytes_of(message: Message) -> float:
    """Return how many bytes a message has with its attachment; endless where that does not say its own."""
    record = len(json.dumps(dict(message.record), ensure_ascii=False, default=str).encode("utf-8", "replace"))
    if attachment_of(message) is None:
        return record
    attached = mapping_in(message.payload, "attachment").get("bytes")
    return record + attached if isinstance(attached, int) and attached >= 0 else inf


def _is_put_off(message: Message, now: datetime) -> bool:
    """Return whether the table refused to let its row change, and it is not looked at again yet."""
    again = next_attempt(message) if TABLE_REFUSES in message.record else None
    return again is not None and again > now


def _refused_row_problem(message_id: str, why: object) -> Problem:
    """Return the warning that a message stays, since the table does not let its row change."""
    words = f"{message_id} stays: {why or 'the table does not let its row change'}"
    return Problem("ROW_REFUSED", "warning", message_id, words)


def waiting_in(tx: Transaction, wanted: InboxQuery) -> list[Message]:
    """Return the messages that wait for the agent, most urgent first."""
    statuses = (Status.PENDING, *(_NOT_YET_READ if wanted.delivered else (Status.CLAIMED,)))
    # guard: most-urgent-first
    return wanted.among(tx.select(recipient=wanted.agent, statuses=statuses), tx.now, tx.config.ranks)


# Receive of which nobody could tell whether it counts, as when the line is cut in its commit: found out, not
# guessed.

_PAUSE = 0.1
"""Seconds from one try to find out to the next."""
_NAMED = 5


class UnresolvedTakeError(TeamError):
    """What was to be taken may be read by now, or not: the store has to say which.

    Args:
        cause: What the write ended with.
        received: What is handed out if it counts.
        config: The settings when it was taken.
    """

    def __init__(self, cause: TeamError, received: Received, config: TeamConfig) -> None:
        ids = ids_of(received.messages)
        hint = f"Look whether {received.agent} has read it before you go on: team-console show {ids[0]}"
        super().__init__(
            cause.code, f"{cause.message}; it was to take {first_of(ids, _NAMED)}", hint, **cause.facts | {"ids": ids}
        )
        self._received, self._config = received, config

    def found(self, caller: Caller) -> Received | None:
        """Return what is handed out if the trail records it as taken by this receive; else None. Nothing is written.

        What the lost connection may still be about is waited for: it has the lock until it is over.

        Raises:
            TeamError: The store's own, `STORE_LOCKED` among it.
        """
        agent, taken = self._received.agent, self._received.messages
        with caller.transaction("receive", agent) as tx:
            if not any(_is_on_record(tx, agent, message) for message in taken):
                return None
        return replace(self._received, messages=tuple(taken_with_trust_marks(caller.team, taken, self._config)))


def resolve_outcome(caller: Caller, unsure: UnresolvedTakeError) -> Received:
    """Ask the store what was taken until it says so, as long as the caller waits for a lock.

    Raises:
        UnresolvedTakeError: It could not be asked.
        TeamError: `STORE_UNREADABLE` when nothing was taken.
    """
    end = time.monotonic() + caller.wait
    while True:
        try:
            found = unsure.found(caller)
            break
        except TeamError:
            if time.monotonic() >= end:
                raise unsure from None
            time.sleep(_PAUSE)
    if found is not None:
        return found
    text = f"{caller.team.location}: the connection was lost; nothing was taken"
    raise TeamError(Code.STORE_UNREADABLE, text, "Try again.")


def _is_on_record(tx: Transaction, agent: str, taken: Message) -> bool:
    """Return whether a message that was taken stands in the store as this take left it."""
    stored = tx.current(taken)
    if stored is None:
        return tx.has_archived(taken, agent)
    if taken.is_group:
        return agent in taken.read_by and stored.read_by.get(agent) == taken.read_by[agent]
    keys: Sequence[str] = ("token",) if taken.status == Status.CLAIMED else ("status", "read_at")
    # guard: taken-by-another
    return all(stored.record.get(key) == taken.record.get(key) for key in keys)


def receive(
    caller: Caller,
    *,
    agent: str,
    type: str | None = None,
    mark_read: bool = True,
    lease: float | None = None,
    limit: int | None = None,
    most_bytes: int | None = None,
    delivered: bool = False,
) -> Received:
    """Hand `agent` its pending messages; each goes to exactly one caller (requirements 6-48).

    Where nothing waits for it, and the store can tell so without a lock, none is taken.

    Args:
        mark_read: False only looks: no lock, no change (requirement 25).
        lease: Seconds to hold the messages as `claimed` until `acknowledge`, instead of reading them.
        limit: At most so many, the most urgent first, for several workers on one inbox.
        most_bytes: At most so many bytes of messages, attachments among them; the first one goes out however large
            it is.
        delivered: Whether to hand out, too, what the router pushed and the agent did not acknowledge (D19).

    Raises:
        TeamError: `INVALID_NAME`, `AGENT_NOT_FOUND` for a name that a team with declared members does not know,
            `INVALID_FIELD` for a lease or limit that is not above 0, or the store's own.
    """
    agent = check_name(agent, field="agent")
    longest = MAX_LEASE.total_seconds()
    if lease is not None and not 0 < lease <= longest:
        text = f"lease: {lease} is not a number of seconds above 0 and up to {longest:.0f}"
        raise TeamError(Code.INVALID_FIELD, text, "Give --lease 60.")
    if limit is not None and limit < 1:
        raise TeamError(Code.INVALID_FIELD, f"limit: {limit} is not a number above 0", "Give 10, for example.")
    wanted, team = InboxQuery(agent, type, delivered, limit, most_bytes), caller.team
    # What is for the agent, where that can be told without a lock.
    look = team.addressed(agent) if not (mark_read and team.read_only) else None
    nothing = None if look is None else _empty_result(team, wanted, look)
    if nothing is not None:
        return nothing
    if mark_read:
        return _take_waiting(caller, wanted, lease, look)
    snapshot = team.snapshot().require_known()
    check_known(snapshot, [agent], has_written=True)
    waiting = wanted.among(snapshot.messages, snapshot.now, snapshot.config.ranks)
    shown = wanted.at_once(waiting)
    return _make_received(
        wanted,
        with_trust_marks(team, shown) if shown else (),
        snapshot.messages,
        snapshot.now,
        is_empty=not snapshot.messages,
        notices=(snapshot.doubt,) if snapshot.doubt else (),
        damaged=sum(problem.code == "DAMAGED_ENTRY" for problem in snapshot.problems),
        still_waiting=len(waiting) - len(shown),
    )


def _empty_result(team: Team, wanted: InboxQuery, look: Addressed) -> Received | None:
    """Return the result without a message, when the look proves that nothing waits; else None."""
    now = team.clock()
    if wanted.among(look.messages, now, {}):
        return None
    if wanted.delivered and look.pushed is not None:
        return None
    named = any(wanted.agent in message.recipients for message in look.messages)
    # guard: empty-look-reads-nothing
    if not named and not is_settled(team.config(), wanted.agent):
        check_known(team.snapshot().require_known(), [wanted.agent], has_written=True)
    empty = look.is_empty
    result = _make_received(wanted, (), look.messages, now, is_empty=empty, damaged=look.damaged, pushed=look.pushed)
    is_put_off = bool(wanted.refused(look.messages, now))
    changing = is_put_off or any(message.status == Status.CLAIMED for message in look.messages)
    return replace(result, may_change_by_itself=changing, is_complete=look.is_complete)


def _take_waiting(
    caller: Caller,
    wanted: InboxQuery,
    lease: float | None,
    look: Addressed | None,
    refused: Mapping[str, str] = {},
) -> Received:
    """Take what waits, and return it once it is on record.

    Args:
        look: What the look without a lock found; None where it could not tell.
        refused: Message id -> why the table does not let its row change, as the try before found out.
    """
    received = None
    try:
        with caller.transaction("claim" if lease else "receive", wanted.agent) as tx:
            received = _take_in(tx, wanted, lease, look, refused)
    except RefusedRowsError as error:
        if not error.certain or not error.rows.keys() - refused.keys():
            raise
        return _take_waiting(caller, wanted, lease, look, {**refused, **error.rows})
    except TeamError as error:
        # guard: unknown-commit-resolved
        if received is None or not (received.messages and error.facts.get(OUTCOME_UNKNOWN)):
            raise
        return resolve_outcome(caller, UnresolvedTakeError(error, received, tx.config))
    marked = taken_with_trust_marks(caller.team, received.messages, tx.config)
    return replace(received, messages=tuple(marked), notices=(*tx.notices, *received.notices))


def _take_in(
    tx: Transaction, wanted: InboxQuery, lease: float | None, look: Addressed | None, refused: Mapping[str, str]
) -> Received:
    """Lease or read what waits, and return what is handed out; arguments as for `_take_waiting`."""
    agent = wanted.agent
    check_known(tx, [agent], has_written=True)
    # guard: refused-row-stays
    waiting = [message for message in waiting_in(tx, wanted) if message.message_id not in refused]
    chosen = wanted.at_once(waiting)
    # With mail to hand out, what the look found says enough of the rest, and the others' messages need not be read.
    live = look.messages if chosen and look is not None else tx.everything()
    taken = [_claim(tx, item, agent, lease) if lease else archive_as_read(tx, item, agent) for item in chosen]
    for message_id, why in refused.items():
        if (stays := tx.get(message_id)) is not None:
            leave_as_is(tx, stays, why)
    if taken:
        ids = ids_of(taken)
        tx.record("claim" if lease else "receive", agent=agent, ids=ids)
        if tx.is_tidying_due:
            tidy(tx, keep=ids)
    received = _make_received(
        wanted,
        taken,
        live,
        tx.now,
        is_empty=not live,
        notices=tuple(_refused_row_problem(message_id, why) for message_id, why in refused.items()),
        damaged=tx.damaged,
        pushed=look.pushed if look is not None else None,
        still_waiting=len(waiting) - len(taken),
    )
    return replace(received, is_complete=look is not None and look.is_complete)


def read_message(caller: Caller, *, agent: str, message_id: str) -> Receipt:
    """Mark one message as read by `agent`, because a human looked at it; a no-op when it was read already.

    Raises:
        TeamError: `INVALID_FIELD` when there is no such message for this agent.
    """
    with caller.transaction("read", agent) as tx:
        message = _message_for(tx, message_id, agent)
        if message.is_unread_by(agent):
            message = archive_as_read(tx, message, agent)
            tidy(tx, keep=[message_id])
            tx.record("read", agent=agent, ids=[message_id])
    return receipt(tx, "read", [message])


def acknowledge(caller: Caller, *, ids: Sequence[str], token: str | None = None) -> Receipt:
    """Mark delivered or claimed messages as read, all or none; acknowledging twice is a no-op (case 56).

    Raises:
        TeamError: `INVALID_FIELD` for an unknown id; `NOT_PERMITTED` when it is pending, or another holds it.
    """
    done: list[Message] = []
    changed: list[str] = []
    with caller.transaction("ack") as tx:
        for message_id in dict.fromkeys(ids):
            message = _message_for(tx, message_id, caller.actor)
            if _needs_acknowledgement(message, caller.actor, token):
                message = archive_as_read(tx, message, caller.actor)
                changed.append(message_id)
            done.append(message)
        if changed:
            tx.record("ack", agent=caller.actor, ids=changed)
            if tx.is_tidying_due:
                tidy(tx, keep=changed)
    return receipt(tx, "ack", done, repeated=not changed)


def _claim(tx: Transaction, message: Message, agent: str, lease: float) -> Message:
    """Lease a message to the agent, or read it at once where it is for several."""
    if message.is_group:
        return archive_as_read(tx, message, agent)
    changed = message.with_changes(
        table_refuses=None,
        status=Status.CLAIMED.value,
        claimed_by=agent,
        claimed_at=to_text(tx.now),
        lease_until=to_text(tx.now + timedelta(seconds=lease)),
        token=os.urandom(8).hex(),
        attempts=attempts_of(message) + 1,
    )
    tx.replace(message, changed)
    return changed


def _message_for(tx: Transaction, message_id: str, agent: str) -> Message:
    """Return the message of this id, which is for `agent`; the archived one only without a live.

    Raises:
        TeamError: `INVALID_FIELD` when there is none; `NOT_PERMITTED` when it left the queue before it was read.
    """
    live = tx.get(message_id)
    if live is not None and live.is_addressed_to(agent):
        return live
    known = tx.known(message_id) if live is None else None
    if known is None or not known.is_addressed_to(agent):
        text = f"no message {message_id} for {agent}"
        raise TeamError(Code.INVALID_FIELD, text, f"List them with: team-console inbox {agent}")
    if not known.is_read_by(agent):
        text = f"{message_id} was taken out of the queue before {agent} had read it"
        raise TeamError(Code.NOT_PERMITTED, text, f"It is in the history: team-console history --grep {message_id}")
    return known


def _needs_acknowledgement(message: Message, agent: str, token: str | None) -> bool:
    """Return whether a message is yet to be marked as read; refuse one that the agent does not hold."""
    facts: Mapping[str, Any] = message.record
    if message.is_read_by(agent):
        return False
    if message.status == Status.DELIVERED or agent in message.delivered_to:
        return True
    if message.status == Status.CLAIMED and canonical(str(facts.get("claimed_by"))) == agent:
        if token is None or token == facts.get("token"):
            return True
        raise TeamError(
            Code.NOT_PERMITTED,
            f"{message.message_id}: the lease ended and the message was handed out again",
            "Do not act on it twice; whoever holds it now will acknowledge it.",
        )
    raise TeamError(
        Code.NOT_PERMITTED,
        f"{message.message_id} is {message.status}, so {agent} has nothing to acknowledge",
        f"Receive it first: team-console receive --agent {agent}",
    )


def _make_received(
    wanted: InboxQuery,
    taken: Sequence[Message],
    live: Sequence[Message],
    now: datetime,
    *,
    is_empty: bool,
    notices: tuple[Problem, ...] = (),
    damaged: int = 0,
    pushed: int | None = None,
    still_waiting: int = 0,
) -> Received:
    """Return the result, with the sentence of seed 000.

    Args:
        live: Live messages as they were before, at least all that were for the agent.
        pushed: As in `Addressed`.
    """
    agent = wanted.agent
    if taken:
        status = f"Messages for {agent}: {len(taken)}"
    else:
        status = "No messages in queue" if is_empty else f"No pending messages for {agent}"
    ids = set(ids_of(taken))
    told = ids | {notice.place for notice in notices}
    # guard: put-off-message-told
    notices += tuple(
        _refused_row_problem(message.message_id, mapping_in(message.record, TABLE_REFUSES).get("why"))
        for message in wanted.refused(live, now)
        if message.message_id not in told
    )
    left = tuple(message for message in wanted.pushed(live) if message.message_id not in ids)
    unacknowledged = len(left)
    if pushed is not None and not wanted.delivered:
        unacknowledged = max(unacknowledged, pushed)
    return Received(
        agent,
        tuple(taken),
        status,
        notices,
        left,
        damaged,
        unacknowledged=unacknowledged,
        still_waiting=still_waiting,
    )


class TrustCheck(Struct, frozen=True):
    """What a message is checked against before it is handed on.

    Attributes:
        questions: Request id -> the messages that ask.
        answered: Message id of each order to stop -> when whoever it is for first answered it.
        changed: Ids of messages that were changed after they were recorded.
        is_unchecked: Whether the team could not be read, so that no verdict is known to be whole.
    """

    config: TeamConfig
    recorded: RecordedFacts | None = None
    questions: Mapping[str, Sequence[Message]] = {}
    answered: Mapping[str, datetime] = {}
    changed: frozenset[str] = frozenset()
    is_unchecked: bool = False

    def mark(self, message: Message) -> TrustMark | None:
        """Return the warning on a message; None when nothing is wrong."""
        mark = mark_of(self.config, message, self._question_of(message), recorded=self.recorded)
        harmless = (None, TrustMark.FOREIGN)
        if mark in (*harmless, TrustMark.UNVERIFIED) and message.message_id in self.changed:
            return TrustMark.CHANGED
        if mark is None and self.is_unchecked and may_be_verdict(self.config, message):
            # guard: unchecked-verdict-marked
            return TrustMark.UNCHECKED
        answered = self.answered.get(message.message_id)
        read_at = message.moment("read_at")
        # An order that is read, or waits to be, after it was answered: answering it meant having read it.
        came_back = answered is not None and (read_at is None or read_at > answered)
        return TrustMark.REPLAYED if mark in harmless and came_back else mark

    def _question_of(self, message: Message) -> Message | None:
        """Return what the message answers: of several questions under one id that which it was given on, else the
        first.
        """
        asked = self.questions.get(parse_message(message).request_id or "", ())
        digest = given_on(message) if len(asked) > 1 else ""
        meant = (question for question in asked if digest_of(question) == digest)
        return next(meant, asked[0] if asked else None)

    def marked(self, message: Message) -> Message:
        """Return the message with its mark; itself when nothing is wrong with it."""
        mark = self.mark(message)
        if mark is None and TRUST not in message.record:
            return message
        return message.with_changes(**{TRUST: str(mark) if mark is not None else None})


def trust_check(team: Team, messages: Iterable[Message], config: TeamConfig | None = None) -> TrustCheck:
    """Return what these messages are checked against; the store is read only when there is a verdict among them.

    Args:
        config: The settings when they were taken; those there are now when left out.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    config = config or team.config()
    verdicts = [message for message in messages if may_be_verdict(config, message) or breach(config, message)]
    changed = team.reworded()
    if not verdicts:
        return TrustCheck(config, changed=changed)
    snapshot = team.snapshot()
    if not snapshot.is_known:
        raise TeamError(Code.STORE_UNREADABLE, f"{team.location} cannot be read, so no verdict can be checked", "")
    threads: dict[str, list[Message]] = {parse_message(verdict).request_id or "": [] for verdict in verdicts}
    for message in (*snapshot.messages, *team.archived(*sorted(filter(None, threads)))):
        request_id = parse_message(message).request_id or ""
        if request_id in threads:
            threads[request_id].append(message)
    questions = {
        request_id: [message for message in thread if parse_message(message).opens is not None]
        for request_id, thread in threads.items()
    }
    return TrustCheck(config, snapshot.recorded, questions, _first_answers(verdicts, threads), changed)


def _first_answers(verdicts: Iterable[Message], threads: Mapping[str, Sequence[Message]]) -> dict[str, datetime]:
    """Return message id of each order to stop -> when whoever it is for first answered it."""
    answered: dict[str, datetime] = {}
    for order in verdicts:
        if parse_message(order).name != SHUTDOWN_REQUEST:
            continue
        request_id = parse_message(order).request_id or ""
        moments = [
            said.created_at
            for said in threads[request_id]
            if said.sender in order.recipients
            and said.created_at is not None
            and claims_to_answer(said, RequestKind.SHUTDOWN, request_id)
        ]
        if moments:
            answered[order.message_id] = min(moments)
    return answered


def with_trust_marks(team: Team, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages as they are handed on: each with its mark where something is wrong with it.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    return tuple(map(trust_check(team, messages).marked, messages))


def taken_with_trust_marks(team: Team, messages: Sequence[Message], config: TeamConfig) -> list[Message]:
    """Return messages that count as read by now, each with its mark: they must reach their reader, even if the store
    is gone since.

    Args:
        config: The settings when they were taken.
    """
    try:
        trust = trust_check(team, messages, config)
    except TeamError:
        # guard: unchecked-after-outage
        trust = TrustCheck(config, is_unchecked=True)
    return [trust.marked(message) for message in messages]
