"""Reliance: which read messages the meaning of others still rests on, so that they may not leave the queue alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from team_console.store.model.message import Message, Status
from team_console.store.protocol.judgement import succession_of
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.membership import CREATED, DESTROYED, ROSTER
from team_console.store.protocol.relations.sessions import lasting_notes

DONE = frozenset({Status.READ, Status.RECALLED})
"""What a reader has, and what its writer took back before anybody had it: it leaves once it is archived."""


def relied_on(messages: Sequence[Message], *, present: Collection[str]) -> frozenset[str]:
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
        request_id = reading(message).request_id
        if request_id is not None:
            threads.setdefault(request_id, []).append(message)
    return threads


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
