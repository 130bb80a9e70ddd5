"""Tell which messages must stay in the queue because the meaning of others rests on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from team_console.store.model.message import Message
from team_console.store.protocol.client_sessions import lasting_notes
from team_console.store.protocol.kinds import SHUTDOWN_RESPONSE
from team_console.store.protocol.membership import CREATED, DESTROYED, ROSTER
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.request_chains import Succession, succession_of


def retained_ids(messages: Sequence[Message], *, present: Collection[str]) -> frozenset[str]:
    """Return the ids of messages without which those `present` would mean something else: an older plan would be open
    again.

    These are the rest of their threads, what superseded them, and the newest words on who is in the team.

    Args:
        messages: In stored order; the present ones among them.
        present: Ids of messages that are in the queue.
    """
    threads = threads_of(messages)
    kept = {request_id for request_id, thread in threads.items() if any(one.message_id in present for one in thread)}
    chains: dict[Succession, list[str]] = {}
    for request_id, thread in threads.items():
        for message in thread:
            if (chain := succession_of(message)) is not None:
                chains.setdefault(chain, []).append(request_id)
    for request_ids in chains.values():
        # Each superseded the one before it: from the first that is kept, all that follow are needed.
        first_kept = next((place for place, one in enumerate(request_ids) if one in kept), len(request_ids))
        kept.update(request_ids[first_kept:])
    members = (message.message_id for request_id in kept for message in threads[request_id])
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
        elif name == SHUTDOWN_RESPONSE and message.sender not in stopped:
            stopped.add(message.sender)
            yield message.message_id
