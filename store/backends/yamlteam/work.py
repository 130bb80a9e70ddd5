"""What one commit does to the queue, and doing it to a queue's text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from store.backends.buffered import Changes
from store.backends.yamlteam.codec import QueueText
from store.backends.yamlteam.ledger import Line, Record
from store.message import Message, from_record


class Change(Struct, frozen=True):
    """Keys of a record to set (None takes a key away); `old` and `new` when both are at hand."""

    keys: Mapping[str, Any]
    old: Message | None = None
    new: Message | None = None

    def on(self, current: Message) -> Message:
        """`current` with the change made, keeping what others changed meanwhile."""
        if self.new is not None and (current is self.old or (self.old and current.record == self.old.record)):
            return self.new
        return with_keys(current, self.keys)


class Work(Struct, frozen=True):
    """The content of one transaction, ours or one read back from the ledger.

    Attributes:
        archived: (agent, message id, record); no record means: as the queue shows it after this work.
        pushed: (agent, record).
    """

    actor: str
    action: str
    facts: Record = field(default_factory=dict)
    also: tuple[tuple[str, Record], ...] = ()
    adds: tuple[Message, ...] = ()
    changes: Mapping[str, Change] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    archived: tuple[tuple[str, str, Record | None], ...] = ()
    pushed: tuple[tuple[str, Record], ...] = ()
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    noted: tuple[Record, ...] = ()
    void: int = 0

    @property
    def touches_queue(self) -> bool:
        """Whether the queue's text differs afterwards."""
        return bool(self.adds or self.changes or self.removed)


def from_changes(changes: Changes, *, actor: str) -> Work:
    """The work a finished transaction asks for."""
    (action, facts), *also = changes.records
    replaced = {
        message_id: Change(changed_keys(old.record, new.record), old, new)
        for message_id, (old, new) in changes.replaced.items()
    }
    return Work(
        actor=actor,
        action=action,
        facts=facts,
        also=tuple(also),
        adds=tuple(changes.added.values()),
        changes=replaced,
        removed=tuple(changes.removed),
        archived=tuple((agent, one.message_id, _unless_live(one, changes)) for agent, one in changes.archived),
        pushed=tuple((agent, dict(one.record)) for agent, one in changes.pushed),
        attachments=changes.attachments,
    )


def both(first: Work, second: Work) -> Work:
    """`first` and then `second` as one transaction, with the name and facts of `second`."""
    changes = dict(first.changes)
    adds = {one.message_id: one for one in first.adds}
    for one in second.adds:
        adds.setdefault(one.message_id, one)
    for message_id, change in second.changes.items():
        if message_id in adds:
            adds[message_id] = with_keys(adds[message_id], change.keys)
        elif message_id in changes:
            changes[message_id] = Change({**changes[message_id].keys, **change.keys})
        else:
            changes[message_id] = change
    removed = dict.fromkeys((*first.removed, *second.removed))
    return replace(
        second,
        facts={**first.facts, **second.facts},
        adds=tuple(one for message_id, one in adds.items() if message_id not in removed),
        changes={message_id: change for message_id, change in changes.items() if message_id not in removed},
        removed=tuple(removed),
        archived=(*first.archived, *second.archived),
        pushed=(*first.pushed, *second.pushed),
        noted=(*first.noted, *second.noted),
        void=second.void or first.void,
    )


def from_line(line: Line, *, action: str, facts: Record) -> Work:
    """The work on record in `line`, to be done again."""
    return Work(
        actor=line.actor,
        action=action,
        facts=facts,
        adds=tuple(from_record(one) for one in line.writes),
        changes={message_id: Change(keys) for message_id, keys in line.changes},
        removed=line.removed,
        archived=line.archived,
        pushed=line.pushed,
    )


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What turns the record `old` into `new`; None for a key that is gone."""
    keys: dict[str, Any] = {key: value for key, value in new.items() if key not in old or old[key] != value}
    return keys | {key: None for key in old if key not in new}


def with_keys(message: Message, keys: Mapping[str, Any]) -> Message:
    """A copy whose record has `keys` set, those of None taken away."""
    record = {key: value for key, value in message.record.items() if key not in keys or keys[key] is not None}
    record.update({key: value for key, value in keys.items() if value is not None})
    return from_record(record)


def apply(text: QueueText, work: Work) -> QueueText:
    """The queue after `work`. Doing it a second time changes nothing. Raises `CodecError` for unwritable text."""
    append = [one for one in work.adds if text.find(one.message_id) is None]
    changed: dict[int, Message] = {}
    for message_id, change in work.changes.items():
        index = text.find(message_id)
        current = None if index is None else text.entries[index].message
        if index is not None and current is not None:
            changed[index] = change.on(current)
        elif change.new is not None:
            append.append(change.new)
    places = [text.find(message_id) for message_id in work.removed]
    remove = {index for index in places if index is not None}
    return text.edit(append=append, replace=changed, remove=remove) if append or changed or remove else text


def archive_record(text: QueueText, message_id: str, record: Record | None) -> Message | None:
    """The message to archive: the record itself, else the one live in `text`."""
    if record is not None:
        return from_record(record)
    index = text.find(message_id)
    return None if index is None else text.entries[index].message


def _unless_live(message: Message, changes: Changes) -> Record | None:
    """None when the queue shows this very record after `changes`, so that the ledger need not repeat it."""
    message_id = message.message_id
    if message_id in changes.removed:
        return dict(message.record)
    live = changes.replaced[message_id][1] if message_id in changes.replaced else changes.added.get(message_id)
    return None if live is message else dict(message.record)
