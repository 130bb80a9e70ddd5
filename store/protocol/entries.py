"""Entry: a message at its place among others, with its reading."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.protocol.kinds import Family
from team_console.store.protocol.parsing import ParsedMessage, parse_message

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for a missing or unreadable time: oldest (000-n)."""
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
            read = self._read = parse_message(self.message)
        return read

    @property
    def moment(self) -> datetime | None:
        """When the message was created, None when that is unknown."""
        return None if self.when is EARLIEST else self.when

    @property
    def is_fact(self) -> bool:
        """Whether requests, rosters or a sprint rest on it, so that it counts after it left the queue."""
        read = self.read
        return read.request_id is not None or (read.kind is not None and read.kind.family in _FACTUAL)
