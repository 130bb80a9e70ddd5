"""A message at its place among others: ordered by the time it was created, then by its place in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.protocol.kinds import Family
from team_console.store.protocol.parsing import ParsedMessage, parse_message

T = TypeVar("T")


EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for a missing or unreadable time: oldest (000-n)."""
_FACTUAL = frozenset({Family.SPRINT, Family.CLIENTS})


def when_created(message: Message) -> datetime:
    """Return the creation time to sort by; a message without a readable time comes first.

    As texts, `12:00+02:00` would come after `10:45Z`, and what is no time after everything.
    """
    return message.created_at or EARLIEST


def newest_first(stored: Iterable[T], when: Callable[[T], datetime]) -> list[T]:
    """Return what stands in stored order with the newest first; of one moment, what came last comes first."""
    return sorted(stored, key=when)[::-1]


class StoreOrder(NamedTuple):
    """The place of a message by the time it was created, then by its place in the store."""

    moment: datetime
    place: float


class PlacedMessage(Struct, frozen=True, eq=False, gc=False):
    """One message at its place.

    Attributes:
        place: Grows along the stored order.
        when: When the message was created; `EARLIEST` when that is unknown.
        read: The parsed message.
    """

    message: Message
    place: float
    when: datetime
    read: ParsedMessage

    @classmethod
    def of(cls, message: Message, place: float) -> PlacedMessage:
        """Return the entry of a message at a place."""
        return cls(message, place, when_created(message), parse_message(message))

    @classmethod
    def each(cls, messages: Iterable[Message], first: float = 0) -> list[PlacedMessage]:
        """Return the entries of messages in stored order, of which the first has the place `first`."""
        return [cls.of(message, first + place) for place, message in enumerate(messages)]

    @property
    def order(self) -> StoreOrder:
        """By time, then by place, so that equal times keep the stored order."""
        return StoreOrder(self.when, self.place)

    @property
    def moment(self) -> datetime | None:
        """The creation time; None when unknown."""
        return None if self.when is EARLIEST else self.when

    @property
    def is_fact(self) -> bool:
        """Whether requests, rosters or a sprint rest on it, so that it counts after it left the queue."""
        read = self.read
        return read.request_id is not None or read.kind.family in _FACTUAL
