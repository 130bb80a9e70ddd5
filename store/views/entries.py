"""The messages a board knows, each with its reading and its place, and what changed between two snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import compress, count
from operator import is_not

from store.message import Message
from store.protocol.kinds import Family
from store.protocol.reading import Reading, reading

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for a missing or unreadable time: oldest (000-n)."""
Order = tuple[datetime, float]
"""When it was created, then its place in the store."""


class Entry:
    """One message at its place. `order` is by time, then by place, so that equal times keep the stored order."""

    __slots__ = ("message", "order", "read")

    def __init__(self, message: Message, place: float) -> None:
        self.message = message
        self.read: Reading = reading(message)
        self.order: Order = (message.created_at or EARLIEST, place)

    @property
    def place(self) -> float:
        """Grows along the stored order."""
        return self.order[1]

    @property
    def moment(self) -> datetime | None:
        """When the message was created, None when that is unknown."""
        return None if self.order[0] is EARLIEST else self.order[0]

    @property
    def is_fact(self) -> bool:
        """Whether requests, rosters or a sprint rest on it, so that it counts after it left the queue."""
        read = self.read
        return read.request_id is not None or (read.kind is not None and read.kind.family is Family.SPRINT)


@dataclass(frozen=True, slots=True)
class Change:
    """What left and what came, each in stored order; a changed message is in both."""

    removed: tuple[Entry, ...] = ()
    added: tuple[Entry, ...] = ()


class NoRoomError(Exception):
    """So many messages were written into one gap that places ran out; start anew."""


class Queue:
    """The live messages as entries; tells what changed by comparing objects, not contents."""

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()
        self._entries: list[Entry] = []

    def update(self, messages: tuple[Message, ...]) -> Change:
        """Take over the live messages of a snapshot and say what changed.

        Raises:
            NoRoomError: Places ran out; the queue is unchanged.
        """
        old = self._messages
        head = _common(old, messages)
        if head == len(old) == len(messages):
            return Change()
        tail = _common(old[head:][::-1], messages[head:][::-1])
        stop = len(old) - tail
        before = self._entries[head:stop]
        low = self._entries[head - 1].place if head else None
        high = self._entries[stop].place if tail else None
        after = list(_placed(before, messages[head : len(messages) - tail], low=low, high=high))
        self._entries[head:stop] = after
        self._messages = messages
        kept, was = set(map(id, after)), set(map(id, before))
        return Change(
            tuple(one for one in before if id(one) not in kept), tuple(one for one in after if id(one) not in was)
        )


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages at the beginning are the same objects."""
    return next(compress(count(), map(is_not, one, other)), min(len(one), len(other)))


def _placed(
    before: Iterable[Entry], messages: Sequence[Message], *, low: float | None, high: float | None
) -> Iterator[Entry]:
    """Entries for `messages`: the old one where the object and the order are the same, else a fresh one between."""
    known = {id(entry.message): entry for entry in before}
    fresh: list[Message] = []
    for message in messages:
        entry = known.get(id(message))
        if entry is None or (low is not None and entry.place <= low):
            fresh.append(message)
            continue
        yield from _between(fresh, low, entry.place)
        fresh = []
        yield entry
        low = entry.place
    yield from _between(fresh, low, high)


def _between(messages: Sequence[Message], low: float | None, high: float | None) -> Iterator[Entry]:
    if not messages:
        return
    if high is None:
        start = 0.0 if low is None else low
        yield from (Entry(message, start + number) for number, message in enumerate(messages, start=1))
        return
    start = high - len(messages) - 1 if low is None else low
    step = (high - start) / (len(messages) + 1)
    for number, message in enumerate(messages, start=1):
        place = start + step * number
        if not start < place < high:
            raise NoRoomError
        yield Entry(message, place)
