"""A queue as text made of entries: each its exact bytes, understood on demand, edited without touching the others."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from team_console.store.backends.yaml import own_form
from team_console.store.backends.yaml.entry import (
    DEPTH,
    SIGN,
    Composer,
    Entry,
    Node,
    Style,
    Values,
    emit,
    line_of,
    parse_record,
    patch,
    replaced,
    to_message,
    with_whole_characters,
)
from team_console.store.backends.yaml.own_form import Kind, TextError, same
from team_console.store.model.message import Message, distinct

BOM = b"\xef\xbb\xbf"
MOST_DAMAGED = 1000
"""Damaged entries that are listed one by one; a file that has to be read as a whole may have no more."""
_LIST = "messages"
_EXPECTED = "expected a list under messages:"
_HINT = "A queue is a file with the line 'messages:' and a list below it."
_NOTHING: Mapping[int, Message] = MappingProxyType({})
_NO_ENTRIES: Mapping[bytes, Entry] = MappingProxyType({})

# A repeated group is repeated greedily, never possessively: up to Python 3.11.4 a possessive repeat of a group may
# match too much or not at all (CPython issues 100061 and 106052). What follows a group here never begins like a
# part of it, so giving some of it back finds nothing else and costs one look.
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
"""A marker that git leaves: `<<<<<<< HEAD`, `>>>>>>>`. A line of `=======` may be a title in a text."""
_BLANKS = rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*"
"""Any number of empty lines and comment lines."""
_LIST_KEY = re.compile(
    rb"(?:\A" + BOM + rb"|^)(?P<quote>[\"']?)messages(?P=quote):"
    rb"(?:[ \t]++(?P<value>\[[ \t]*+\]|\{[ \t]*+\}|null|~))?"  # "messages: []": the list is empty
    rb"[ \t]*+(?:(?<=[ \t])#[^\n]*?)?\r?$",  # "messages: # the queue"
    re.MULTILINE,
)
_LIST_LINE = re.compile(
    rb"((?:\A\xef\xbb\xbf|^)([\"']?)messages\2):"  # behind a byte order mark, too
    rb"(?:[ \t]+(?:\[[ \t]*\]|\{[ \t]*\}|null|~))?"  # "messages: []", "messages: null": a list that is to be opened
    rb"(?=[ \t\r\n]|\Z)",  # "messages: # the queue", but not "messages:x"
    re.MULTILINE,
)
_GAP = re.compile(_BLANKS)
_FIRST = re.compile(rb"(?P<indent> {0,40})-(?=[ \t\r\n]|\Z)")
"""The dash of the first entry: `  - message_id: a`, but not `--- ` or `-1`."""
# Before the list: nothing but comments, and a line "---"; behind it nothing but comments.
_PLAIN_HEAD = re.compile(rb"(?:" + BOM + rb")?" + _BLANKS + rb"(?:---[ \t]*\r?\n" + _BLANKS + rb")?").fullmatch
_EMPTY = re.compile(
    rb"(?P<before>(?:" + BOM + rb")?" + _BLANKS + rb"(?:---[ \t]*\r?\n" + _BLANKS + rb")?)"
    rb"(?:\[\s*\]|\{\s*\}|[Nn]ull|NULL|~)[ \t]*"
    rb"(?P<after>(?:(?<=[ \t])#[^\n]*)?(?:\r?\n" + _BLANKS + rb")?)(?:\.\.\.[ \t\r\n]*)?"
).fullmatch
"""What programs write for no messages at all: `[]`, `{}`, `null`."""
_PLAIN_TAIL = re.compile(_BLANKS + rb"[ \t]*(?:#[^\n]*)?").fullmatch
# Line breaks of YAML 1.1: "\r" alone (old Macs), U+0085, U+2028, U+2029; lines are cut at "\n" and "\r\n" only.
_OTHER_BREAK = re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]").search
# What no YAML may hold: control characters of ASCII and of Latin-1, U+FFFE, U+FFFF.
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]").search
_DOCUMENT = re.compile(rb"(?:---|\.\.\.)(?:[ \t\r\n]|\Z)")
"""The line that begins a document or ends one: `--- # next`, `...`."""
_NAME = rb"[^\n:]*+(?::(?![ \t\r\n]|\Z)[^\n:]*+)*"
"""`version` or `a:b`: a colon ends a key only before a blank, which has to be asked for behind it as well."""
_KEY = re.compile(
    rb" *+(?:"
    rb"(?=[^ \t\r\n#])" + _NAME + rb":(?=[ \t\r\n]|\Z)"  # "version: 1"
    rb"|\?(?:[ \t\r\n]|\Z)"  # "? messages"
    rb")"
)
_BARE_KEY = re.compile(
    rb" *+" + _NAME + rb":(?=[ \t\r\n])[ \t]*+"
    rb"(?:[&!#][^\n]*+\n"  # "other: &name"
    rb"|\r?\n)"  # "other:"
     + _BLANKS + rb" *+-[ \t\r\n]"  # and a list below it
)
_PLAIN_WORD = re.compile(r"[A-Za-z0-9._:@/+-]+").fullmatch
_HIDDEN_ID = re.compile(
    rb"id[\"']?[ \t]*:\s*(?:\"[^\"\n]*\\|[*!])"  # id: "MSG\x2d1", id: *other, id: !!binary TVNHLTE=
    rb"|(?m:^ *- \*)|<<[\"']?[ \t]*:"  # - *message, <<: *message
)
"""What may be an id that the bytes of the text do not show."""


def is_written_plainly(word: str) -> bool:
    """Whether a value that holds `word` has it byte for byte in its text, unless an escape or a tag hides it."""
    return _PLAIN_WORD(word) is not None


class QueueText:
    """A queue or an archive as read; immutable but for what is understood of it.

    Attributes:
        head, tail: What stands before the first entry and behind the last.
        style: How the file writes its list.
        odd: Whether columns do not tell where entries are (brackets, an unusual frame, aliases behind the list), so
            that the file was read as one YAML document and the first change writes it in our own form.
        blank: Whether the file has no list, nor anything else but comments.
    """

    def __init__(
        self,
        head: bytes,
        entries: Sequence[Entry],
        tail: bytes,
        style: Style,
        *,
        odd: bool = False,
        blank: bool = False,
        understood: bool = False,
    ) -> None:
        """Use `parse`."""
        self.head, self.tail, self.style = head, tail, style
        self.odd, self.blank = odd, blank
        self._entries = entries
        self._understood = understood or not entries
        self._has_open = False
        self._data: bytes | None = None
        self._starts: list[int] | None = None
        self._messages: tuple[Message, ...] | None = None
        self._distinct: Sequence[Message] | None = None
        self._index: dict[str, list[int]] | None = None

    @classmethod
    def empty(cls) -> QueueText:
        """A queue without messages."""
        return cls.parse(b"messages: []\n")

    @classmethod
    def parse(cls, data: bytes, previous: QueueText | None = None) -> QueueText:
        """Read a whole file; entries are only cut out here and understood when somebody looks at them.

        Entries that have the same bytes in `previous`, the text read before, are the same objects.

        Raises:
            TextError: The file as a whole cannot be understood. A blank file is not an empty queue (see `blank_file`).
        """
        if previous is not None and previous.data() == data:
            return previous
        known = {entry.raw: entry for entry in previous._entries} if previous is not None else _NO_ENTRIES
        document = _read(data, known)
        document._data = data
        return document

    @classmethod
    def blank_file(cls, data: bytes) -> QueueText:
        """A file that is blank, as a queue without messages; `parse` refuses it, since a harmed file looks so too."""
        return cls(data, (), b"", Style(), blank=True)

    @staticmethod
    def is_blank(data: bytes) -> bool:
        """Whether a file is empty or holds nothing but comments."""
        return _PLAIN_HEAD(data + b"\n") is not None and not _OTHER_BREAK(data) and not _FORBIDDEN(data)

    @property
    def size(self) -> int:
        """How many entries there are, as they are cut at the moment."""
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries in order. Understands every one of them first, because an open quote may join some."""
        self.parse_all()
        return self._entries

    def parse_all(self, progress: Callable[[int, int], bool] | None = None) -> None:
        """Understand every entry, so that nothing later costs time; `progress(done, total)` returns False to stop.

        Raises:
            InterruptedError: `progress` said so; what was understood so far is kept.
        """
        if self._understood:
            return
        entries, kinds = self._entries, set()
        for number, entry in enumerate(entries):
            if progress is not None and number % 256 == 0 and not progress(number, len(entries)):
                raise InterruptedError("reading was stopped")
            if not isinstance(entry.outcome, Message):
                kinds.add(entry.outcome.kind)
        # A quote that is open at the end of an item may go on in lines that look like items; an alias has its value in
        # another item. Both are told by reading the whole file as one document, if it is one.
        if kinds & {Kind.ALIAS, Kind.OPEN} or SIGN.search(self.tail) or any(entry.tied for entry in entries):
            self._has_open = Kind.OPEN in kinds
            with suppress(TextError):
                self._take_over(_read_whole(self.data(), {entry.raw: entry for entry in entries}))
        self._understood = True

    def _take_over(self, whole: QueueText) -> None:
        """Keep what the whole file means: the same items with values from elsewhere, or other items than columns."""
        same_items = len(whole._entries) == len(self._entries) and not self._has_open
        self._has_open = False
        if same_items and not SIGN.search(self.tail):
            pairs = zip(self._entries, whole._entries, strict=True)
            self._entries = [
                Entry(mine.raw, _same_object(mine, theirs), tied=True) if SIGN.search(mine.raw) else mine
                for mine, theirs in pairs
            ]
            return
        self.head, self.tail, self.odd, self.style = whole.head, whole.tail, True, whole.style
        self._entries, self._starts = whole._entries, None

    def newest(self, limit: int) -> tuple[int, tuple[Message, ...]]:
        """How many entries are before the last `limit`, and the messages of those last, without a look at the others.

        Preliminary: whether an open quote before them swallows some is known only when all are understood.
        """
        last = self._entries[-limit:]
        if any(entry.error is not None for entry in last):
            last = self.entries[-limit:]
        return len(self._entries) - len(last), tuple([entry.message for entry in last if entry.message is not None])

    def data(self) -> bytes:
        """The bytes of the file; what was parsed comes out byte for byte."""
        if self._data is None:
            self._data = b"".join([self.head, *[entry.raw for entry in self._entries], self.tail])
        return self._data

    def messages(self) -> tuple[Message, ...]:
        """The messages of all entries that are not damaged, in stored order."""
        if self._messages is None:
            # No call for each entry: work on many is done in slices, each of which comes by here.
            self._messages = tuple([entry.known for entry in self.entries if entry.known.__class__ is Message])
        return self._messages

    def distinct(self) -> Sequence[Message]:
        """The messages, of further copies of one message the one that is furthest on its way."""
        if self._distinct is None:
            self._distinct = distinct(self.messages())
        return self._distinct

    def damaged(self) -> list[tuple[int, TextError]]:
        """For each damaged entry the 1-based line of the file where it begins, and why (lines of the file).

        Of very many the first; the last of these says how many more there are.
        """
        found: list[tuple[int, TextError]] = []
        lines, position, data = 0, 0, self.data()
        for entry, start in zip(self.entries, self.starts(), strict=True):
            if entry.error is not None:
                more = len(self._entries) - len(self.messages()) - len(found)
                if len(found) == MOST_DAMAGED and more > 1:
                    last = lines + data.count(b"\n", position, start) + 1
                    return [*found, (last, TextError(f"{more:,} more damaged entries, the first of them", last))]
                lines += data.count(b"\n", position, start)
                position = start
                found.append((lines + 1, entry.error.below(lines)))
        return found

    @property
    def damaged_count(self) -> int | None:
        """How many entries hold no message; None while they have not been understood."""
        return len(self._entries) - len(self.messages()) if self._understood else None

    def starts(self) -> list[int]:
        """Where each entry, as they are cut at the moment, begins in `data()`."""
        if self._starts is None:
            sizes = map(len, [entry.raw for entry in self._entries])
            self._starts = list(accumulate(sizes, initial=len(self.head)))[: len(self._entries)]
        return self._starts

    def places(self, message_id: str) -> Sequence[int]:
        """The indices in `entries` of all messages with this id, in order; more than one where it was used again.

        An id that the bytes do not show is told without understanding anything.
        """
        if self._index is None:
            if not self._understood and is_written_plainly(message_id):
                near = [self._entries[place].message for place in self._with([message_id.encode()], _HIDDEN_ID)]
                if not any(message is None or message.message_id == message_id for message in near):
                    return ()
            index: dict[str, list[int]] = {}
            for place, entry in enumerate(self.entries):
                if isinstance(entry.known, Message):
                    index.setdefault(entry.known.message_id, []).append(place)
            self._index = index
        return self._index.get(message_id, ())

    def entries_with(self, words: Collection[bytes], hidden: Collection[bytes] = (b"\\",)) -> list[Message]:
        """Messages whose text holds one of `words` or a sign of what is `hidden`, as an escape, in stored order.

        Understands nothing when there are none.
        """
        signs = (*words, *hidden)
        if not self._understood and not any(sign in self.data() for sign in signs):
            return []
        self.parse_all()
        if self.odd:
            return list(self.messages())
        places = {*self._with(signs), *(place for place, entry in enumerate(self._entries) if entry.tied)}
        found = [self._entries[place].message for place in sorted(places)]
        return [message for message in found if message is not None]

    def _with(self, words: Collection[bytes], hidden: re.Pattern[bytes] | None = None) -> list[int]:
        """Indices of the entries in whose text one of the words begins, or a match of `hidden` ends."""
        data, starts, found = self.data(), self.starts(), set()
        for word in words:
            place = data.find(word)
            while place >= 0:
                index = bisect_right(starts, place) - 1
                found.add(index)
                place = data.find(word, starts[index + 1] if index + 1 < len(starts) else len(data))
        if hidden is not None and any(sign in data for sign in (b"\\", b"*", b"!")):
            found.update(bisect_right(starts, match.end() - 1) - 1 for match in hidden.finditer(data, len(self.head)))
        return sorted(index for index in found if index >= 0)

    def edit(
        self,
        *,
        append: Sequence[Message] = (),
        replace: Mapping[int, Message] = _NOTHING,
        remove: Collection[int] = (),
    ) -> QueueText:
        """The text after a change; entries that are not named stay byte for byte. Indices are those of `entries`.

        Values that entries take from others by an alias are written out first.

        Raises:
            TextError: A message cannot be written, or a damaged entry was to be replaced.
            IndexError: There is no such entry.
        """
        if replace or remove or self.odd or SIGN.search(self.tail) or (self._entries and self._entries[-1].error):
            self.parse_all()
        for index in (*replace, *remove):
            if not 0 <= index < len(self._entries):
                raise IndexError(f"entry {index}")
        for index in replace:
            _check_sound(self._entries[index], index)
        if self.odd:
            return self._in_our_form(append, replace, remove)
        entries = [self._untied(entry) if entry.tied else entry for entry in self._entries]
        for index, message in replace.items():
            entries[index] = replaced(entries[index], message, self.style)
        kept = [entry for index, entry in enumerate(entries) if index not in remove]
        if append and kept and not kept[-1].raw.endswith(b"\n"):
            kept[-1] = _closed(kept[-1], self.style)
        kept += [Entry(self.style.of(emit(message)), message) for message in append]
        return self._with_entries(kept)

    def _untied(self, entry: Entry) -> Entry:
        """The entry with values in the places of aliases, which others may take away."""
        return Entry(self.style.of(emit(entry.known)), entry.known) if isinstance(entry.known, Message) else entry

    def _with_entries(self, entries: list[Entry]) -> QueueText:
        """The text with other entries.

        Raises:
            TextError: It would be read otherwise, behind an entry that leaves a quote open.
        """
        blank = self.blank and not entries
        new = QueueText(
            self._head(filled=bool(entries)),
            entries,
            self.tail,
            self.style,
            blank=blank,
            understood=self._understood,
        )
        new._has_open = self._has_open
        if self._has_open:
            again = _read(new.data(), {entry.raw: entry for entry in entries})
            if [entry.error is None for entry in again.entries] != [entry.error is None for entry in new.entries]:
                raise TextError(
                    "an entry leaves a quote or bracket open, which would swallow what is written behind it",
                    hint="Repair the damaged entry in an editor first.",
                )
        return new

    def _in_our_form(
        self, append: Sequence[Message], replace: Mapping[int, Message], remove: Collection[int]
    ) -> QueueText:
        """The list with dashes, and the other keys of the file behind it.

        Raises:
            TextError: A damaged entry cannot be written with a dash.
        """
        found = _find_list(self.data())
        entries = []
        for index, (entry, node) in enumerate(zip(self._entries, found.items, strict=True)):
            message = replace.get(index, entry.known)
            if index not in remove:
                entries.append(Entry(emit(message), message) if isinstance(message, Message) else _moved(node, found))
        entries += [Entry(emit(message), message) for message in append]
        others = {str(key.value): Values().value(value, as_text=False) for key, value in found.others}
        tail = "".join(f"{own_form.pair(key, value, 0)}\n" for key, value in others.items()).encode()
        above = _GAP.match(self.data().removeprefix(BOM))
        head = (above[0] if above else b"") + (b"messages:\n" if entries else b"messages: []\n")
        return QueueText(head, entries, tail, Style())

    def _head(self, *, filled: bool) -> bytes:
        """The head with `messages:` open for items, or as an empty list when there are none."""
        if self.blank and filled:
            word = _EMPTY(self.head)
            head = word["before"] + word["after"].lstrip(b"\r\n") if word else self.head
            return _with_line_end(head, self.style) + b"messages:" + self.style.eol
        if not filled and (self.blank or not self._entries):
            return self.head
        head = _LIST_LINE.sub(rb"\1:" if filled else rb"\1: []", self.head, count=1)
        return _with_line_end(head, self.style) if filled else head


