"""Unanswered messages: what an agent has read, was written to it alone, and got no word back since (requirement 89)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.model.reuse.memo import Memo
from team_console.store.protocol.entries import Entry
from team_console.store.views.mail.by_age import ByAge

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
