"""Text of an archive: YAML entries, each closed by a line with its id and checksum.

An entry is followed by `# end <id> <crc32>`, so the file stays plain YAML and a cut or changed record shows
without parsing. Records of other programs have no such line and may stand in any form: each is read by itself.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.codec.editing.emitter import emit_again
from team_console.store.backends.yaml.codec.entry import QueueEntry, parse_entry
from team_console.store.backends.yaml.codec.parsing.ordinary import is_ordinary
from team_console.store.model.copies import Letters
from team_console.store.model.message import Message
from team_console.store.protocol.reading import carries

HEADER = b"messages:\n"
_END = re.compile(rb"^# end (?P<id>\S+) (?P<crc>\d+)$", re.MULTILINE)
"""The line that closes an entry: `# end MSG-20260224-7k2m9qxa 3632233996`."""
_PLAIN = re.compile(r"[A-Za-z0-9@._:-]+")
ITEM = re.compile(rb"^- (?:\{|[\"']?\w+[\"']?:)", re.MULTILINE)
"""A record in a list at column 0: `- message_id: a`, `- {id: a}`, but not `- dev` of a list of names."""
_DASH = re.compile(rb"^ *-(?=[ \t\r\n]|\Z)", re.MULTILINE)
_OTHER_FORM = re.compile(rb"^(?:[\[{]|[\"']?(?:message_)?id[\"']?:| +- )", re.MULTILINE)
"""Where a record may begin that is in no list at column 0."""
_BEHIND = re.compile(_OTHER_FORM.pattern + rb"|^\w+:[ \t]*\r?$", re.MULTILINE)
"""The same, or the key of another list."""
_ID_KEY = re.compile(rb"^[\"']?(?:message_)?id[\"']?:", re.MULTILINE)
_DOCUMENT = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)[ \t]*", re.MULTILINE)
_NOTHING = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*\n)*(?:[ \t]*(?:#[^\n]*)?\Z)?")
"""Blank lines, comments and directives."""
_FRAME = re.compile(rb"(?:[ \t]*(?:#[^\n]*|[\"']?[\w.-]+[\"']?:(?:[ \t][^\n]*)?)?(?:\r?\n|\Z))*")
"""Lines that may stand above a list: `version: 1`, `archived_messages:`."""
_INDENTED = re.compile(rb"^[ \t]+[^\s#]", re.MULTILINE)
_BRACKETS = re.compile(rb"[\s\[\]{},]*")
_JSON_FRAME = re.compile(rb"[\s\[\]{},]*(?:\"\w+\"\s*:\s*(?:[\w.-]+|\"[^\"\\]*\"|(?=\[))[\s\[\]{},]*)*")
_JSON_ID = re.compile(rb"[\"'](?:message_)?id[\"']")
_OBJECTS = re.compile(rb"\[\s*\{")
_FLOW = b"messages: ["
_TRIES = 20
_decode = json.JSONDecoder().raw_decode


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
    def _records(self) -> list[Record]:
        return records(self.data)

    @cached_property
    def _by_id(self) -> dict[str, list[Message]]:
        found: dict[str, list[Message]] = {}
        for record in self._records:
            if isinstance(record.outcome, Message):
                found.setdefault(record.outcome.message_id, []).append(record.outcome)
        return found

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
        return next(iter(self._messages(message_id)), None)

    def _messages(self, message_id: str) -> list[Message]:
        if message_id.encode("utf-8", "replace") not in self.data and is_plain(message_id):
            return []
        return self._by_id.get(message_id, [])

    def thread(self, request_id: str) -> list[Message]:
        """Messages that carry `request_id`."""
        return [message for message in self.holding(request_id) if carries(message, request_id)]

    def holding(self, word: str) -> list[Message]:
        """Messages with `word` in their text, or all when it may be written in other ways."""
        needle = word.encode("utf-8", "replace")
        everything = not is_plain(word)
        if needle not in self.data and not everything:
            return []
        near = [record for record in self._records if everything or needle in self.data[record.start : record.end]]
        return [record.outcome for record in near if isinstance(record.outcome, Message)]


class Record(Struct, frozen=True):
    """One record of an archive: where its text stands, and the message in it or why there is none.

    An error counts lines from `start` on.
    """

    start: int
    end: int
    outcome: Message | CodecError


def records(data: bytes) -> list[Record]:
    """Read all records of an archive, in stored order, whatever forms they stand in; a bad one harms no other."""
    with suppress(CodecError):
        found, text = _listed(data, 0, len(data))
        is_sound = all(isinstance(record.outcome, Message) for record in found)
        if is_sound and not _DASH.search(text.head) and _is_end(text.tail):
            return found
    return list(_apart(data))


def is_one_list(beginning: bytes) -> bool:
    """Whether a file that begins so has its records in a list at column 0, so that it can be cut before each."""
    item, other = ITEM.search(beginning), _OTHER_FORM.search(beginning)
    return item is not None and (other is None or item.start() < other.start())


def _listed(
    data: bytes, start: int, end: int, before: bytes = b"", after: bytes = b""
) -> tuple[list[Record], QueueText]:
    """The records of a stretch that is a queue with `before` and `after` around it."""
    text = QueueText.parse(before + data[start:end] + after)
    entries, shift = text.entries, start - len(before)
    places = [place + shift for place in text.starts()]
    pairs = zip(places, entries, strict=True)
    return [Record(place, place + entry.size, entry.outcome) for place, entry in pairs], text


def _is_end(tail: bytes) -> bool:
    return _NOTHING.fullmatch(tail) is not None or _BRACKETS.fullmatch(tail) is not None


def _apart(data: bytes) -> Iterator[Record]:
    """Our closed entries, each by itself, and what stands between them."""
    place = 0
    for match in _END.finditer(data):
        if not _crc_holds(data, match.start()):
            continue
        start, end = _entry_start(data, match.start()), min(match.end() + 1, len(data))
        yield from _documents(data, place, start)
        yield Record(start, end, QueueEntry.of(data[start : match.start()]).outcome)
        place = end
    yield from _documents(data, place, len(data))


def _documents(data: bytes, start: int, end: int) -> Iterator[Record]:
    cuts = [match.start() for match in _DOCUMENT.finditer(data, start, end)]
    for begin, stop in pairwise([start, *cuts, end]):
        line = _DOCUMENT.match(data, begin, stop)
        yield from _document(data, line.end() if line else begin, stop)


def _document(data: bytes, start: int, end: int) -> Iterator[Record]:
    """The records of a stretch that is a list under any key or none, a single record, or JSON."""
    blank = _NOTHING.match(data, start, end)
    start = blank.end() if blank else start
    if start >= end:
        return
    if data[start : start + 1] in (b"{", b"["):
        item = ITEM.search(data, start, end)
        yield from _in_braces(data, start, item.start() if item else end)
        if item:
            yield from _document(data, item.start(), end)
        return
    dash = _DASH.search(data, start, end)
    lone = _lone(data, start, end) if _ID_KEY.search(data, start, end) else None
    if lone is not None and (dash is None or isinstance(lone.outcome, Message)):
        yield lone
    elif dash is not None:
        if not _FRAME.fullmatch(data, start, dash.start()):
            yield _no_record(start, dash.start())
        yield from _list(data, dash.start(), end)
    elif not _FRAME.fullmatch(data, start, end) or _INDENTED.search(data, start, end):
        yield from _objects(data, start, end)


def _list(data: bytes, start: int, end: int) -> Iterator[Record]:
    """The items of a list that begins at `start`, and the records behind it."""
    rest = end
    try:
        found, text = _listed(data, start, end, HEADER)
        rest -= len(text.tail)
    except CodecError:  # the list as a whole cannot be read: bytes that no YAML may hold, or another key below it
        dash = rb"^" + data[start : data.index(b"-", start)] + rb"-(?=[ \t\r\n]|\Z)"
        cuts = [match.start() for match in re.compile(dash, re.MULTILINE).finditer(data, start, end)]
        pieces = pairwise([*cuts, end])
        found = [Record(begin, stop, QueueEntry.of(data[begin:stop]).outcome) for begin, stop in pieces]
    for record in found:
        yield from [record] if isinstance(record.outcome, Message) else _split(data, record)
    if rest > start:
        yield from _document(data, rest, end)


def _split(data: bytes, damaged: Record) -> list[Record]:
    """A damaged record without those behind it that stand in another form and would be read as its own lines."""
    for place in islice(_BEHIND.finditer(data, damaged.start + 1, damaged.end), _TRIES):
        alone = QueueEntry.of(data[damaged.start : place.start()]).outcome
        if not isinstance(alone, Message):
            continue
        rest = list(_document(data, place.start(), damaged.end))
        if not rest or any(isinstance(record.outcome, Message) for record in rest):
            return [Record(damaged.start, place.start(), alone), *rest]
    return [damaged]


def _lone(data: bytes, start: int, end: int) -> Record:
    """A record that is no item of a list."""
    lines = data[start:end].splitlines(keepends=True)
    outcome = QueueEntry.of(b"-\n" + b"".join(b"  " + line for line in lines)).outcome
    return Record(start, end, outcome.below(-1) if isinstance(outcome, CodecError) else outcome)


def _in_braces(data: bytes, start: int, end: int) -> Iterator[Record]:
    """The records of JSON, or of YAML written so: one, a list, a list under any key, or one behind the other."""
    ways = [(start, end, _FLOW, b"]")]
    found = _OBJECTS.search(data, start, end)
    if found:
        ways.append((found.start(), data.rfind(b"]", start, end) + 1, _FLOW[:-1], b""))
    listed = next(filter(None, (_messages(data, *way) for way in ways)), None)
    yield from listed or _objects(data, start, end)


def _messages(data: bytes, start: int, end: int, before: bytes = b"", after: bytes = b"") -> list[Record]:
    """The records of a stretch; none where it cannot be read, or none of them is a message."""
    with suppress(CodecError):
        found = _listed(data, start, end, before, after)[0]
        return found if any(isinstance(record.outcome, Message) for record in found) else []
    return []


def _objects(data: bytes, start: int, end: int) -> Iterator[Record]:
    """The messages among JSON objects in a text that is not one JSON value, and what stands between them."""
    text = data[start:end].decode("latin-1")  # a letter for each byte, only to find where an object ends
    place = seen = start
    while (begin := data.find(b"{", seen, end)) >= 0:
        stop = _end_of_object(data, begin, end, text, start)
        inside = (begin, stop) != (start, end) and stop > begin
        found = list(_in_braces(data, begin, stop)) if inside else []
        if any(isinstance(record.outcome, Message) for record in found):
            yield from _left_over(data, place, begin)
            yield from found
            place = seen = stop
        else:
            seen = max(stop, begin + 1)
    yield from _left_over(data, place, end)


def _end_of_object(data: bytes, begin: int, end: int, text: str, start: int) -> int:
    """Where the object at `begin` ends, or its line if it is no JSON and alone on it; else `begin`."""
    with suppress(ValueError, RecursionError):
        return start + _decode(text, begin - start)[1]
    is_first = not data[data.rfind(b"\n", start, begin) + 1 : begin].strip(b" \t,")
    line = data[begin:end].partition(b"\n")[0].rstrip(b" \t\r,")
    return begin + len(line) if is_first and line.endswith(b"}") else begin


def _left_over(data: bytes, start: int, end: int) -> Iterator[Record]:
    """What stands between records of JSON, if it is more than the brackets and keys of a list around them."""
    if not _JSON_FRAME.fullmatch(data, start, end) or _JSON_ID.search(data, start, end):
        blank = _BRACKETS.match(data, start, end)
        yield _no_record(blank.end() if blank else start, end)


def _no_record(start: int, end: int) -> Record:
    return Record(start, end, CodecError("what stands here is no record", 1))


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


def unclosed(data: bytes) -> bytes:
    """What of `data` is in no closed entry."""
    place, left = 0, b""
    for match in _END.finditer(data):
        if _crc_holds(data, match.start()):
            left += data[place : _entry_start(data, match.start())]
            place = match.end() + 1
    return left + data[place:]


def closed_length(data: bytes) -> int:
    """Bytes up to the end of the last entry that is closed with the right checksum; 0 when there is none."""
    good = [match.end() + 1 for match in _END.finditer(data) if _crc_holds(data, match.start())]
    return min(good[-1], len(data)) if good else 0


def can_be_extended(data: bytes) -> bool:
    """Whether the file parses without damage and its list is in the block form that we append to."""
    try:
        text = QueueText.parse(data)
    except CodecError:
        return False
    flush = all(entry.message is not None and entry.raw.startswith(b"- ") for entry in text.entries)
    return bool(text.entries) and flush and not text.whole and not text.tail.strip()
