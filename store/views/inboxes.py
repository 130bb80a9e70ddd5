"""What each agent finds in its inbox: the live messages that it has not read, and those that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from itertools import chain

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

    def count_finished(self, finished: FinishedCounts, name: str) -> None:
        """Count what was delivered to `name` and is in no snapshot."""
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
    if finished is not None:
        for name in (*found, *finished.delivered):
            found.setdefault(name, AgentInbox()).count_finished(finished, name)
    return found


_ASKING = frozenset({"message", "handoff", "review", "clarify", "escalate"})
"""Kinds that are written to one agent for it to act on; a broadcast demands no answer (requirement 84)."""


def unanswered(live: Iterable[PlacedMessage]) -> dict[str, tuple[Message, ...]]:
    """Find the messages that each reader owes an answer: reader -> by sender, the oldest first within one.

    Args:
        live: The queue, in order.
    """
    owed: dict[str, dict[str, list[Message]]] = {}
    for entry, answer in _questions_and_answers(live):
        message, reader = entry.message, entry.message.recipients[0]
        if answer is None and message.is_read_by(reader):
            owed.setdefault(reader, {}).setdefault(message.sender, []).append(message)
    return {
        reader: tuple(chain.from_iterable(by_sender[sender] for sender in sorted(by_sender)))
        for reader, by_sender in sorted(owed.items())
    }


def unquoted_partners(message: Message, among: Iterable[Message]) -> list[Message]:
    """Find what a message answers without quoting it, and what answers it so."""
    found: list[Message] = []
    in_order = sorted(PlacedMessage.each(among), key=lambda entry: entry.order)
    for asked, answer in _questions_and_answers(in_order):
        if answer is None or _quotes_an_id(answer.message):
            continue
        if asked.message == message:
            found.append(answer.message)
        if answer.message == message:
            found.append(asked.message)
    return found


def _questions_and_answers(entries: Iterable[PlacedMessage]) -> Iterator[tuple[PlacedMessage, PlacedMessage | None]]:
    """Yield each message that asks something, with its answer; a message to somebody who waits for one asks nothing.

    Args:
        entries: All of them, in order.
    """
    waiting: dict[tuple[str, str], list[PlacedMessage]] = {}  # (who asked, whom) -> questions without an answer yet
    for entry in entries:
        sender = entry.message.sender
        for name in entry.message.recipients:
            if name == sender:
                continue
            if answered := waiting.pop((name, sender), None):
                yield from ((asked, entry) for asked in answered)
            elif _asks_for_answer(entry):
                waiting.setdefault((sender, name), []).append(entry)
    yield from ((asked, None) for unanswered_ones in waiting.values() for asked in unanswered_ones)


def _asks_for_answer(entry: PlacedMessage) -> bool:
    """Return whether it is written to one agent for it to act on, and replies to nothing."""
    message = entry.message
    if message.type not in _ASKING or len(message.recipients) != 1 or message.recipients[0] == ALL:
        return False
    if entry.read.name != message.type:
        return False
    return not _quotes_an_id(message)


def _quotes_an_id(message: Message) -> bool:
    return message.payload.get("in_reply_to") is not None or message.payload.get("request_id") is not None