def _with_line_end(head: bytes, style: Style) -> bytes:
    return head if not head or head.endswith(b"\n") else head + style.eol


def _check_sound(entry: Entry, index: int) -> None:
    if entry.error is not None:
        raise TextError(
            f"entry {index + 1} is damaged and is not written over: {entry.error.message}",
            hint="Repair it in an editor first.",
        )


def _closed(entry: Entry, style: Style) -> Entry:
    """The entry with a line end, which must not become part of a text that ended without one."""
    raw, message = entry.raw + style.eol, entry.message
    if message is None:
        return Entry(raw)
    record = parse_record(raw)
    return Entry(raw if same(record, message.record) else patch(raw, record, message.record, style), message)


def _moved(node: Node, found: _Found) -> Entry:
    """A damaged item with a dash at column 0."""
    first, *lines = found.text[node.start : node.end].split("\n")
    lines = [line[node.column :] if not line[: node.column].strip() else line.lstrip() for line in lines]
    entry = Entry("\n  ".join([f"- {first}", *lines]).encode() + b"\n")
    if entry.error is None or entry.error.kind is not Kind.MEANING:
        raise TextError("a damaged entry stands in the way", hint="Repair it in an editor first.")
    return entry


def _same_object(mine: Entry, theirs: Entry) -> Message | TextError:
    old, new = mine.known, theirs.outcome
    return old if isinstance(old, Message) and isinstance(new, Message) and same(old.record, new.record) else new


