"""The messages a board knows, each with its reading and its place, and what changed between two snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter, lt

from msgspec import Struct
from team_console.store.model.chunked import Chunked, common_head, common_tail
from team_console.store.model.message import Message
from team_console.store.protocol.kinds import CARRIERS, Family
from team_console.store.protocol.parsing import ParsedMessage, parse_message

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for a missing or unreadable time: oldest (000-n)."""
_PLACE = attrgetter("place")
_FACTUAL = frozenset({Family.SPRINT, Family.CLIENTS})
Order = tuple[datetime, float]
"""When it was created, then its place in the store."""


class Entry(Struct, eq=False, gc=False):
    """One message at its place. What it says and where it stands among others is worked out when first asked for:
    of a long queue most entries are only counted.

    Attributes:
        place: Grows along the stored order.
        when: When the message was created; `EARLIEST` when that is unknown.
    """

    message: Message
    place: float
    when: datetime
    _read: ParsedMessage | None = None
    _order: Order | None = None

    @classmethod
    def of(cls, message: Message, place: float) -> Entry:
        """The entry of a message at a place."""
        return cls(message, place, message.created_at or EARLIEST)

    @property
    def order(self) -> Order:
        """By time, then by place, so that equal times keep the stored order; always the same object."""
        order = self._order
        if order is None:
            order = self._order = self.when, self.place
        return order

    @property
    def read(self) -> ParsedMessage:
        """What the message says, understood when first asked for."""
        read = self._read
        if read is None:
            read = parse_message(self.message)
            if not self.message.is_letter:  # those are read again in no time, and there are many
                self._read = read
        return read

    @property
    def moment(self) -> datetime | None:
        """When the message was created, None when that is unknown."""
        return None if self.when is EARLIEST else self.when

    def is_before(self, other: Entry) -> bool:
        """Whether it comes before another by `order`, without making one."""
        return self.place < other.place if self.when == other.when else self.when < other.when

    @property
    def is_mail(self) -> bool:
        """Whether it is a plain message of words for people, as most are: then nobody has to read it to judge it."""
        message = self.message
        return message.is_letter and message.type in CARRIERS

    @property
    def is_fact(self) -> bool:
        """Whether requests, rosters or a sprint rest on it, so that it counts after it left the queue."""
        if self.is_mail:
            return False
        read = self.read
        return read.request_id is not None or (read.kind is not None and read.kind.family in _FACTUAL)


class QueueDelta(Struct, frozen=True):
    """What left and what came, each in stored order; a changed message is in both."""

    removed: tuple[Entry, ...] = ()
    added: tuple[Entry, ...] = ()


class NoRoomError(Exception):
    """So many messages were written into one gap that places ran out; start anew."""


class Queue:
    """The live messages as entries; tells what changed by comparing objects, not contents."""

    def __init__(self) -> None:
        self._messages: Chunked[Message] = Chunked.of(())
        self._entries: list[Entry] = []

    def update(self, live: Sequence[Message]) -> QueueDelta:
        """Take over the live messages of a snapshot and say what changed.

        Raises:
            NoRoomError: Places ran out; the queue is unchanged.
        """
        old, messages = self._messages, Chunked.of(live)
        shorter = min(len(old), len(messages))
        head = common_head(old, messages)
        if head == len(old) == len(messages):
            return QueueDelta()
        tail = common_tail(old, messages, shorter - head)
        stop = len(old) - tail
        before = self._entries[head:stop]
        low = self._entries[head - 1].place if head else None
        high = self._entries[stop].place if tail else None
        after = _placed(before, messages[head : len(messages) - tail], low=low, high=high)
        self._entries[head:stop] = after
        self._messages = messages
        if not before:
            return QueueDelta((), tuple(after))
        kept, was = set(after), set(before)
        return QueueDelta(
            tuple(entry for entry in before if entry not in kept), tuple(entry for entry in after if entry not in was)
        )


def _placed(before: list[Entry], messages: Sequence[Message], *, low: float | None, high: float | None) -> list[Entry]:
    """Entries for `messages`: the old one where object and order are the same, else a fresh one in its gap."""
    if not before:
        return list(_between(messages, low, high))
    known = dict(zip(map(id, (entry.message for entry in before)), before, strict=True))
    entries = list(map(known.get, map(id, messages)))
    kept = [entry for entry in entries if entry is not None]
    if not all(map(lt, map(_PLACE, kept), map(_PLACE, islice(kept, 1, None)))):
        entries = _in_order(entries)
    elif len(kept) == len(messages):
        return kept
    after: list[Entry] = []
    fresh: list[Message] = []
    for entry, message in zip(entries, messages, strict=True):
        if entry is None:
            fresh.append(message)
            continue
        if fresh:
            after += _between(fresh, low, entry.place)
            fresh = []
        after.append(entry)
        low = entry.place
    after += _between(fresh, low, high)
    return after


def _in_order(entries: Iterable[Entry | None]) -> list[Entry | None]:
    """Without the entries that stand before where they stood; their messages get new places."""
    found: list[Entry | None] = []
    last = float("-inf")
    for entry in entries:
        kept = entry if entry is not None and entry.place > last else None
        last = kept.place if kept is not None else last
        found.append(kept)
    return found


def _between(messages: Sequence[Message], low: float | None, high: float | None) -> Iterator[Entry]:
    if not messages:
        return
    if high is None:
        start = 0.0 if low is None else low
        yield from (Entry.of(message, start + number) for number, message in enumerate(messages, start=1))
        return
    start = high - len(messages) - 1 if low is None else low
    step = (high - start) / (len(messages) + 1)
    for number, message in enumerate(messages, start=1):
        place = start + step * number
        if not start < place < high:
            raise NoRoomError
        yield Entry.of(message, place)
