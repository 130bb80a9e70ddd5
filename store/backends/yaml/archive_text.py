"""Text of an archive: YAML entries, each closed by a line with its id and checksum.

An entry is followed by `# end <id> <crc32>`, so the file stays plain YAML and a cut or changed record shows
without parsing. Other writers' entries without that line are read all the same.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote

from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.codec.editing.emitter import emit_again
from team_console.store.backends.yaml.codec.entry import parse_entry
from team_console.store.backends.yaml.codec.parsing.ordinary import is_ordinary
from team_console.store.model.copies import Letters
from team_console.store.model.message import Message
from team_console.store.protocol.reading import carries

HEADER = b"messages:\n"
_END = re.compile(rb"^# end (?P<id>\S+) (?P<crc>\d+)$", re.MULTILINE)
"""The line that closes an entry: `# end MSG-20260224-7k2m9qxa 3632233996`."""
_PLAIN = re.compile(r"[A-Za-z0-9@._:-]+")


def closed(message: Message, shown: bytes = b"") -> bytes:
    """An archive entry of `message` with its closing line; `shown` is its text in the queue, where it stands there.

    An ordinary text is taken as it is: it reads as this message in any place.

    Raises:
        CodecError: It cannot be written.
    """
    entry = shown if is_ordinary(shown) else emit_again(message)
    return entry + _end_line(message.message_id) + b"%d\n" % zlib.crc32(entry)


def _end_line(message_id: str) -> bytes:
    return b"# end " + _word(message_id).encode() + b" "


def _word(message_id: str) -> str:
    """The id as one word of ASCII, other characters percent-encoded."""
    if is_plain(message_id):
        return message_id

    return quote(message_id, safe="@:", errors="backslashreplace")


class Part:
    """One archive file as read."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self._letters: dict[str, list[Letters]] = {}

    @cached_property
    def text(self) -> QueueText:
        """Its entries. Raises `CodecError` when it cannot be understood."""
        return QueueText.parse(self.data)

    @cached_property
    def _ends(self) -> dict[bytes, list[int]]:
        """Where the closing lines of each id begin."""
        ends: dict[bytes, list[int]] = {}
        for match in _END.finditer(self.data):
            ends.setdefault(match["id"], []).append(match.start())
        return ends

    def _closed(self, message_id: str) -> Iterator[bytes]:
        """The entries closed under this id whose checksum holds."""
        for end in self._ends.get(_word(message_id).encode(), ()):
            if _crc_holds(self.data, end):
                yield self.data[_entry_start(self.data, end) : end]

    def _closed_messages(self, message_id: str) -> Iterator[Message]:
        for entry in self._closed(message_id):
            with suppress(CodecError):
                yield parse_entry(entry)

    def proves(self, message_id: str) -> bool:
        """Whether a whole copy of this id is here: closed with the right checksum, or readable without one."""
        return any(True for _ in self._closed(message_id)) or self.message(message_id) is not None

    def keeps(self, message: Message) -> bool:
        """Whether a whole copy of this very message is here, in whatever state; another one of its id does not do."""
        message_id = message.message_id
        known = self._letters.setdefault(message_id, [])  # asked for again at each of many that share an id
        for number, find in enumerate((self._closed_messages, self._messages)):
            if number == len(known):
                known.append(Letters(find(message_id)))
            if known[number].copies(message):
                return True
        return False

    def message(self, message_id: str) -> Message | None:
        """The first copy of this id, if it is here and readable."""
        return next(self._messages(message_id), None)

    def _messages(self, message_id: str) -> Iterator[Message]:
        if message_id.encode("utf-8", "replace") not in self.data and is_plain(message_id):
            return
        try:
            near = [self.text.entries[place].message for place in self.text.places(message_id)]
        except CodecError:
            return
        yield from (message for message in near if message is not None)

    def thread(self, request_id: str) -> list[Message]:
        """Messages that carry `request_id`."""
        return [message for message in self.holding(request_id) if carries(message, request_id)]

    def holding(self, word: str) -> list[Message]:
        """Messages with `word` in their text, or all when it may be written in other ways."""
        needle = word.encode("utf-8", "replace")
        everything = not is_plain(word)
        if needle not in self.data and not everything:
            return []
        try:
            near = [entry.message for entry in self.text.entries if everything or needle in entry.raw]
        except CodecError:
            return []
        return [message for message in near if message is not None]


def closed_ids(data: bytes) -> list[str]:
    """Ids of the entries in `data` that have their closing line."""
    return [unquote(match["id"].decode("ascii", "replace")) for match in _END.finditer(data)]


def damaged_records(data: bytes) -> list[tuple[int, str]]:
    """Offset and id of each closed entry whose checksum does not hold."""
    ends = [match for match in _END.finditer(data) if not _crc_holds(data, match.start())]
    return [(match.start(), match["id"].decode("ascii", "replace")) for match in ends]


def is_plain(text: str) -> bool:
    """Whether `text` is written in YAML as it is, so that a search over bytes finds it."""
    return _PLAIN.fullmatch(text) is not None


def _entry_start(data: bytes, end_line: int) -> int:
    """Where the entry begins that is closed by the line at `end_line`."""
    return data.rfind(b"\n- ", 0, end_line) + 1


def _crc_holds(data: bytes, end_line: int) -> bool:
    """Whether the entry closed by the line that begins at `end_line` has the checksum that line says."""
    match = _END.match(data, end_line)
    start = _entry_start(data, end_line)
    if match is None or not (start or data.startswith(b"- ")):
        return False
    return zlib.crc32(data[start:end_line]) == int(match["crc"])


def is_closed_end(tail: bytes) -> bool:
    """Whether a file that ends with `tail` ends with a whole closed entry."""
    last = tail.rfind(b"\n", 0, max(0, len(tail) - 1)) + 1
    return tail.endswith(b"\n") and tail.startswith(b"# end ", last) and _crc_holds(tail, last)


def closed_length(data: bytes) -> int:
    """Bytes up to the end of the last entry that is closed with the right checksum; 0 when there is none."""
    good = [match.end() + 1 for match in _END.finditer(data) if _crc_holds(data, match.start())]
    return min(good[-1], len(data)) if good else 0


def can_be_extended(data: bytes) -> bool:
    """Whether the file parses without damage and its list is in the block form that we append to."""
    if not is_understood(data):
        return False
    text = QueueText.parse(data)
    flush = all(entry.raw.startswith(b"- ") for entry in text.entries)
    return bool(text.entries) and flush and not text.whole and not text.tail.strip()


def is_understood(data: bytes) -> bool:
    try:
        return not QueueText.parse(data).damaged()
    except CodecError:
        return False
