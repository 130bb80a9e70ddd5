"""Slices of much work: each a transaction of its own, so that nobody waits long for the lock and all work is linear."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from team_console.store.contract.transaction import Transaction
from team_console.store.model.message import Message

LEAST, MOST = 500, 4000
"""Messages of one transaction to begin with. Fewer cost more than they save."""
_FIRST = 1000
"""Of the first: how long each takes is not known yet."""
_PARTS = 8
_FEWEST = 50
_LONGEST = 0.9
"""Seconds of the processor that a slice should take at most: nobody is to wait for the lock for longer than two."""
_BESIDE = 1.4
"""How many times longer it may take by the clock. Beside other programs shorter slices are no quicker, since each
writes all of the queue; but nobody waits longer for the lock because a third program is busy."""
now: Callable[[], float] = time.monotonic
spent: Callable[[], float] = time.process_time


def slices(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The messages in order, in stretches to be written one after the other.

    Each transaction writes the whole queue anew, so a fixed length would make the work grow with the square. Where a
    stretch took too long, on a slow disk or beside much else, those that follow are shorter, until it goes better.
    """
    most = min(MOST, max(LEAST, -(-len(messages) // _PARTS)))
    size = min(most, _FIRST)
    start = 0
    while start < len(messages):
        begun, worked = now(), spent()
        yield messages[start : start + size]
        start += size
        size = _fitting(size, max(spent() - worked, (now() - begun) / _BESIDE), most)


def _fitting(size: int, seconds: float, most: int) -> int:
    """How long the next stretch may be after one of `size` that took so many seconds."""
    if seconds > _LONGEST:
        return max(min(_FEWEST, most), int(size * _LONGEST / seconds))
    return min(most, 2 * size) if seconds < _LONGEST / 3 else size


def still(tx: Transaction, seen: Sequence[Message]) -> Iterator[Message]:
    """What the messages are now; those that left meanwhile are left out."""
    tx.prefetch([message.message_id for message in seen])
    for message in seen:
        now = tx.current(message)
        if now is not None:
            yield now
