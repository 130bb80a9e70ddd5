"""What each agent finds in its inbox, and what it read and did not answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime

from msgspec import Struct, field
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.membership import SESSION


class Inbox(Struct):
    """The live messages of one agent, in order.

    Attributes:
        unread: What it has not read; pushed and not acknowledged is not read (D19).
    """

    unread: list[Entry] = field(default_factory=list)
    read: list[Entry] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.unread) + len(self.read)

    @property
    def oldest_unread(self) -> datetime | None:
        """Creation time of the oldest message it has not read, None when there is none or it is unknown."""
        return self.unread[0].moment if self.unread else None

    def messages(self, ranks: Mapping[str, int]) -> Sequence[Message]:
        """List what it has not read by urgency and age, then the rest newest first; `ranks` are the team's own."""
        urgent = sorted(self.unread, key=lambda entry: entry.message.rank_by(ranks))
        return tuple([entry.message for entry in (*urgent, *reversed(self.read))])


def recipients_of(live: Iterable[Entry]) -> set[str]:
    """Everybody whom a live message names as its recipient."""
    return {name for entry in live if entry.message.type != SESSION for name in entry.message.recipients}


def inboxes(live: Iterable[Entry], everybody: Set[str]) -> dict[str, Inbox]:
    """Sort the messages into the inboxes of their recipients.

    Notes that a member's client makes for the roster are in no inbox.

    Args:
        live: The queue, in order.
        everybody: Who `all` is.
    """
    found: dict[str, Inbox] = {}
    for entry in live:
        message = entry.message
        if message.type == SESSION:
            continue
        names: Iterable[str] = message.recipients
        if ALL in names:
            names = {name for name in names if name != ALL} | (everybody - {message.sender})
        for name in names:
            inbox = found.get(name)
            if inbox is None:
                inbox = found[name] = Inbox()
            (inbox.unread if message.is_unread_by(name) else inbox.read).append(entry)
    return found


# What an agent has read, was written to it alone, and got no word back since (requirement 89).

_ASKING = frozenset({"message", "handoff", "review", "clarify", "escalate"})
"""Kinds that are written to one agent for it to act on; a broadcast demands no answer (requirement 84)."""
_Pair = tuple[str, str]


def unanswered(live: Iterable[Entry]) -> dict[str, tuple[Message, ...]]:
    """Find what each reader owes an answer, the oldest first within a sender.

    Args:
        live: The queue, in order.
    """
    between: dict[_Pair, list[Entry]] = {}
    for entry in live:
        for pair in _pairs(entry):
            between.setdefault(pair, []).append(entry)
    owed: dict[str, list[Message]] = {}
    for pair, entries in sorted(between.items()):
        for entry, answer in _talk(pair, entries):
            if answer is None and _is_read(entry):
                owed.setdefault(entry.message.recipients[0], []).append(entry.message)
    return {name: tuple(messages) for name, messages in sorted(owed.items())}


def halves_of(message: Message, among: Iterable[Message]) -> list[Message]:
    """Find what a message answers without quoting it, and what answers it so."""
    pairs = set(_pairs(Entry.of(message, 0)))
    entries = [Entry.of(other, place) for place, other in enumerate(among)]
    found: list[Message] = []
    for pair in pairs:
        between = sorted((entry for entry in entries if pair in _pairs(entry)), key=lambda entry: entry.order)
        for asked, answer in _talk(pair, between):
            if answer is not None and not _quotes(answer.message):
                found += [answer.message] if asked.message == message else []
                found += [asked.message] if answer.message == message else []
    return found


def _talk(pair: _Pair, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """Each message that asks something, with its answer; a message to somebody who waits for one asks nothing."""
    waiting: dict[str, list[Entry]] = {name: [] for name in pair}
    for entry in entries:
        sender = entry.message.sender
        other = pair[1] if sender == pair[0] else pair[0]
        answered, waiting[other] = waiting[other], []
        yield from ((asked, entry) for asked in answered)
        if not answered and _asks(entry):
            waiting[sender].append(entry)
    yield from ((asked, None) for left in waiting.values() for asked in left)


def _pairs(entry: Entry) -> Iterator[_Pair]:
    """The two ends of a message, in alphabetical order, for each recipient."""
    sender = entry.message.sender
    return ((min(sender, name), max(sender, name)) for name in entry.message.recipients if name != sender)


def _is_read(entry: Entry) -> bool:
    message = entry.message
    return message.status == Status.READ or message.recipients[0] in message.read_by


def _asks(entry: Entry) -> bool:
    """Whether it is written to one agent for it to act on, and replies to nothing."""
    message = entry.message
    if message.type not in _ASKING or len(message.recipients) != 1 or message.recipients[0] == ALL:
        return False
    if entry.read.name != message.type:
        return False
    return not _quotes(message)


def _quotes(message: Message) -> bool:
    return message.payload.get("in_reply_to") is not None or message.payload.get("request_id") is not None
