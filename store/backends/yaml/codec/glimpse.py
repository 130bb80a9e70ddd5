"""A first look at a large queue: its last entries, those that name somebody, and what answers them.

Preliminary: entries are cut out by columns around the places that are looked for. Whether an open quote before them
swallows some, and what stands elsewhere, is known only when all is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct
from team_console.store.backends.yaml.codec.cutting.frame import Style, split
from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.model.message import Message
from team_console.store.protocol.parsing import parse_message

_BEGINNING = 1 << 16
"""Bytes at the beginning of a queue that tell how it is written."""
_QUOTING = (b"request_id", b"in_reply_to")
_VALUE = re.compile(rb"""["']?: *["']?([^\s"',}]+)""").match


class Glimpse(Struct, frozen=True):
    """The messages that were found, in stored order, and about how many others there are, from the size of these."""

    messages: tuple[Message, ...]
    left_out: int


class _Text:
    """The bytes of a queue written with dashes, and its entries where somebody looks."""

    def __init__(self, data: bytes, style: Style) -> None:
        self.data = data
        self._dash = b"\n" + b" " * style.indent + b"- "
        self.begins: dict[int, Message | None] = {}

    def add_last(self, number: int) -> int:
        """Take in the last entries; returns where the first of them begins."""
        place = len(self.data)
        for _ in range(number):
            begin = self.data.rfind(self._dash, 0, place)
            if begin < 0:
                break
            place = begin
            self._add(begin + 1)
        return place

    def add_around(self, place: int) -> Message | None:
        """Take in the entry that stands around a place."""
        begin = self.data.rfind(self._dash, 0, place + 1)
        return self._add(begin + 1) if begin >= 0 else None

    def _add(self, begin: int) -> Message | None:
        if begin not in self.begins:
            end = self.data.find(self._dash, begin)
            entry = QueueEntry.of(self.data[begin : end + 1 if end >= 0 else len(self.data)])
            if entry.error is not None and entry.error.kind in (Kind.ALIAS, Kind.OPEN):
                raise entry.error  # only all entries together tell what this one means
            self.begins[begin] = entry.message
        return self.begins[begin]


def glimpse(data: bytes, limit: int, names: Collection[str] = ()) -> Glimpse | None:
    """The last `limit` entries, up to as many before them with one of `names` in an address, and what answers those.

    None when the file is not written as we write it, or is not larger than a few times of that.
    """
    style = _style(data)
    if style is None:
        return None
    text = _Text(data, style)
    try:
        first = text.add_last(limit)
        if first <= _BEGINNING or data.find(b"\0") >= 0:
            return None
        places = _named(data, names, first, limit)
        mine = [message for place in places if (message := text.add_around(place))]
        asked = [read.request_id for read in map(parse_message, mine) if read.opens is not None]
        ids = {quoted.encode("utf-8", "replace") for quoted in asked if quoted is not None}
        for place in _quoting(data, ids, places[0]) if ids else ():
            text.add_around(place)
    except CodecError:
        return None
    messages = tuple(message for _, message in sorted(text.begins.items()) if message is not None)
    mean = (len(data) - first) // limit
    return Glimpse(messages, max(1, len(data) // max(1, mean) - len(messages)))


def _style(data: bytes) -> Style | None:
    beginning = data[:_BEGINNING]
    frame = split(beginning[: beginning.rfind(b"\n") + 1])
    return frame.style if frame is not None and frame.first is not None and not frame.doubtful else None


def _named(data: bytes, names: Iterable[str], end: int, limit: int) -> list[int]:
    """The last places before `end` at which one of `names` is the value of a key, as we write it."""
    places = [place for name in names for place in _backwards(data, b": %s\n" % name.encode(), end, limit)]
    return sorted(places)[-limit:]


def _backwards(data: bytes, needle: bytes, end: int, limit: int) -> Iterator[int]:
    place = data.rfind(needle, 0, end)
    while place >= 0 and limit > 0:
        yield place
        limit -= 1
        place = data.rfind(needle, 0, place)


def _quoting(data: bytes, ids: Collection[bytes], begin: int) -> Iterator[int]:
    """Places from `begin` on at which a key that quotes has one of `ids` for its value."""
    for key in _QUOTING:
        place = data.find(key, begin)
        while place >= 0:
            value = _VALUE(data, place + len(key))
            if value is not None and value[1] in ids:
                yield place
            place = data.find(key, place + len(key))
