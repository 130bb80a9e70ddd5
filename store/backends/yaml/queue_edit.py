"""What a line of the ledger does to the queue: made from a transaction's changes, done to the text, done again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from team_console.store.backends.yaml.audit_log import DONE_IN_ORDER, Handle, Line, Record, RecordPatch
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.contract.transaction import Changes
from team_console.store.model.message import Letters, Message, digest, from_record, is_ahead


def line_of(changes: Changes, text: QueueText, *, actor: str) -> Line:
    """The line that a finished transaction over `text` asks for."""
    (action, facts), *also = changes.records
    replaced = [
        RecordPatch(handle_of(old, text), changed_keys(old.record, new.record), old, new)
        for old, new in changes.replaced.items()
    ]
    live = {*changes.replaced.values(), *changes.added.values()}
    return Line(
        actor=actor,
        action=action,
        facts=facts,
        also=tuple(also),
        writes=tuple(dict(message.record) for message in changes.added.values()),
        changes=tuple(replaced),
        removed=tuple(handle_of(message, text) for message in changes.removed),
        merged=tuple(handle_of(message, text) for message in changes.merged),
        archived=tuple(_archived(agent, message, live, text) for agent, message in changes.archived),
        pushed=tuple((agent, dict(message.record)) for agent, message in changes.pushed),
    )


def handle_of(message: Message, text: QueueText) -> Handle:
    """What tells the record of `message` from all others in `text`."""
    return message.message_id, digest(message) if len(text.places(message.message_id)) > 1 else ""


def in_sequence(first: Line | None, second: Line | None) -> Line | None:
    """`first` and then `second` as one transaction, with the name and facts of `second`."""
    if first is None or second is None:
        return first or second
    both: dict[str, Any] = {name: (*getattr(first, name), *getattr(second, name)) for name in DONE_IN_ORDER}
    return replace(second, facts={**first.facts, **second.facts}, void=second.void or first.void, **both)


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Record:
    """What turns the record `old` into `new`; None for a key that is gone."""
    keys: Record = {key: value for key, value in new.items() if key not in old or old[key] != value}
    return keys | {key: None for key in old if key not in new}


def apply(text: QueueText, line: Line) -> QueueText:
    """The queue after `line`. Doing it a second time changes nothing. Raises `TextError` for unwritable text."""
    return _Edit(text, line).result()


class _Edit:
    """One line turned into places of one text."""

    def __init__(self, text: QueueText, line: Line) -> None:
        self._text = text
        self._places = Places(text)
        self._here: dict[str, Letters] = {}
        self._append: dict[Handle, Message] = {}
        self._changed: dict[int, Message] = {}
        self._remove: set[int] = set()
        for record in line.writes:
            self._add(from_record(record))
        for patch in line.changes:
            self._change(patch)
        for handle in line.removed:
            self._remove.update(self._places.of(handle))
            self._append.pop(handle, None)
        for handle in line.merged:
            self._remove.update(self._places.of(handle)[1:])
        self._remove.update(_places_of_pieces(text, line.torn) if line.torn else ())

    def result(self) -> QueueText:
        for place in self._remove:
            self._changed.pop(place, None)
        if not (self._append or self._changed or self._remove):
            return self._text
        return self._text.edit(append=list(self._append.values()), replace=self._changed, remove=self._remove)

    def _add(self, message: Message) -> None:
        message_id = message.message_id
        here = messages_named(self._text, message_id)
        if here and message_id not in self._here:
            self._here[message_id] = Letters(here)
        if not here or not self._here[message_id].copies(message):
            letter = digest(message) if here or (message_id, "") in self._append else ""
            self._append.setdefault((message_id, letter), message)

    def _change(self, patch: RecordPatch) -> None:
        """On the record and not on its copies, which go; a record somebody took away comes back changed."""
        places = self._places.of(patch.handle, patch.old)
        current = self._text.entries[places[0]].message if places else None
        waiting = self._append.get(patch.handle)
        if current is not None:
            self._changed[places[0]] = patch.on(self._changed.get(places[0], current))
            self._remove.update(places[1:])
        elif waiting is not None:
            self._append[patch.handle] = patch.on(waiting)
        elif patch.new is not None:
            self._append[patch.handle] = patch.new


class Places:
    """Where in a queue the records are that handles mean; those that share an id are read once for all of them."""

    def __init__(self, text: QueueText) -> None:
        self._text = text
        self._shared: dict[str, dict[str, list[int]]] = {}

    def of(self, handle: Handle, old: Message | None = None) -> list[int]:
        """Where the record is that is meant, further copies behind it; the furthest on its way first.

        Where the handle leaves open which of several is meant, it is `old`, else the first.
        """
        message_id, letter = handle
        places = self._text.places(message_id)
        if not places or (len(places) == 1 and not letter):
            return list(places)
        if message_id not in self._shared:
            found = self._shared[message_id] = {}
            for place, message in zip(places, messages_named(self._text, message_id), strict=True):
                found.setdefault(digest(message), []).append(place)
        by_letter = self._shared[message_id]
        copies = by_letter.get(digest(old) if not letter and old else letter or next(iter(by_letter)), [])
        best = 0
        for number, place in enumerate(copies):
            best = number if self._is_ahead(place, copies[best]) else best
        return [*copies[best : best + 1], *copies[:best], *copies[best + 1 :]]

    def _is_ahead(self, place: int, other: int) -> bool:
        message, second = self._text.entries[place].message, self._text.entries[other].message
        return message is not None and second is not None and is_ahead(message, second)


def messages_named(text: QueueText, message_id: str) -> list[Message]:
    """All messages of `text` with this id, in order."""
    found = (text.entries[place].message for place in text.places(message_id))
    return [message for message in found if message is not None]


def piece_name(raw: bytes) -> str:
    """What tells one damaged piece of a queue from another."""
    return hashlib.sha256(raw).hexdigest()


def _places_of_pieces(text: QueueText, names: Sequence[str]) -> list[int]:
    """The damaged entries that are meant; one that somebody changed or repaired meanwhile stays."""
    wanted = set(names)
    entries = enumerate(text.entries)
    return [place for place, entry in entries if entry.message is None and piece_name(entry.raw) in wanted]


def archive_entry(text: QueueText, message_id: str, record: Record | None) -> tuple[Message, bytes] | None:
    """The message to archive: the record itself, else the one live in `text` with its text there."""
    if record is not None:
        return from_record(record), b""
    entries = (text.entries[place] for place in text.places(message_id))
    return next(((entry.message, entry.raw) for entry in entries if entry.message is not None), None)


def _archived(agent: str, message: Message, live: Iterable[Message], text: QueueText) -> tuple[str, str, Record | None]:
    """No record when the queue shows this very one afterwards, so that the ledger need not repeat it."""
    shown = message in live and len(text.places(message.message_id)) < 2
    return agent, message.message_id, None if shown else dict(message.record)
