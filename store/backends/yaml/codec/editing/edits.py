"""Changing a queue: new bytes in which everything that was not asked to change is as before."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.codec.cutting.convert import in_block_frame, with_dashes
from team_console.store.backends.yaml.codec.cutting.frame import EMPTY, Style
from team_console.store.backends.yaml.codec.cutting.join import join_all
from team_console.store.backends.yaml.codec.cutting.pieces import read
from team_console.store.backends.yaml.codec.editing.emitter import emit
from team_console.store.backends.yaml.codec.editing.kept import woven
from team_console.store.backends.yaml.codec.editing.patch import in_style, patch, patch_ordinary
from team_console.store.backends.yaml.codec.entry import QueueEntry, parse_record
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.parsing.aliases import keep_values, retied
from team_console.store.backends.yaml.codec.parsing.anchors import UNTIED
from team_console.store.backends.yaml.codec.parsing.scalars import same
from team_console.store.backends.yaml.codec.parts import Parts
from team_console.store.backends.yaml.codec.stretches import Stretches
from team_console.store.model.message import Message

_LIST_LINE = re.compile(
    rb"(\A\xef\xbb\xbf|^)messages:"  # behind a byte order mark, too
    rb"(?:[ \t]+(?:\[[ \t]*\]|\{[ \t]*\}|null|~))?"  # "messages: []", "messages: null": a list that is to be opened
    rb"(?=[ \t\r\n]|\Z)",  # "messages: # the queue", but not "messages:x"
    re.MULTILINE,
)
_FEW = 16
"""Entries that change without a copy of all bytes."""


class QueueEdit(Struct, frozen=True):
    """What is asked of a queue: indices of `entries`, messages to put there or behind the last."""

    append: Sequence[Message]
    replace: Mapping[int, Message]
    remove: frozenset[int]


class Edited(Struct, frozen=True):
    """A queue after a change.

    Attributes:
        content: All bytes; what did not change is shared with the queue before.
        changed: Index before -> the entry in its place, None where it went; None where the text was cut anew.
        added: The entries that came behind the last.
    """

    content: Stretches
    parts: Parts
    changed: Mapping[int, QueueEntry | None] | None = None
    added: Sequence[QueueEntry] = ()


def edit(text: Stretches, parts: Parts, starts: Callable[[], Sequence[int]], change: QueueEdit) -> Edited:
    """The bytes and the pieces after `change` (see `QueueText.edit`); `starts` tells where entries begin in `text`.

    Raises:
        CodecError: A message cannot be written, or a damaged entry was to be replaced.
        IndexError: There is no such entry.
    """
    for index in (*change.replace, *change.remove):
        if not 0 <= index < len(parts.entries):
            raise IndexError(f"entry {index}")
    for index in change.replace:
        _check_sound(parts.entries[index], index)
    if parts.flow:
        return _edit_flow(text.join(), parts, change)
    changed: dict[int, QueueEntry | None] = {
        index: replaced(parts.entries[index], message, parts.style) for index, message in change.replace.items()
    }
    changed.update(dict.fromkeys(change.remove))
    changed, tail = keep_values(parts.entries, changed, parts.tail)
    added = [new_entry(message, parts.style) for message in change.append]
    if added:
        _close_last(parts, changed)
    head = _head(parts, filled=bool(added) or len(parts.entries) > len(change.remove))
    content = _splice(text, parts, starts, changed, added, head, tail)
    new = replace(
        parts,
        head=head,
        entries=woven(parts.entries, changed, added),
        tail=tail,
        blank=parts.blank and not added,
    )
    _check_result(content, new)
    return Edited(content, new, changed, added)


def new_entry(message: Message, style: Style) -> QueueEntry:
    """The message as an entry in the style of the file."""
    return QueueEntry.of(in_style(emit(message), style), message)


def replaced(entry: QueueEntry, message: Message, style: Style) -> QueueEntry:
    """The entry with the lines changed in which its message and `message` differ."""
    old = entry.message
    assert old is not None
    if same(old.record, message.record):
        return QueueEntry(entry.span, message, entry.ties)
    raw = patch_ordinary(entry.raw, old.record, message.record, style) if old.source is entry.span else None
    raw = raw or patch(entry.raw, old.record, message.record, style, entry.borrowed)
    return QueueEntry.of(raw, message) if entry.ties in (None, UNTIED) else retied(raw, message, entry.ties)


def _edit_flow(data: bytes, parts: Parts, change: QueueEdit) -> Edited:
    style = Style()
    entries = with_dashes(data, parts.entries)
    for index, message in change.replace.items():
        entries[index] = replaced(entries[index], message, style)
    entries = [entry for index, entry in enumerate(entries) if index not in change.remove]
    entries += [new_entry(message, style) for message in change.append]
    new_data = in_block_frame(data, [entry.raw for entry in entries])
    new = read(new_data, {entry.raw: entry for entry in entries})
    if [entry.raw for entry in new.entries] != [entry.raw for entry in entries]:
        raise CodecError("the list under messages: cannot be written with dashes", hint="Do it in an editor.")
    return Edited(Stretches.of(new_data), replace(new, joined=True))


def _close_last(parts: Parts, changed: dict[int, QueueEntry | None]) -> None:
    """Make the last entry that stays end with a line end, so that another can follow."""
    if not changed and parts.entries and parts.entries[-1].raw.endswith(b"\n"):
        return  # the others need not be cut out for this
    for index in range(len(parts.entries) - 1, -1, -1):
        entry = changed.get(index, parts.entries[index])
        if entry is not None:
            if not entry.raw.endswith(b"\n"):
                changed[index] = _closed(entry, parts.style)
            return


def _closed(entry: QueueEntry, style: Style) -> QueueEntry:
    """The entry with a line end, which must not become part of a text that ended without one."""
    raw, message = entry.raw + style.eol, entry.message
    if message is None:
        return QueueEntry.of(raw)
    record = parse_record(raw, entry.borrowed)
    if not same(record, message.record):
        raw = patch(raw, record, message.record, style, entry.borrowed)
    return QueueEntry.of(raw, message, entry.ties)


def _splice(
    text: Stretches,
    parts: Parts,
    starts: Callable[[], Sequence[int]],
    changed: Mapping[int, QueueEntry | None],
    added: Sequence[QueueEntry],
    head: bytes,
    tail: bytes,
) -> Stretches:
    """Unchanged stretches of `text` and what is new."""
    if len(changed) > _FEW:
        text = Stretches.of(text.join())  # finding a place among many stretches takes a step for each
    pieces = [memoryview(head)]
    position = len(parts.head)
    for index in sorted(changed):
        start = starts()[index]
        pieces.extend(text.between(position, start))
        entry = changed[index]
        if entry is not None:
            pieces.append(memoryview(entry.raw))
        position = start + parts.entries[index].size
    pieces.extend(text.between(position, text.size - len(parts.tail)))
    pieces.extend(memoryview(entry.raw) for entry in added)
    pieces.append(memoryview(tail))
    return Stretches.of_few(pieces)


def _head(parts: Parts, *, filled: bool) -> bytes:
    """The head with `messages:` open for items, or as an empty list when there are none."""
    if parts.blank and filled:
        word = EMPTY.fullmatch(parts.head)
        head = word["before"] + word["after"].lstrip(b"\r\n") if word else parts.head
        return _with_line_end(head, parts.style) + b"messages:" + parts.style.eol
    if (not filled and (parts.blank or not parts.entries)) or (filled and parts.entries and parts.whole):
        return parts.head
    head = _LIST_LINE.sub(rb"\1messages:" if filled else rb"\1messages: []", parts.head, count=1)
    return _with_line_end(head, parts.style) if filled else head


def _with_line_end(head: bytes, style: Style) -> bytes:
    return head if not head or head.endswith(b"\n") else head + style.eol


def _check_sound(entry: QueueEntry, index: int) -> None:
    if entry.error is not None:
        raise CodecError(
            f"entry {index + 1} is damaged and is not written over: {entry.error.message}",
            hint="Repair it in an editor first.",
        )


def _check_result(content: Stretches, parts: Parts) -> None:
    """Refuse a result that would be read otherwise: in an odd frame, or behind an entry that leaves a quote open."""
    if not parts.whole and not parts.has_open:
        return
    again = join_all(read(content.join(), {entry.raw: entry for entry in parts.entries}))
    outcome = [entry.error is None for entry in again.entries]
    if outcome != [entry.error is None for entry in parts.entries]:
        raise CodecError(
            "an entry leaves a quote or bracket open, which would swallow what is written behind it",
            hint="Repair the damaged entry in an editor first.",
        )
