"""Quotations: live messages that reply to something, and which of them quote what nobody has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from team_console.store.model.problem import Problem
from team_console.store.model.reuse.memo import Memo, Multimap
from team_console.store.model.reuse.tally import Tally
from team_console.store.protocol.entries import Entry


class Quotations:
    """Follows what is quoted as `in_reply_to` and what can be quoted; a changed message costs what it quotes."""

    def __init__(self) -> None:
        self._past: dict[str, frozenset[str]] = {}
        self.clear_live()

    def clear_live(self) -> None:
        """Forget the queue; the past stays."""
        self._carried = Tally(name for ids in self._past.values() for name in ids)
        self._quoting = Multimap(_quoted)
        self._unknown = Memo[str, tuple[Entry, ...]]()
        self._late: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        self._late.append(entry)
        self._unknown.touch(*self._quoting.put(entry))

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._count_late()
        self._unknown.touch(*self._quoting.drop(entry))
        self._count(_ids(entry), -1)

    def remember(self, entry: Entry) -> None:
        """An archived message, that can be quoted as well."""
        self.forget(entry.message.message_id)
        self._past[entry.message.message_id] = _ids(entry)
        self._count(_ids(entry), 1)

    def forget(self, message_id: str) -> None:
        """A message of the past is live again, or turns out to be lost."""
        self._count(self._past.pop(message_id, ()), -1)

    def unknown(self) -> Iterator[Problem]:
        """`UNKNOWN_REPLY` for each live message that quotes what nobody has, in stored order."""
        if self._quoting.keys:  # what can be quoted matters as soon as anything quotes
            self._count_late()
        self._unknown.renew(self._unknown_to)
        for entry in sorted(chain.from_iterable(self._unknown.values), key=lambda entry: entry.place):
            message = entry.message
            quoted = "".join(_quoted(entry))
            text = f"in_reply_to: no message or request {quoted:.120} is known, so this answers nothing"
            hint = f"Ask {message.sender} which message it means."
            yield Problem("UNKNOWN_REPLY", "notice", message.message_id, text, hint)

    def _count_late(self) -> None:
        for entry in self._late:
            self._count(_ids(entry), 1)
        self._late = []

    def _count(self, ids: Iterable[str], step: int) -> None:
        for name in ids:
            self._carried.count(name, step)
            if self._quoting.of(name):
                self._unknown.touch(name)

    def _unknown_to(self, name: str) -> tuple[Entry, ...] | None:
        """What quotes an id that nobody else carries; a message that carries an id itself does not make it known."""
        carried = self._carried[name]
        return tuple(entry for entry in self._quoting.of(name) if carried <= (name in _ids(entry))) or None


def _quoted(entry: Entry) -> tuple[str, ...]:
    """The id that the message replies to, if any."""
    value = entry.message.payload.get("in_reply_to") if not entry.message.is_letter else None
    return (value,) if isinstance(value, str) and value else ()


def _ids(entry: Entry) -> frozenset[str]:
    """What the message can be quoted by."""
    message = entry.message
    if message.is_letter:  # a question of such a payload has its message id for its own
        return frozenset((message.message_id,))
    return frozenset(name for name in (message.message_id, message.request_id, entry.read.request_id) if name)