# --- Cutting by columns.


def _read(data: bytes, known: Mapping[bytes, Entry] = _NO_ENTRIES) -> QueueText:
    """Cut a whole file; entries whose bytes are in `known` are reused.

    Raises:
        TextError: The file as a whole cannot be understood.
    """
    check_bytes(data)
    frame = _split(data)
    if frame is None:
        return QueueText.blank_file(data) if _EMPTY(data) else _read_whole(data, known)
    head, first, end, style, doubtful = frame
    starts = [] if first is None else [first, *_item_starts(data, first, end, style)]
    pieces = [data[start:stop] for start, stop in pairwise([*starts, end])]
    document = QueueText(head, [known.get(piece) or Entry(piece) for piece in pieces], data[end:], style)
    if doubtful:
        with suppress(TextError):
            whole = _read_whole(data, known)
            if not same(_records(whole), _records(document)):
                return whole
    elif not _PLAIN_TAIL(document.tail):
        document._data = data
        document.parse_all()  # what looks like the end of the list may be the inside of an open quote
    return document


def _records(text: QueueText) -> list[object]:
    return [entry.message and entry.message.record for entry in text.entries]


Frame = tuple[bytes, int | None, int, Style, bool]
"""Head, where the first item begins, where the last ends, the style, and whether columns may deceive here."""


