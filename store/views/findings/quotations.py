"""Quotations: live messages that reply to something, and which of them quote what nobody has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from team_console.store.model.problem import Problem
from team_console.store.protocol.entries import Entry


class Quotations:
    """Follows what is quoted as `in_reply_to` and what can be quoted; a changed message costs what it quotes."""

    def __init__(self) -> None:
        self._carried: Counter[str] = Counter()
        self._past: dict[str, frozenset[str]] = {}
        self._quoting: dict[str, dict[int, Entry]] = {}
        self._unknown: dict[int, Entry] = {}
        self._late: list[Entry] = []

    def clear_live(self) -> None:
        """Forget the queue; the past stays."""
        self._carried = Counter(name for ids in self._past.values() for name in ids)
        self._quoting.clear()
        self._unknown.clear()
        self._late = []

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        quoted = _quoted(entry)
        if quoted is not None:
            self._quoting.setdefault(quoted, {})[id(entry)] = entry
        self._late.append(entry)
        self._judge((quoted,) if quoted is not None else ())

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._count_late()
        quoted = _quoted(entry)
        if quoted is not None:
            del self._quoting[quoted][id(entry)]
            self._unknown.pop(id(entry), None)
        self._count(_ids(entry), -1)

    def remember(self, entry: Entry) -> None:
        """An archived message, that can be quoted as well."""
        self.forget(entry.message.message_id)
        self._past[entry.message.message_id] = _ids(entry)
        self._count(_ids(entry), 1)

    def forget(self, message_id: str) -> None:
        """A message of the past is live again, or turns out to be lost."""
        if message_id in self._past:
            self._count(self._past.pop(message_id), -1)

    def unknown(self) -> Iterator[Problem]:
        """`UNKNOWN_REPLY` for each live message that quotes what nobody has, in stored order."""
        if self._quoting:  # what can be quoted matters as soon as anything quotes
            self._count_late()
        for entry in sorted(self._unknown.values(), key=lambda entry: entry.place):
            message = entry.message
            text = f"in_reply_to: no message or request {_quoted(entry):.120} is known, so this answers nothing"
            hint = f"Ask {message.sender} which message it means."
            yield Problem("UNKNOWN_REPLY", "notice", message.message_id, text, hint)

    def _count_late(self) -> None:
        late, self._late = self._late, []
        for entry in late:
            self._count(_ids(entry), 1)

    def _count(self, ids: Iterable[str], step: int) -> None:
        for name in ids:
            self._carried[name] += step
            if not self._carried[name]:
                del self._carried[name]
        self._judge(ids)

    def _judge(self, ids: Iterable[str]) -> None:
        """Look again at what quotes any of these; a message that carries an id itself does not make it known."""
        for name in ids:
            for key, entry in self._quoting.get(name, {}).items():
                if self._carried[name] > (name in _ids(entry)):
                    self._unknown.pop(key, None)
                else:
                    self._unknown[key] = entry


def _quoted(entry: Entry) -> str | None:
    if entry.message.is_letter:
        return None
    value = entry.message.payload.get("in_reply_to")
    return value if isinstance(value, str) and value else None


def _ids(entry: Entry) -> frozenset[str]:
    """What the message can be quoted by."""
    message = entry.message
    if message.is_letter:  # a question of such a payload has its message id for its own
        return frozenset((message.message_id,))
    return frozenset(name for name in (message.message_id, message.request_id, entry.read.request_id) if name)
