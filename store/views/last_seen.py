"""When each agent last wrote or read anything, and when it last said something that shows it is alive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.protocol.agent_stops import is_speech
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage, StoreOrder
from team_console.store.protocol.state_reports import report_of, reporter_of


class LastSeen(Struct, frozen=True):
    """When each agent did what last, by messages live or archived: name -> its place in order, moment or message.

    Attributes:
        written: When it wrote anything.
        spoken: When it said anything but that it agrees to stop.
        read: When it read or took a message.
        reports: The message in which it last told its own state.
    """

    written: Mapping[str, StoreOrder]
    spoken: Mapping[str, StoreOrder]
    read: Mapping[str, datetime]
    reports: Mapping[str, PlacedMessage]

    def last_seen(self, name: str) -> datetime | None:
        """Return when the agent last wrote or read; None when it never did or the time is unknown."""
        moments = (self.last_written(name), self.read.get(name))
        return max((moment for moment in moments if moment is not None), default=None)

    def last_written(self, name: str) -> datetime | None:
        """Return when the agent last wrote; None when it never did or the time is unknown."""
        order = self.written.get(name)
        return None if order is None or order.moment is EARLIEST else order.moment


def find_last_seen(entries: Iterable[PlacedMessage]) -> LastSeen:
    """Find what each agent did last.

    Args:
        entries: All of them, in order.
    """
    written: dict[str, PlacedMessage] = {}
    spoken: dict[str, PlacedMessage] = {}
    read: dict[str, datetime] = {}
    reports: dict[str, PlacedMessage] = {}
    for entry in entries:
        message = entry.message
        written[message.sender] = entry
        if is_speech(entry):
            spoken[message.sender] = entry
        if report_of(message) is not None:
            reports[reporter_of(message)] = entry
        for name, text in message.reading_times():
            moment = from_text(text)
            if moment is not None:
                read[name] = max(moment, read.get(name, moment))
    return LastSeen(_orders(written), _orders(spoken), read, reports)


def _orders(entries: Mapping[str, PlacedMessage]) -> dict[str, StoreOrder]:
    return {name: entry.order for name, entry in entries.items()}
