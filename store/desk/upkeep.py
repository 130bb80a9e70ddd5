"""Keeps the queue small by itself: read messages whose archive copy is proven leave it (decision D18)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from store.message import Message, Status
from store.protocol.reading import reading
from store.team import Transaction

_MEMBERSHIP = frozenset({"AGENT_CREATED", "AGENT_DESTROYED", "AGENT_ROSTER_BROADCAST"})


def settle(tx: Transaction) -> int:
    """Take out read messages beyond the configured number or age; returns how many left.

    A message stays while something live depends on it: its request is unanswered, another message of its
    thread is unread, it is the newest word on who is in the team, or no archive proves to hold it.
    """
    config = tx.config
    read = [one for one in tx.everything() if one.status == Status.READ]
    if not read:
        return 0
    limit = tx.now - timedelta(days=config.archive_after_days)
    too_many = max(0, len(read) - config.active_messages_max)
    leaving = [one for number, one in enumerate(read) if number < too_many or _older(one, limit)]
    if not leaving:
        return 0
    stay = bound(tx.everything())
    gone = [one for one in leaving if one.message_id not in stay and tx.is_archived(one)]
    for one in gone:
        tx.remove(one)
    if gone:
        tx.record("compact", ids=[one.message_id for one in gone])
    return len(gone)


def bound(messages: Sequence[Message]) -> frozenset[str]:
    """Ids of messages that the present state still rests on, whatever their own status is."""
    return frozenset((*_threads(messages), *_membership(messages)))


def _older(message: Message, limit: datetime) -> bool:
    moment = message.created_at
    return moment is not None and moment < limit


def _threads(messages: Iterable[Message]) -> Iterable[str]:
    threads: dict[str, list[Message]] = {}
    unanswered: set[str] = set()
    for one in messages:
        seen = reading(one)
        if seen.request_id is None:
            continue
        threads.setdefault(seen.request_id, []).append(one)
        if seen.kind is not None and seen.kind.opens is not None:
            unanswered.add(seen.request_id)
    for request_id, members in threads.items():
        answered = any((kind := reading(one).kind) is not None and kind.answers is not None for one in members)
        settled = all(one.status == Status.READ for one in members)
        if not settled or (request_id in unanswered and not answered):
            yield from (one.message_id for one in members)


def _membership(messages: Sequence[Message]) -> Iterable[str]:
    roster_seen = False
    stops: set[str] = set()
    for one in reversed(messages):
        name = reading(one).name
        if name in _MEMBERSHIP and not roster_seen:
            yield one.message_id
            roster_seen = name == "AGENT_ROSTER_BROADCAST"
        elif name == "shutdown_response" and one.sender not in stops:
            stops.add(one.sender)
            yield one.message_id
