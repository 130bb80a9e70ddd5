"""Receiving: an agent pulls what waits for it, a lease holds it until it is acknowledged (seed 000, decision D3)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from store.clock import to_text
from store.config import TeamConfig
from store.desk.seat import Receipt, Seat
from store.desk.upkeep import settle
from store.errors import Code, TeamError
from store.message import Message, Status
from store.names import check_name
from store.protocol.reading import reading
from store.schedule import MAX_LEASE, is_held
from store.team import Problem, Snapshot, Transaction


class Received(Struct, frozen=True):
    """What `receive` hands out.

    Attributes:
        messages: Most urgent first, oldest first within a priority, as stored after the change.
        status_message: The sentence of seed 000 for the way it ended.
    """

    agent: str
    messages: tuple[Message, ...]
    status_message: str
    notices: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Exactly the three keys of seed 000 (requirement 40)."""
        return {
            "messages": [dict(one.record) for one in self.messages],
            "count": len(self.messages),
            "status_message": self.status_message,
        }


def receive(
    seat: Seat,
    *,
    agent: str,
    type: str | None = None,
    mark_read: bool = True,
    lease: float | None = None,
    limit: int | None = None,
) -> Received:
    """Hand `agent` its pending messages; each goes to exactly one caller (requirements 6-48).

    Args:
        mark_read: False only looks: no lock, no change (requirement 25).
        lease: Seconds to hold the messages as `claimed` until `acknowledge`, instead of reading them.
        limit: At most so many, for several workers on one inbox; where they can, they are served side by side,
            and a message another worker is just being given is left out.

    Raises:
        TeamError: `INVALID_NAME`, `INVALID_FIELD` for a lease or limit that is not above 0, or the store's own.
    """
    check_name(agent, field="agent")
    longest = MAX_LEASE.total_seconds()
    if lease is not None and not 0 < lease <= longest:
        what = f"is longer than {longest:.0f} seconds" if lease > longest else "is not a number of seconds above 0"
        raise TeamError(Code.INVALID_FIELD, f"lease: {lease} {what}", "Give --lease 60.")
    if limit is not None and limit < 1:
        raise TeamError(Code.INVALID_FIELD, f"limit: {limit} is not a number above 0", "Give 10, for example.")
    if not mark_read:
        snapshot = readable(seat.team.snapshot())
        waiting = waiting_for(snapshot.messages, agent, type, snapshot.taken_at, snapshot.config)
        return _received(agent, waiting[:limit], bool(snapshot.messages))
    action = "claim" if lease else "receive"
    with seat.team.claims(actor=agent, action=action, wait=seat.wait) as tx:
        waiting = _take(tx, agent, type, limit)
        any_message = bool(waiting or tx.everything())
        taken = [_claim(tx, one, agent, lease) if lease else mark_as_read(tx, one, agent) for one in waiting]
        if taken:
            if tx.alone:
                settle(tx)
            tx.record(action, agent=agent, ids=[one.message_id for one in taken])
    if not tx.alone:
        _settle_later(seat, tx.config, 0 if lease else len(taken))
    return _received(agent, taken, any_message, tuple(tx.notices))


def _take(tx: Transaction, agent: str, type: str | None, limit: int | None) -> list[Message]:
    """What waits for `agent`, kept from everybody else until the end of the transaction."""
    if tx.alone:
        return waiting_for(tx.everything(), agent, type, tx.now, tx.config)[:limit]
    pending = tx.select(recipient=agent, statuses=(Status.PENDING,), limit=limit if type is None else None)
    waiting = waiting_for(pending, agent, type, tx.now, tx.config)
    if limit is None or len(waiting) < limit:
        held = tx.select(recipient=agent, statuses=(Status.CLAIMED,))
        waiting += waiting_for(held, agent, type, tx.now, tx.config)
        waiting.sort(key=lambda one: one.order_by(tx.config.ranks))
    return waiting[:limit]


def _settle_later(seat: Seat, config: TeamConfig, read: int) -> None:
    """Now and then, the more often the more is read, take read messages out in a transaction that is alone."""
    if secrets.randbelow(5 * config.active_messages_max) >= read:
        return
    with suppress(TeamError), seat.team.transaction(actor=seat.actor, action="compact", wait=0.1) as tx:
        settle(tx)


def read_message(seat: Seat, *, agent: str, message_id: str) -> Receipt:
    """Mark one message as read by `agent`, because a human looked at it; a no-op when it was read already.

    Raises:
        TeamError: `INVALID_FIELD` when there is no such message for this agent.
    """
    with seat.team.transaction(actor=agent, action="read", wait=seat.wait) as tx:
        message = _addressed(tx, message_id, agent)
        if message.is_pending_for(agent) or (message.status == Status.DELIVERED and not message.is_group):
            message = mark_as_read(tx, message, agent)
            settle(tx)
            tx.record("read", agent=agent, ids=[message_id])
    return Receipt("read", (message,), notices=tuple(tx.notices))


