"""Changing a queue: new bytes in which everything that was not asked to change is as before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from store.backends.yamlteam.codec.emitter import emit
from store.backends.yamlteam.codec.entry import Entry, parse_record
from store.backends.yamlteam.codec.errors import CodecError
from store.backends.yamlteam.codec.frame import Style
from store.backends.yamlteam.codec.parts import Parts
from store.backends.yamlteam.codec.patch import patch
from store.backends.yamlteam.codec.scalars import same
from store.message import Message

_LIST_LINE = re.compile(rb"^messages:(?:[ \t]+(?:\[[ \t]*\]|null|~))?(?=[ \t\r\n]|\Z)", re.MULTILINE)


def edit(
    data: bytes,
    parts: Parts,
    starts: Sequence[int],
    append: Sequence[Message],
    replace: Mapping[int, Message],
    remove: frozenset[int],
) -> tuple[bytes, Parts]:
    """The bytes and the pieces after a change (see `QueueText.edit`)."""
    changed: dict[int, Entry | None] = {}
    for index, message in replace.items():
        changed[index] = _replaced(_whole_entry(parts, index), message, parts.style)
    for index in remove:
        _whole_entry(parts, index)
        changed[index] = None
    added = [_new(message, parts.style) for message in append]
    last = len(parts.entries) - 1
    if added and last >= 0 and changed.get(last, parts.entries[last]) is not None:
        closed = _closed(changed.get(last) or parts.entries[last], parts.style)
        if closed is not parts.entries[last]:
            changed[last] = closed
    entries = _entries(parts.entries, changed) + tuple(added)
    head = _head(parts, bool(entries))
    return _splice(data, parts, starts, changed, added, head), Parts(
        head, entries, parts.tail, parts.style, parts.whole, False, parts.settled
    )


def _entries(entries: tuple[Entry, ...], changed: Mapping[int, Entry | None]) -> tuple[Entry, ...]:
    if not changed:
        return entries
    found = [changed.get(index, entry) for index, entry in enumerate(entries)]
    return tuple([entry for entry in found if entry is not None])


def _splice(
    data: bytes,
    parts: Parts,
    starts: Sequence[int],
    changed: Mapping[int, Entry | None],
    added: Sequence[Entry],
    head: bytes,
) -> bytes:
    """Join unchanged stretches of `data`, as blocks, with what is new."""
    view = memoryview(data)
    pieces: list[bytes | memoryview] = [head]
    position = len(parts.head)
    for index in sorted(changed):
        pieces.append(view[position : starts[index]])
        entry = changed[index]
        if entry is not None:
            pieces.append(entry.raw)
        position = starts[index] + len(parts.entries[index].raw)
    end = len(data) - len(parts.tail)
    pieces.append(view[position:end])
    pieces.extend(entry.raw for entry in added)
    pieces.append(parts.tail)
    return b"".join(pieces)


def _whole_entry(parts: Parts, index: int) -> Entry:
    entry = parts.entries[index]
    if entry.error is not None:
        raise CodecError(
            f"entry {index + 1} is damaged and is not written over: {entry.error.message}",
            hint="Repair it in an editor first.",
        )
    return entry


def _new(message: Message, style: Style) -> Entry:
    raw = in_style(emit(message), style)
    return Entry(raw, message)


def in_style(raw: bytes, style: Style) -> bytes:
    """Text at column 0 with LF, moved to the column and line end of the file."""
    if style.indent:
        raw = re.sub(rb"(?m)^(?=[^\n])", b" " * style.indent, raw)
    return raw.replace(b"\n", style.eol) if style.eol != b"\n" else raw


def _closed(entry: Entry, style: Style) -> Entry:
    """The entry ending with a line end, and still the same message."""
    if entry.raw.endswith(b"\n"):
        return entry
    raw = entry.raw + style.eol
    message = entry.message
    if message is None or same(parse_record(raw), message.record):
        return Entry(raw, message)
    return _new(message, style)


def _replaced(entry: Entry, message: Message, style: Style) -> Entry:
    old = entry.message
    assert old is not None
    if same(old.record, message.record):
        return Entry(entry.raw, message)
    raw = patch(entry.raw, old.record, message.record, style)
    return Entry(raw, message)


def _head(parts: Parts, filled: bool) -> bytes:
    """The head with `messages:` open for items, or as an empty list when there are none."""
    eol = parts.style.eol
    head = parts.head if parts.head.endswith(b"\n") or not filled else parts.head + eol
    if filled == bool(parts.entries):
        return head
    line = b"messages:" if filled else b"messages: []"
    return _LIST_LINE.sub(line, head, count=1)