def _split(data: bytes) -> Frame | None:
    """Cut a whole file; None when its frame is not the plain one (the caller then reads the whole file as YAML).

    Items below `messages: []` are what a script appended to a new queue: no YAML, and nothing else can be meant.
    """
    found = _LIST_KEY.search(data)
    if found is None:
        return None
    opened = min(found.end() + 1, len(data))
    eol = b"\r\n" if data[found.start() : opened].endswith(b"\r\n") else b"\n"
    below = _GAP.match(data, opened)
    begin = below.end() if below else opened
    first = _FIRST.match(data, begin)
    if first is None:
        begin = len(data) if _PLAIN_TAIL(data[begin:]) else begin
        frame: Frame = data[:begin], None, begin, Style(0, eol), False
    else:
        style = Style(len(first["indent"]), eol)
        end, doubtful = _find_end(data, first.start(), style)
        if end is None:
            return None
        frame = data[: first.start()], first.start(), end, style, doubtful or _OTHER_BREAK(data) is not None
    if _FORBIDDEN(frame[0]):
        return None
    return frame if _is_sound(data[: found.start()], data[frame[2] :]) else None


@lru_cache(maxsize=64)
def _item(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n" + b" " * indent + rb"-(?=[ \t\r\n]|\Z)")


@lru_cache(maxsize=64)
def _stray(indent: int) -> re.Pattern[bytes]:
    """A line that stands left of the items without being one."""
    if not indent:
        return re.compile(rb"\n(?!-[ \t\r\n]|-\Z)(?=[^ \t\r\n#])")
    return re.compile(rb"\n(?! {%d}-(?:[ \t\r\n]|\Z)) {0,%d}(?=[^ \t\r\n#])" % (indent, indent))


def _item_starts(data: bytes, start: int, end: int, style: Style) -> list[int]:
    return [found.start() + 1 for found in _item(style.indent).finditer(data, start, end)]


def _find_end(data: bytes, start: int, style: Style) -> tuple[int | None, bool]:
    """Where the list that begins at `start` ends, None when columns do not tell; and whether that is doubtful.

    Lines left of the items that cannot begin anything new belong to the item before (which they may damage).
    """
    stray = _stray(style.indent).search(data, start)
    last = max([start, *_item_starts(data, start, len(data), style)]) if stray else 0
    doubtful = False
    while stray is not None:
        line = stray.start() + 1
        if _DOCUMENT.match(data, line):
            return None, True
        if _KEY.match(data, line):
            if line > last:
                return line, doubtful
            if _BARE_KEY.match(data, line):
                return None, True
            doubtful = True
        stray = _stray(style.indent).search(data, line)
    return len(data), doubtful


def _is_sound(before: bytes, tail: bytes) -> bool:
    """Whether what surrounds the list is a mapping of its own that leaves `messages` to us."""
    if _PLAIN_HEAD(before) and _PLAIN_TAIL(tail):
        return True
    place = len(before.removeprefix(BOM).decode()) + len("messages: ")
    try:
        return _find_list(before + b"messages: []\n" + tail).start == place
    except TextError:
        return False


def check_bytes(data: bytes) -> None:
    """Refuse bytes that are not UTF-8 text without NULs and conflict markers.

    Raises:
        TextError: Naming the line.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TextError("the file is UTF-16, not UTF-8", 1, hint="Save it as UTF-8.", kind=Kind.SYNTAX)
    nul = data.find(b"\0")
    if nul >= 0:
        raise TextError(
            "NUL bytes, as a crash or a wrong encoding leaves them,",
            data.count(b"\n", 0, nul) + 1,
            hint="Restore the file from a copy, or save it as UTF-8.",
            kind=Kind.SYNTAX,
        )
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        raise TextError(
            f"byte 0x{data[error.start]:02x} is not UTF-8 (perhaps Latin-1)",
            data.count(b"\n", 0, error.start) + 1,
            column=len(data[start : error.start].decode()) + 1,
            hint="Save the file as UTF-8.",
            kind=Kind.SYNTAX,
        ) from None
    if any(sign in data and (b"\n" + 7 * sign in data or data.startswith(7 * sign)) for sign in (b"<", b">")):
        match = _CONFLICT.search(data)
        if match:
            line = data.count(b"\n", 0, match.start()) + 1
            hint = "Resolve the merge and remove the marker lines."
            raise TextError("a conflict marker of git", line, hint=hint, kind=Kind.SYNTAX)


# --- A queue whose frame columns do not explain: its entries from a parse of the whole file.


class _Found(Struct):
    """What a parse of the whole file found: the nodes of the items, and the other top-level keys and their values."""

    text: str
    items: list[Node]
    others: list[tuple[Node, Node]]
    start: int = 0


def _find_list(data: bytes) -> _Found:
    """Read the file as one YAML document and locate every item of `messages:`.

    Raises:
        TextError: The file is empty, not YAML, or not one document with one list under `messages:`.
    """
    check_bytes(data)
    try:
        return _found_in(data)
    except TextError:
        again = with_whole_characters(data)
        if again == data:
            raise
        return _found_in(again)


def _found_in(data: bytes) -> _Found:
    composer = Composer(data, limit=DEPTH + 3)
    try:
        composer.next()
        event = composer.next()
        if _name(event) == "StreamEndEvent":
            raise TextError("empty file", 1, hint=_HINT)
        event = composer.next()
        if _name(event) != "MappingStartEvent":
            raise TextError(f"{_EXPECTED} the file holds {_shape_of(event)}", line_of(event), hint=_HINT)
        found, line = _Found(data.decode().removeprefix("\ufeff"), [], []), 0
        while _name(event := composer.next()) != "MappingEndEvent":
            key = composer.node(event)
            if key.kind != "scalar" or key.value != _LIST:
                found.others.append((key, composer.node()))
                continue
            if line:
                raise TextError(f"{_LIST}: twice", line, key.line, hint="Merge the two lists into one.")
            line = key.line
            _fill(composer.node(), found)
        if not line:
            raise TextError(f"{_EXPECTED} there is none", 1, hint=_HINT)
        composer.next()
        if _name(event := composer.next()) != "StreamEndEvent":
            raise TextError(f"{_EXPECTED} a second document begins", line_of(event), hint=_HINT)
        return found
    finally:
        composer.close()


def _fill(node: Node, found: _Found) -> None:
    found.start = node.start
    if node.kind == "sequence":
        found.items = node.value
        return
    is_null = node.kind == "scalar" and node.plain and node.value in ("", "~", "null", "Null", "NULL")
    if not is_null and (node.kind != "mapping" or node.value):
        what = "a mapping" if node.kind == "mapping" else "a single value"
        raise TextError(f"{_EXPECTED} found {what}", node.line, hint=_HINT)


def _name(event: Any) -> str:
    return type(event).__name__


def _shape_of(event: Any) -> str:
    shapes = {"MappingStartEvent": "a mapping", "SequenceStartEvent": "a list without that key"}
    return shapes.get(_name(event), "a single value")


def _read_whole(data: bytes, known: Mapping[bytes, Entry]) -> QueueText:
    """Read all of a file as one YAML document; messages of entries whose bytes are in `known` are reused.

    Raises:
        TextError: It is not a queue, or not YAML.
    """
    found = _find_list(data)
    values, entries, damaged = Values(), [], 0
    # Where the text of each item begins; the last ends with its value. A dash counts to the item before.
    cuts = [*(item.start for item in found.items), *(item.end for item in found.items[-1:])] or [len(found.text)]
    for item, (start, stop) in zip(found.items, pairwise(cuts), strict=True):
        entries.append(_whole_entry(item, found.text[start:stop].encode(), values, known))
        damaged += entries[-1].error is not None
        if damaged > MOST_DAMAGED:
            raise TextError(f"more than {MOST_DAMAGED} items that are not messages", item.line, hint=_HINT)
    head = data[: len(data) - len(data.removeprefix(BOM))] + found.text[: cuts[0]].encode()
    return QueueText(head, entries, found.text[cuts[-1] :].encode(), Style(), odd=True, understood=True)


def _whole_entry(item: Node, raw: bytes, values: Values, known: Mapping[bytes, Entry]) -> Entry:
    """The entry of an item; with the message known from before, if it means the same where it stands now."""
    try:
        record = values.record(item)
        old = known.get(raw)
        if old is not None and isinstance(old.known, Message) and same(old.known.record, record):
            return Entry(raw, old.known)
        return Entry(raw, to_message(record, raw))
    except TextError as error:
        is_placed = error.line >= item.line
        return Entry(raw, error.below(1 - item.line if is_placed else 0))
