"""Turning a list that is not written with dashes into one that is, the moment it has to change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from team_console.store.backends.yaml.codec.cutting.checks import BOM
from team_console.store.backends.yaml.codec.cutting.whole import LIST, Whole, read_whole
from team_console.store.backends.yaml.codec.editing.emitter import emit, pair_lines
from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.parsing.patient_parser import DEPTH, Events
from team_console.store.backends.yaml.codec.parsing.scalars import same
from team_console.store.backends.yaml.codec.parsing.surrogates import StandIn
from team_console.store.backends.yaml.codec.parsing.values import read_value

_COMMENT = re.compile(r"#[^\n]*")


def with_dashes(data: bytes, entries: Sequence[QueueEntry]) -> list[QueueEntry]:
    """The entries of a file without dashes as they look with dashes: their own text where that reads the same.

    Raises:
        CodecError: A damaged entry cannot be moved without changing it.
    """
    text = data.removeprefix(BOM).decode()
    items = read_whole(data).items
    ends = [*(item.start for item in items[1:]), items[-1].end] if items else []
    found = []
    for entry, item, end in zip(entries, items, ends, strict=True):
        body = text[item.start : item.end].replace("\n", "\n  ")
        comments = "".join(f"{comment}\n" for comment in _COMMENT.findall(text[item.end : end]))
        found.append(_same_entry(entry, f"- {body}\n{comments}".encode(), comments.encode()))
    return found


def in_block_frame(data: bytes, raws: Iterable[bytes]) -> bytes:
    """The file with its list replaced by `raws`, items at column 0; other top-level keys stay.

    Raises:
        CodecError: Another top-level value cannot be written in block form.
    """
    whole = read_whole(data)
    mark = BOM if data.startswith(BOM) else b""
    text = data.removeprefix(BOM).decode()
    body = b"".join(raws)
    if whole.flow_frame:
        return mark + _block_pairs(data, body)
    return mark + _around(text, whole, body)


def _around(text: str, whole: Whole, body: bytes) -> bytes:
    before, after = text[: whole.start].rstrip(), text[whole.end :]
    rest, _, below = after.partition("\n")
    if before.rpartition("\n")[2].startswith(" ") or (rest.strip() and not rest.strip().startswith("#")):
        raise CodecError("the list under messages: is not in block form", hint="Write it as a list with dashes.")
    line = f" {rest.strip()}\n" if rest.strip() else "\n"
    return (before + (line if body else " []" + line)).encode() + body + below.encode()


def _block_pairs(data: bytes, body: bytes) -> bytes:
    """The outer mapping, written in braces, as lines of its own."""
    events, lines = Events(data, limit=DEPTH + 3), b""
    try:
        for _ in range(3):
            events.next()
        while type(key := events.next()).__name__ != "MappingEndEvent":
            value = events.next()
            if key.value == LIST:
                events.skip_to(1)
                lines += b"messages:\n" + body if body else b"messages: []\n"
            else:
                written = pair_lines(key.value, read_value(events, value, as_text=False), 0)
                lines += "".join(f"{line}\n" for line in written).encode()
    finally:
        events.close()
    return lines


def _same_entry(entry: QueueEntry, raw: bytes, comments: bytes) -> QueueEntry:
    moved = QueueEntry.of(raw)
    if entry.message is None:
        if moved.error is None:
            raise CodecError("a damaged entry stands in the way", hint="Repair it in an editor first.")
        return moved
    # Halves of a character, as JSON writes them, are YAML to us only: what is written anew is for everybody.
    if moved.message is not None and StandIn.of(raw) is None and same(moved.message.record, entry.message.record):
        return QueueEntry.of(raw, entry.message)
    return QueueEntry.of(emit(entry.message) + comments, entry.message)
