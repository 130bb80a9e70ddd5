"""Unanswered messages: what an agent has read, was written to it alone, and got no word back since (requirement 89)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.protocol.entries import Entry
from team_console.store.views.mail.by_age import ByAge

_ASKING = frozenset({"message", "handoff", "review", "clarify", "escalate"})
"""Kinds that are written to one agent for it to act on; a broadcast demands no answer (requirement 84)."""
_Pair = tuple[str, str]


class Unanswered:
    """Messages read by one agent and written by another, with when the reader last wrote back."""

    def __init__(self) -> None:
        self._asked: defaultdict[_Pair, ByAge] = defaultdict(ByAge)
        self._said: defaultdict[_Pair, ByAge] = defaultdict(ByAge)

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        message = entry.message
        for name in message.recipients:
            self._said[message.sender, name].add(entry)
        if _wants_an_answer(entry):
            self._asked[message.recipients[0], message.sender].add(entry)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        message = entry.message
        for name in message.recipients:
            _drop(self._said, (message.sender, name), entry)
        if _wants_an_answer(entry):
            _drop(self._asked, (message.recipients[0], message.sender), entry)

    def by_reader(self) -> dict[str, tuple[Message, ...]]:
        """Reader -> what it owes an answer, the oldest first within a sender."""
        owed: dict[str, list[Message]] = {}
        for pair, asked in self._asked.items():
            messages = tuple(self._since(pair, asked))
            if messages:
                owed.setdefault(pair[0], []).extend(messages)
        return {name: tuple(messages) for name, messages in sorted(owed.items())}

    def _since(self, pair: _Pair, asked: ByAge) -> Iterator[Message]:
        said = self._said.get(pair)
        last = said.last if said is not None else None
        if last is None or (asked.last is not None and not asked.last.is_before(last)):
            yield from (entry.message for entry in (asked.rows if last is None else asked.since(last.order)))


def _wants_an_answer(entry: Entry) -> bool:
    message = entry.message
    if not message.more and message.status != Status.READ:
        return False
    if message.type not in _ASKING or len(message.recipients) != 1:
        return False
    reader = message.recipients[0]
    if reader in (ALL, message.sender) or not (message.status == Status.READ or reader in message.read_by):
        return False
    if entry.read.name != message.type:
        return False
    if message.is_letter:
        return True
    payload = message.payload
    return payload.get("in_reply_to") is None and payload.get("request_id") is None


def _drop(rows: dict[_Pair, ByAge], pair: _Pair, entry: Entry) -> None:
    kept = rows.get(pair)
    if kept is not None:
        kept.drop(entry)
        if not kept:
            del rows[pair]
