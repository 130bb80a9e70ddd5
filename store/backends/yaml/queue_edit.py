"""What a line of the ledger does to the queue: made from a transaction's changes, done to the text, done again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from team_console.store.backends.yaml.audit_log import DONE_IN_ORDER, Handle, Line, Record, RecordPatch
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.contract.transaction import Changes
from team_console.store.model.message import Message, digest, from_record, is_copy


def line_of(changes: Changes, *, actor: str) -> Line:
    """The line that a finished transaction asks for."""
    (action, facts), *also = changes.records
    replaced = [
        RecordPatch((old.message_id, ""), changed_keys(old.record, new.record), old, new)
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
        removed=tuple((message.message_id, "") for message in changes.removed),
        archived=tuple(
            # No record where the queue shows this very one afterwards: the ledger need not repeat it.
            (agent, message.message_id, None if message in live else dict(message.record))
            for agent, message in changes.archived
        ),
        pushed=tuple((agent, dict(message.record)) for agent, message in changes.pushed),
    )


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
    append: dict[str, Message] = {}
    changed: dict[int, Message] = {}
    for message in map(from_record, line.writes):
        here = text.message(message.message_id)
        if here is None or not is_copy(here, message):
            append[message.message_id] = message
    for patch in line.changes:
        message_id, place = patch.handle[0], place_of(text, patch.handle)
        current = append.get(message_id) if place is None else changed.get(place, text.entries[place].message)
        if place is not None and current is not None:
            changed[place] = patch.on(current)
        elif current is not None:
            append[message_id] = patch.on(current)
        elif patch.new is not None:  # a record somebody took away comes back changed
            append[message_id] = patch.new
    remove = {place for handle in line.removed if (place := place_of(text, handle)) is not None}
    for message_id, _ in line.removed:
        append.pop(message_id, None)
    if line.torn:
        damaged = ((place, entry.raw) for place, entry in enumerate(text.entries) if entry.message is None)
        remove |= {place for place, raw in damaged if piece_name(raw) in line.torn}
    if not (append or changed or remove or text.has_shared_ids):
        return text
    replace = {place: message for place, message in changed.items() if place not in remove}
    return text.edit(append=list(append.values()), replace=replace, remove=remove)


def place_of(text: QueueText, handle: Handle) -> int | None:
    """Where in `text` the record is that is meant; older lines name the content where several shared an id."""
    message_id, letter = handle
    message = text.message(message_id)
    return text.place(message_id) if message is not None and letter in ("", digest(message)) else None


def piece_name(raw: bytes) -> str:
    """What tells one damaged piece of a queue from another."""
    return hashlib.sha256(raw).hexdigest()


def archive_entry(text: QueueText, message_id: str, record: Record | None) -> tuple[Message, bytes] | None:
    """The message to archive: the record itself, else the one live in `text` with its text there."""
    if record is not None:
        return from_record(record), b""
    place = text.place(message_id)
    entry = text.entries[place] if place is not None else None
    return (entry.message, entry.raw) if entry is not None and entry.message is not None else None
