"""Slices of much work: each a transaction of its own, so that nobody waits long for the lock and all work is linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from team_console.store.contract.transaction import Transaction
from team_console.store.model.message import Message

LEAST, MOST = 500, 4000
"""Messages of one transaction. Fewer cost more than they save; with more, others wait too long for the lock."""
_PARTS = 8


def slices(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The messages in order, in stretches to be written one after the other.

    Each transaction writes the whole queue anew, so a fixed length would make the work grow with the square.
    """
    size = min(MOST, max(LEAST, -(-len(messages) // _PARTS)))
    return (messages[start : start + size] for start in range(0, len(messages), size))


def still(tx: Transaction, seen: Sequence[Message]) -> Iterator[Message]:
    """What the messages are now; those that left meanwhile are left out."""
    tx.prefetch([message.message_id for message in seen])
    for message in seen:
        now = tx.current(message)
        if now is not None:
            yield now