def acknowledge(seat: Seat, *, ids: Sequence[str], token: str | None = None) -> Receipt:
    """Delivered or claimed -> read, all or none; acknowledging twice is a no-op (case 56).

    Raises:
        TeamError: `INVALID_FIELD` for an unknown id; `NOT_PERMITTED` when it is pending, or another holds it.
    """
    done: list[Message] = []
    changed: list[str] = []
    with seat.team.claims(actor=seat.actor, action="ack", wait=seat.wait) as tx:
        tx.prefetch(ids)
        for message_id in dict.fromkeys(ids):
            message = _addressed(tx, message_id, seat.actor)
            if _needs_acknowledgement(message, seat.actor, token):
                message = mark_as_read(tx, message, seat.actor)
                changed.append(message_id)
            done.append(message)
        if changed:
            if tx.alone:
                settle(tx)
            tx.record("ack", agent=seat.actor, ids=changed)
    if not tx.alone:
        _settle_later(seat, tx.config, len(changed))
    return Receipt("ack", tuple(done), repeated=not changed, notices=tuple(tx.notices))


def readable(snapshot: Snapshot) -> Snapshot:
    """The snapshot when its messages can be trusted to be all there are.

    Raises:
        TeamError: `STORE_UNREADABLE` with the place: an unreadable queue is not an empty one (decision D16).
    """
    if snapshot.is_known:
        return snapshot
    errors = [one for one in snapshot.problems if one.severity == "error"]
    first = errors[0] if errors else Problem("", "error", "the queue", str(snapshot.condition), "")
    raise TeamError(Code.STORE_UNREADABLE, first.sentence, first.hint)


def waiting_for(
    messages: Sequence[Message], agent: str, type: str | None, now: datetime, config: TeamConfig
) -> list[Message]:
    """Messages `receive` would hand out now, in its order (requirements 13-20; leases that ended count)."""
    found = [
        one
        for one in messages
        if (one.is_pending_for(agent) or _lease_ended(one, agent, now))
        and (type is None or type in (one.type, reading(one).name))
    ]
    return sorted(found, key=lambda one: one.order_by(config.ranks))


def mark_as_read(tx: Transaction, message: Message, agent: str) -> Message:
    """Read for `agent`: archived in its history, then changed in the queue (archive first, decision D7)."""
    at = to_text(tx.now)
    if message.is_group:
        read_by = {**message.read_by, agent: at}
        others = [name for name in _addressees(tx, message) if name not in read_by]
        changed = message.with_changes(read_by=read_by, status=message.status if others else Status.READ.value)
    else:
        changed = message.with_changes(
            status=Status.READ.value, read_at=at, claimed_by=None, lease_until=None, token=None
        )
    tx.archive(agent, changed)
    tx.replace(message, changed)
    return changed


def _claim(tx: Transaction, message: Message, agent: str, lease: float) -> Message:
    if message.is_group:
        return mark_as_read(tx, message, agent)
    attempts = message.envelope("attempts")
    changed = message.with_changes(
        status=Status.CLAIMED.value,
        claimed_by=agent,
        lease_until=to_text(tx.now + timedelta(seconds=lease)),
        token=secrets.token_hex(8),
        attempts=(attempts if isinstance(attempts, int) else 0) + 1,
    )
    tx.replace(message, changed)
    return changed


def _lease_ended(message: Message, agent: str, now: datetime) -> bool:
    if message.status != Status.CLAIMED or not message.is_addressed_to(agent):
        return False
    return not is_held(message, now)


def _addressees(tx: Transaction, message: Message) -> list[str]:
    from store.desk.draft import current_members
    from store.names import ALL

    names = current_members(tx) if ALL in message.recipients else message.recipients
    return [name for name in names if name != message.sender]


def _addressed(tx: Transaction, message_id: str, agent: str) -> Message:
    message = tx.known(message_id)
    if message is not None and message.is_addressed_to(agent):
        return message
    raise TeamError(
        Code.INVALID_FIELD,
        f"no message {message_id} for {agent}",
        f"List them with: team-console inbox {agent}",
    )


def _needs_acknowledgement(message: Message, agent: str, token: str | None) -> bool:
    facts: Mapping[str, Any] = message.record
    if message.status == Status.READ or agent in message.read_by:
        return False
    if message.status == Status.DELIVERED or agent in message.delivered_to:
        return True
    if message.status == Status.CLAIMED and facts.get("claimed_by") == agent:
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


def _received(
    agent: str, messages: Sequence[Message], any_message: bool, notices: tuple[Problem, ...] = ()
) -> Received:
    if messages:
        status = f"Messages for {agent}: {len(messages)}"
    else:
        status = f"No pending messages for {agent}" if any_message else "No messages in queue"
    return Received(agent, tuple(messages), status, notices)
