"""What each agent finds in its inbox, kept sorted while messages come, change and go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import Any

from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.model.reuse import Memo, Tally
from team_console.store.protocol.entries import EARLIEST, Entry
from team_console.store.protocol.membership import SESSION
from team_console.store.views.ordered import ByAge, Ordered


class Inbox:
    """The live messages of one agent, counted as they come and sorted when somebody looks at them.

    Attributes:
        unread: What it has not read, by age; pushed and not acknowledged is not read (D19).
        version: Grows whenever a message comes or goes.
    """

    __slots__ = ("_late", "_messages", "_name", "_ranks", "_shown", "unread", "version")

    def __init__(self, name: str, ranks: Mapping[str, int] = MappingProxyType({})) -> None:
        self._name = name
        self._ranks = ranks
        self._late: list[Entry] = []
        self._messages: Ordered[Message] = Ordered()
        self._shown: Sequence[Message] | None = None
        self.unread = ByAge()
        self.version = 0

    def __len__(self) -> int:
        return len(self._messages) + len(self._late)

    @property
    def oldest_unread(self) -> datetime | None:
        """Creation time of the oldest message it has not read, None when there is none or it is unknown."""
        return self.unread.first.moment if self.unread.first is not None else None

    @property
    def messages(self) -> Sequence[Message]:
        """What it has not read by urgency and age, then the rest newest first; the same object until one changes."""
        if self._shown is None:
            self._sort_in()
            self._shown = self._messages.shared
        return self._shown

    def add(self, entry: Entry) -> None:
        """A message for this agent came."""
        self._shown, self.version = None, self.version + 1
        self._late.append(entry)
        if entry.message.is_unread_by(self._name):
            self.unread.add(entry)

    def drop(self, entry: Entry) -> None:
        """A message for this agent went."""
        self._shown, self.version = None, self.version + 1
        self._sort_in()
        self._messages.drop(self._key(entry))
        self.unread.drop(entry)

    def _sort_in(self) -> None:
        for entry in self._late:
            self._messages.put(self._key(entry), entry.message)
        self._late = []

    def _key(self, entry: Entry) -> tuple[Any, ...]:
        if entry.message.is_unread_by(self._name):
            return 0, entry.message.rank_by(self._ranks), *entry.order
        return 1, 0, (EARLIEST - entry.when).total_seconds(), -entry.place


class Inboxes:
    """Inboxes by agent, and how many live messages have which status; `ranks` are the team's own, if any.

    Notes that a member's client makes for the roster are counted, and are in no inbox.
    """

    def __init__(self, ranks: Mapping[str, int] = MappingProxyType({})) -> None:
        self._ranks = ranks
        self.by_agent: dict[str, Inbox] = {}
        self._counts = Tally[str]()
        self._to_all: dict[int, Entry] = {}
        self._everybody: frozenset[str] = frozenset()
        self._named = Tally[str]()

    @property
    def named(self) -> Iterable[str]:
        """Everybody a live message names as its recipient."""
        return self._named.keys()

    @property
    def counts(self) -> Mapping[str, int]:
        """Status -> number of live messages."""
        return MappingProxyType(dict(sorted(self._counts.items())))

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        self._counts.count(entry.message.status, 1)
        if entry.message.type == SESSION:
            return
        names: Iterable[str] = entry.message.recipients
        for name in names:
            self._named.count(name, 1)
        if ALL in entry.message.recipients:
            self._to_all[id(entry)] = entry
            names = self._addressees(entry)
        for name in names:
            self._put(name, entry)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._counts.count(entry.message.status, -1)
        if entry.message.type == SESSION:
            return
        for name in entry.message.recipients:
            self._named.count(name, -1)
        self._to_all.pop(id(entry), None)
        for name in self._addressees(entry):
            self._drop(name, entry)

    def meet(self, names: Iterable[str]) -> None:
        """Say who `all` is now; messages to all are in the inboxes of exactly these agents."""
        everybody = frozenset(names)
        if everybody == self._everybody:
            return
        arrived, left = everybody - self._everybody, self._everybody - everybody
        self._everybody = everybody
        for entry in self._to_all.values():
            for name in arrived - {entry.message.sender, *entry.message.recipients}:
                self._put(name, entry)
            for name in left - {entry.message.sender, *entry.message.recipients}:
                self._drop(name, entry)

    def frozen(self) -> Mapping[str, Sequence[Message]]:
        """Agent -> its messages; those of inboxes that did not change are the same object."""
        return MappingProxyType({name: inbox.messages for name, inbox in self.by_agent.items()})

    def _addressees(self, entry: Entry) -> Iterable[str]:
        message = entry.message
        if ALL not in message.recipients:
            return message.recipients
        return {name for name in message.recipients if name != ALL} | (self._everybody - {message.sender})

    def _put(self, name: str, entry: Entry) -> None:
        inbox = self.by_agent.get(name)
        if inbox is None:
            inbox = self.by_agent[name] = Inbox(name, self._ranks)
        inbox.add(entry)

    def _drop(self, name: str, entry: Entry) -> None:
        inbox = self.by_agent.get(name)
        if inbox is None:
            return
        inbox.drop(entry)
        if not inbox:
            del self.by_agent[name]


# Ids of the messages in the queue; one may be there more than once.


class LiveIds:
    """How many live messages have each id."""

    def __init__(self) -> None:
        self._counts = Tally[str]()
        self._twice: set[str] = set()

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        self._count(entry.message.message_id, 1)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._count(entry.message.message_id, -1)

    def is_live(self, message_id: str) -> bool:
        """Whether a message with this id is in the queue."""
        return message_id in self._counts

    def doubled(self) -> Iterator[Problem]:
        """Ids that more than one live message has."""
        for message_id in sorted(self._twice):
            text = f"{self._counts[message_id]} messages in the queue have the id {message_id}"
            hint = "Each is handled as what it is; 'team-console check --heal' gives the later ones ids of their own."
            yield Problem("DUPLICATE_ID", "error", message_id, text, hint)

    def _count(self, message_id: str, step: int) -> None:
        if self._counts.count(message_id, step) > 1:
            self._twice.add(message_id)
        else:
            self._twice.discard(message_id)


# Unanswered messages: what an agent has read, was written to it alone, and got no word back since (requirement 89).

_ASKING = frozenset({"message", "handoff", "review", "clarify", "escalate"})
"""Kinds that are written to one agent for it to act on; a broadcast demands no answer (requirement 84)."""
_Pair = tuple[str, str]


class Unanswered:
    """Messages between two agents each, in order: who asks, who answers, and what the reader left open."""

    def __init__(self) -> None:
        self._between: defaultdict[_Pair, ByAge] = defaultdict(ByAge)
        self._open = Memo[_Pair, tuple[Entry, ...]]()

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        for pair in _pairs(entry):
            self._between[pair].add(entry)
            self._open.touch(pair)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        for pair in _pairs(entry):
            self._between[pair].drop(entry)
            self._open.touch(pair)

    def by_reader(self) -> dict[str, tuple[Message, ...]]:
        """Reader -> what it owes an answer, the oldest first within a sender."""
        self._open.renew(self._left_open)
        owed: dict[str, list[Message]] = {}
        for entry in chain.from_iterable(self._open.values):
            owed.setdefault(entry.message.recipients[0], []).append(entry.message)
        return {name: tuple(messages) for name, messages in sorted(owed.items())}

    def _left_open(self, pair: _Pair) -> tuple[Entry, ...] | None:
        """What was read and not answered; a message to somebody who waits for one is the answer, and asks nothing."""
        waiting: dict[str, list[Entry]] = {name: [] for name in pair}
        for entry in self._between[pair].rows:
            sender = entry.message.sender
            other = pair[1] if sender == pair[0] else pair[0]
            is_answer = bool(waiting[other])
            waiting[other].clear()
            if not is_answer and _asks(entry):
                waiting[sender].append(entry)
        return tuple(entry for asked in waiting.values() for entry in asked if _is_read(entry)) or None


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
    if message.is_letter:
        return True
    payload = message.payload
    return payload.get("in_reply_to") is None and payload.get("request_id") is None
