"""What each agent finds in its inbox: the live messages that it has not read, and those that it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime

from msgspec import Struct
from team_console.store.contract.snapshot import FinishedCounts, Unacknowledged
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.protocol.client_sessions import SESSION
from team_console.store.protocol.placed_message import PlacedMessage


class AgentInbox(Struct):
    """The live messages of one agent, in order.

    Attributes:
        unread: What it has not read; pushed and not acknowledged is not read (D19).
        read: What it has read.
        unlisted: How many more were pushed to it and not acknowledged, which are only counted.
        unlisted_since: When the oldest of those was created.
    """

    unread: list[PlacedMessage] = []
    read: list[PlacedMessage] = []
    unlisted: int = 0
    unlisted_since: datetime | None = None

    def __len__(self) -> int:
        return len(self.unread) + len(self.read) + self.unlisted

    @property
    def oldest_unread(self) -> datetime | None:
        """Creation time of the oldest message it has not read, None when there is none or it is unknown."""
        first = self.unread[0].moment if self.unread else None
        return min((moment for moment in (first, self.unlisted_since) if moment is not None), default=None)

    def count_finished(self, finished: FinishedCounts | None, name: str) -> None:
        """Count what was delivered to `name` and is in no snapshot."""
        if finished is None:
            return
        number, since = finished.delivered.get(name, Unacknowledged())
        listed = sum(entry.message.status == Status.DELIVERED for entry in self.unread)
        if number > listed:
            self.unlisted, self.unlisted_since = number - listed, since

    def messages(self, ranks: Mapping[str, int]) -> Sequence[Message]:
        """List what it has not read by urgency and age, then the rest newest first; `ranks` are the team's own."""
        urgent = sorted(self.unread, key=lambda entry: entry.message.rank_by(ranks))
        return tuple([entry.message for entry in (*urgent, *reversed(self.read))])


def inboxes(
    live: Iterable[PlacedMessage], everybody: Set[str], finished: FinishedCounts | None = None
) -> dict[str, AgentInbox]:
    """Sort the messages into the inboxes of their recipients.

    Notes that a member's client makes for the roster are in no inbox.

    Args:
        live: The queue, in order.
        everybody: Who `all` is.
        finished: Counts of finished messages.
    """
    found: dict[str, AgentInbox] = {}
    for entry in live:
        message = entry.message
        if message.type == SESSION:
            continue
        names: Iterable[str] = message.recipients
        if ALL in names:
            names = {name for name in names if name != ALL} | (everybody - {message.sender})
        for name in names:
            inbox = found.setdefault(name, AgentInbox())
            (inbox.unread if message.is_unread_by(name) else inbox.read).append(entry)
    for name in (*found, *(finished.delivered if finished is not None else ())):
        found.setdefault(name, AgentInbox()).count_finished(finished, name)
    return found
