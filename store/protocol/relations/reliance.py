"""Reliance: which read messages the meaning of others still rests on, so that they may not leave the queue alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from team_console.store.model.message import Message, Status
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.membership import CREATED, DESTROYED, ROSTER
from team_console.store.protocol.relations.sessions import lasting_notes
from team_console.store.protocol.relations.succession import superseders

DONE = frozenset({Status.READ, Status.RECALLED})
"""What a reader has, and what its writer took back before anybody had it: it leaves once it is archived."""
Threads = Mapping[str, Sequence[Message]]
"""Request id -> everything that carries it, in stored order."""


def relied_on(messages: Sequence[Message], *, present: Collection[str]) -> frozenset[str]:
    """Ids of messages without which those `present` would mean something else: an older plan would be open again.

    These are the rest of their threads, what superseded them, and the newest words on who is in the team.

    Args:
        messages: In stored order; the present ones among them.
        present: Ids of messages that are in the queue.
    """
    threads = threads_of(messages)
    live = {key for key, thread in threads.items() if any(message.message_id in present for message in thread)}
    kept = with_superseders(live, threads, superseders(messages))
    members = (message.message_id for key in kept for message in threads[key])
    return frozenset((*members, *newest_words(messages)))


def threads_of(messages: Iterable[Message]) -> dict[str, list[Message]]:
    """The messages of each request id."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        request_id = reading(message).request_id
        if request_id is not None:
            threads.setdefault(request_id, []).append(message)
    return threads


def questions_in(threads: Threads) -> Iterable[tuple[str, str]]:
    """Message id and request id of each question."""
    for key, thread in threads.items():
        for message in thread:
            if reading(message).opens is not None:
                yield message.message_id, key


def with_superseders(keys: Iterable[str], threads: Threads, newer: Mapping[str, Message]) -> set[str]:
    """Request ids `keys`, and those of everything that superseded them: without it the older ones would be open again.

    Args:
        newer: What `superseders` says.
    """
    kept = set(keys)
    waiting = list(kept)
    while waiting:
        key = waiting.pop()
        for message_id, _ in questions_in({key: threads[key]}):
            later = newer.get(message_id)
            its_key = reading(later).request_id if later is not None else None
            if its_key is not None and its_key not in kept:
                kept.add(its_key)
                waiting.append(its_key)
    return kept


def newest_words(messages: Sequence[Message]) -> Iterable[str]:
    """Ids of the newest words on who is in the team, on each agent's end, and on what its sessions do."""
    yield from lasting_notes(messages)
    roster_seen = False
    stops: set[str] = set()
    for message in reversed(messages):
        name = reading(message).name
        if name in (CREATED, DESTROYED, ROSTER) and not roster_seen:
            yield message.message_id
            roster_seen = name == ROSTER
        elif name == "shutdown_response" and message.sender not in stops:
            stops.add(message.sender)
            yield message.message_id
