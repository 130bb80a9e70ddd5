"""What each agent finds in its inbox, kept sorted while messages come, change and go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from team_console.store.model.message import Message
from team_console.store.model.names import ALL
from team_console.store.model.reuse.tally import Tally
from team_console.store.protocol.entries import EARLIEST, Entry
from team_console.store.protocol.relations.sessions import SESSION
from team_console.store.views.mail.by_age import ByAge
from team_console.store.views.ordered import Ordered


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
