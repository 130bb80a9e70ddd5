"""A queue, an archive or a dropped file as text: each entry its exact bytes, edited alone; and the queue as a file."""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml import own_form
from team_console.store.backends.yaml.audit_log import DONE_IN_ORDER, AuditLog, Handle, Line, Record, RecordPatch
from team_console.store.backends.yaml.disk import PRIVATE, Disk, FileVersion, Stat, shared_mode
from team_console.store.backends.yaml.entry import (
    DEPTH,
    Entry,
    Node,
    Style,
    Values,
    compose,
    emit,
    parse_record,
    patch,
    to_message,
)
from team_console.store.backends.yaml.own_form import Kind, TextError
from team_console.store.contract.transaction import Changes
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Fields, Message, digest, from_record, is_ahead, is_copy

BOM = b"\xef\xbb\xbf"
MOST_DAMAGED = 1000
"""Damaged entries that are listed one by one."""
_LIST = "messages"
_EXPECTED = "expected a list under messages:"
_HINT = "A queue is a file with the line 'messages:' and a list below it."
_NOTHING: Mapping[int, Message] = MappingProxyType({})
_SIGN = re.compile(rb"(?:^|[\s,\[{:?-])[&*][0-9A-Za-z_-]")
"""What may be an anchor or an alias: `to: &id001`, `[*id001`; but not `a & b`, `AT&T`, `* item`."""

# A repeated group is repeated greedily, never possessively: up to Python 3.11.4 a possessive repeat of a group may
# match too much or not at all (CPython issues 100061 and 106052).
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
"""A marker that git leaves: `<<<<<<< HEAD`, `>>>>>>>`. A line of `=======` may be a title in a text."""
_BLANKS = rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*"
"""Any number of empty lines and comment lines."""
_LIST_KEY = re.compile(
    rb"(?P<key>(?:\A" + BOM + rb"|^)(?P<quote>[\"']?)messages(?P=quote):)"
    rb"(?:[ \t]+(?:\[[ \t]*\]|\{[ \t]*\}|null|~))?"  # "messages: []": the list is empty
    rb"(?P<rest>[ \t]*(?:(?<=[ \t])#[^\n]*?)?)(?P<eol>\r?\n|\r?\Z)",  # "messages: # the queue"
    re.MULTILINE,
)
_GAP = re.compile(_BLANKS)
_FIRST = re.compile(rb"(?P<indent> {0,40})-(?=[ \t\r\n]|\Z)")
"""The dash of the first entry: `  - message_id: a`, but not `--- ` or `-1`."""
# Before the list nothing but comments, and a line "---"; behind it nothing but comments.
_HEAD = rb"(?:" + BOM + rb")?" + _BLANKS + rb"(?:---[ \t]*\r?\n" + _BLANKS + rb")?"
_PLAIN_HEAD = re.compile(_HEAD).fullmatch
_PLAIN_TAIL = re.compile(_BLANKS + rb"[ \t]*(?:#[^\n]*)?").fullmatch
_EMPTY = re.compile(
    rb"(?P<before>" + _HEAD + rb")(?:\[\s*\]|\{\s*\}|[Nn]ull|NULL|~)[ \t]*"
    rb"(?P<after>(?:(?<=[ \t])#[^\n]*)?(?:\r?\n" + _BLANKS + rb")?)(?:\.\.\.[ \t\r\n]*)?"
).fullmatch
"""What programs write for no messages at all: `[]`, `{}`, `null`."""
_NAME = rb"(?=[^ \t\r\n#])[^\n:]*+(?::(?![ \t\r\n]|\Z)[^\n:]*+)*:"
"""`version:` or `a:b:`: a colon ends a key only before a blank, which has to be asked for behind it as well."""
_KEY_BEHIND = rb"\n(?:(?:---|\.\.\.)(?=[ \t\r\n]|\Z)| {0,%d}(?:" + _NAME + rb"|\?)(?=[ \t\r\n]|\Z))"
"""A line left of the items that begins another key or ends the document: `footer: 1`, `...`."""
_OTHER_LIST = (
    rb"\n(?:(?:---|\.\.\.)(?=[ \t\r\n]|\Z)| {0,%d}(?!-)"
    + _NAME
    + rb"[ \t]*+(?:[&!#][^\n]*+)?\r?\n"
    + _BLANKS
    + rb" *+-[ \t\r\n])"
)
"""A key left of the items with a list of its own, or another document."""
# What the plain frame may not hold: line breaks of YAML 1.1 besides "\n" and "\r\n", and what no YAML may hold.
_ODD = re.compile(
    rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]"
).search


class QueueText(Struct, dict=True, eq=False):
    """Messages as read from one file; immutable. Made by `parse`.

    Attributes:
        head, tail: What stands before the first entry and behind the last.
        entries: All entries, in order.
        style: How the file writes its list.
        odd: Whether columns do not tell where entries are (brackets, an unusual frame, aliases behind the list), so
            that the first change writes the list in our own form.
        blank: Whether the file has no list, nor anything else but comments.
        merged, renamed: What `with_unique_ids` did: ids of which there were copies, (old, new) of other messages.
        whole: The bytes of the file, where they were at hand.
    """

    head: bytes
    entries: Sequence[Entry]
    tail: bytes
    style: Style
    odd: bool = False
    blank: bool = False
    merged: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    whole: bytes | None = None

    @classmethod
    def empty(cls) -> QueueText:
        """Return a queue without messages."""
        return cls.parse(b"messages: []\n")

    @classmethod
    def parse(
        cls, data: bytes, previous: QueueText | None = None, progress: Callable[[int, int], bool] | None = None
    ) -> QueueText:
        """Read a whole file, in one of two ways.

        Where columns tell entries apart, each is read alone, so that a damaged one harms no other. Where they do not,
        or where an entry is not understood alone (a quote that goes on behind what looks like an item, an alias), the
        file is read as one YAML document, if it is one.

        Args:
            previous: The text read before; entries with the same bytes there are the same objects.
            progress: Told entries done and in all; returns False to stop.

        Raises:
            TextError: The file as a whole cannot be understood. A blank file is not an empty queue (see `blank_file`).
            InterruptedError: `progress` said so.
        """
        if previous is not None and previous.data() == data:
            return previous
        known = {entry.raw: entry for entry in previous.entries} if previous is not None else {}
        check_bytes(data)
        cut = _cut(data)
        if cut is None:
            return cls.blank_file(data) if _EMPTY(data) else _read_whole(data, known)
        entries: list[Entry] = []
        whole: QueueText | None = None
        is_tried = False
        for number, raw in enumerate(cut.pieces):
            if progress is not None and number % 256 == 0 and not progress(number, len(cut.pieces)):
                raise InterruptedError("reading was stopped")
            found = known.get(raw)
            entries.append(found if found is not None and not found.tied else Entry.read(raw))
            error = entries[-1].error
            if error is not None and error.kind is not Kind.MEANING and not is_tried:
                whole, is_tried = cut.whole(known), True
            if error is not None and error.kind is Kind.SYNTAX and whole is not None:
                return whole
        if _SIGN.search(cut.tail) and not is_tried:
            whole = cut.whole(known)
        if whole is not None:
            if len(whole.entries) != len(entries) or _SIGN.search(cut.tail):
                return whole
            entries = [
                Entry(raw, _same_object(known.get(raw), entry.outcome), tied=True) if _SIGN.search(raw) else alone
                for raw, entry, alone in zip(cut.pieces, whole.entries, entries, strict=True)
            ]
        return cls(cut.head, entries, cut.tail, cut.style, whole=data)

    @classmethod
    def blank_file(cls, data: bytes) -> QueueText:
        """Return a file that is blank, as a queue without messages; `parse` refuses it, since a harmed file looks so
        too.
        """
        return cls(data, (), b"", Style(), blank=True)

    @staticmethod
    def is_blank(data: bytes) -> bool:
        """Return whether a file is empty or holds nothing but comments."""
        return _PLAIN_HEAD(data + b"\n") is not None and not _ODD(data)

    def data(self) -> bytes:
        """Return the bytes of the file; what was parsed comes out byte for byte."""
        if self.whole is None:
            self.whole = b"".join([self.head, *[entry.raw for entry in self.entries], self.tail])
        return self.whole

    @cached_property
    def _messages(self) -> tuple[Message, ...]:
        return tuple([entry.outcome for entry in self.entries if isinstance(entry.outcome, Message)])

    def messages(self) -> tuple[Message, ...]:
        """Return the messages of all entries that are not damaged, in stored order."""
        return self._messages

    @property
    def has_shared_ids(self) -> bool:
        """Whether the file has an id several times, so that the next change writes what `with_unique_ids` made."""
        return bool(self.merged or self.renamed)

    # guard: copies-count-once
    def with_unique_ids(self) -> QueueText:
        """Return the same with each id once: of copies of a message the one furthest on its way, another message as
        `ID-2`.

        `data()` stays what the file holds; a change writes it so.
        """
        counts = Counter(message.message_id for message in self._messages)
        if len(counts) == len(self._messages):
            return self
        try:
            return self._made_unique(counts)
        except TextError:  # one that is damaged stands in the way: the later ones are as damaged as it is
            seen: set[str] = set()
            entries = [self._first_of_id(entry, seen) for entry in self.entries]
            return QueueText(self.head, entries, self.tail, self.style, odd=self.odd, whole=self.data())

    @staticmethod
    def _first_of_id(entry: Entry, seen: set[str]) -> Entry:
        if entry.message is None or entry.message.message_id not in seen:
            seen.update([entry.message.message_id] if entry.message is not None else ())
            return entry
        text = f"another message has the id {entry.message.message_id}"
        return Entry(entry.raw, TextError(text, 1, hint="Give it an id of its own."))

    def _made_unique(self, counts: Mapping[str, int]) -> QueueText:
        text = self.edit() if self.odd else self
        kept: list[Entry] = []
        places: dict[tuple[str, str], int] = {}
        merged: dict[str, None] = {}
        for entry in text.entries:
            message = entry.message
            if message is not None and counts[message.message_id] > 1:
                place = places.setdefault((message.message_id, digest(message)), len(kept))
                if place < len(kept):
                    merged[message.message_id] = None
                    other = kept[place].message
                    kept[place] = entry if other is not None and is_ahead(message, other) else kept[place]
                    continue
            kept.append(entry)
        unique = QueueText(text.head, kept, text.tail, text.style, whole=self.data())
        unique.merged, unique.renamed = tuple(merged), tuple(unique._rename(kept, set(counts)))
        return unique

    def _rename(self, entries: list[Entry], taken: set[str]) -> Iterator[tuple[str, str]]:
        """Give each later message of an id another one, in place."""
        numbers: dict[str, int] = {}
        for place, entry in enumerate(entries):
            message = entry.message
            if message is None:
                continue
            old = message.message_id
            number = numbers[old] = numbers.get(old, 0) + 1
            if number > 1:
                while (new := f"{old}-{numbers[old]}") in taken:
                    numbers[old] += 1
                taken.add(new)
                key = "message_id" if "message_id" in message.record else "id"
                entries[place] = self._changed(entry, message.with_changes(**{key: new}))
                yield old, new

    @property
    def damaged_count(self) -> int:
        """The number of entries without a message."""
        return len(self.entries) - len(self._messages)

    def damaged(self) -> list[tuple[int, TextError]]:
        """For each damaged entry the 1-based line of the file where it begins, and why (lines of the file).

        Of very many the first; the last of these says how many more there are.
        """
        found: list[tuple[int, TextError]] = []
        line = self.head.count(b"\n") + 1
        for entry in self.entries if self.damaged_count else ():
            if entry.error is not None:
                more = self.damaged_count - len(found)
                if len(found) == MOST_DAMAGED and more > 1:
                    return [*found, (line, TextError(f"{more:,} more damaged entries, the first of them", line))]
                found.append((line, entry.error.below(line - 1)))
            line += entry.raw.count(b"\n")
        return found

    @cached_property
    def _places(self) -> Mapping[str, int]:
        messages = ((place, entry.message) for place, entry in enumerate(self.entries))
        return {message.message_id: place for place, message in messages if message is not None}

    def place(self, message_id: str) -> int | None:
        """Return the index in `entries` of the message with this id."""
        return self._places.get(message_id)

    def message(self, message_id: str) -> Message | None:
        """Return the message with this id."""
        place = self._places.get(message_id)
        return None if place is None else self.entries[place].message

    def entries_with(self, words: Iterable[bytes]) -> list[Message]:
        """Return the messages whose text holds one of `words`, or what may hide one: an escape, a tag, an alias."""
        signs = (*words, b"\\", b" !")
        found = (entry for entry in self.entries if entry.tied or self.odd or any(sign in entry.raw for sign in signs))
        return [entry.outcome for entry in found if isinstance(entry.outcome, Message)]

    def edit(
        self,
        *,
        append: Sequence[Message] = (),
        replace: Mapping[int, Message] = _NOTHING,
        remove: Collection[int] = (),
    ) -> QueueText:
        """Return the text after a change; entries that are not named stay byte for byte. Indices are those of
        `entries`.

        Values that entries take from others by an alias are written out first.

        Raises:
            TextError: A message cannot be written, a damaged entry was to be replaced, or one that leaves a quote open
                would swallow what is written behind it.
            IndexError: There is no such entry.
        """
        for index in (*replace, *remove):
            if not 0 <= index < len(self.entries):
                raise IndexError(f"entry {index}")
            error = self.entries[index].error if index in replace else None
            if error is not None:
                text = f"entry {index + 1} is damaged and is not written over: {error.message}"
                raise TextError(text, hint="Repair it in an editor first.")
        if self.odd:
            return self._in_our_form(append, replace, remove)
        kept = [
            self._changed(entry, replace.get(index)) for index, entry in enumerate(self.entries) if index not in remove
        ]
        if append and kept and not kept[-1].raw.endswith(b"\n"):
            kept[-1] = self._with_line_end(kept[-1])
        kept += [self._new(message) for message in append]
        new = QueueText(self._head(filled=bool(kept)), kept, self.tail, self.style, blank=self.blank and not kept)
        self._refuse_swallowed(new)
        return new

    def _new(self, message: Message) -> Entry:
        return Entry(self.style.of(emit(message)), message)

    def _changed(self, entry: Entry, message: Message | None) -> Entry:
        if entry.tied and entry.message is not None:  # others may take away what an alias stands for
            return self._new(message or entry.message)
        if message is None or entry.message is None:
            return entry
        return Entry(patch(entry.raw, entry.message.record, message.record, self.style), message)

    def _with_line_end(self, entry: Entry) -> Entry:
        """Return the entry with a line end, which must not become part of a text that ended without one."""
        raw, message = entry.raw + self.style.eol, entry.message
        if message is None:
            return Entry.read(raw)
        return Entry(patch(raw, parse_record(raw), message.record, self.style), message)

    @staticmethod
    def _refuse_swallowed(new: QueueText) -> None:
        if any(entry.error is not None and entry.error.kind is Kind.SYNTAX for entry in new.entries):
            again = QueueText.parse(new.data(), QueueText(b"", new.entries, b"", new.style))
            if [entry.error is None for entry in again.entries] != [entry.error is None for entry in new.entries]:
                text = "an entry leaves a quote or bracket open, which would swallow what is written behind it"
                raise TextError(text, hint="Repair the damaged entry in an editor first.")

    def _in_our_form(
        self, append: Sequence[Message], replace: Mapping[int, Message], remove: Collection[int]
    ) -> QueueText:
        """Return the list with dashes, and the other keys of the file behind it.

        Raises:
            TextError: A damaged entry cannot be written with a dash.
        """
        found = _find_list(self.data())
        entries: list[Entry] = []
        for index, (entry, node) in enumerate(zip(self.entries, found.items, strict=True)):
            message = replace.get(index, entry.message)
            if index not in remove:
                entries.append(Entry(emit(message), message) if message is not None else _moved(node, found.text))
        entries += [Entry(emit(message), message) for message in append]
        tail = b""
        for key, value in found.others:
            tail += own_form.pair(str(key.value), Values().value(value, as_text=False), 0).encode() + b"\n"
        above = _GAP.match(self.data().removeprefix(BOM))
        head = (above[0] if above else b"") + (b"messages:\n" if entries else b"messages: []\n")
        return QueueText(head, entries, tail, Style())

    def _head(self, *, filled: bool) -> bytes:
        """Return the head with `messages:` open for items, or as an empty list when there are none."""
        eol = self.style.eol
        if self.blank and filled:
            word = _EMPTY(self.head)
            head = word["before"] + word["after"].lstrip(b"\r\n") if word else self.head
            return head + (eol if head and not head.endswith(b"\n") else b"") + b"messages:" + eol
        if not filled and not self.entries:
            return self.head
        head = _LIST_KEY.sub(
            rb"\g<key>\g<rest>\g<eol>" if filled else rb"\g<key> []\g<rest>\g<eol>", self.head, count=1
        )
        return head + eol if filled and not head.endswith(b"\n") else head


def _moved(node: Node, text: str) -> Entry:
    """Return a damaged item with a dash at column 0."""
    first, *lines = text[node.start : node.end].split("\n")
    lines = [line[node.column :] if not line[: node.column].strip() else line.lstrip() for line in lines]
    entry = Entry.read("\n  ".join([f"- {first}", *lines]).encode() + b"\n")
    if entry.error is None or entry.error.kind is not Kind.MEANING:
        raise TextError("a damaged entry stands in the way", hint="Repair it in an editor first.")
    return entry


# Cutting by columns.


class _Cut(Struct, frozen=True):
    """A file cut into entries."""

    head: bytes
    pieces: list[bytes]
    tail: bytes
    style: Style
    is_doubtful: bool = False
    """Whether items may belong to another list, unless they stand in a quote."""

    def whole(self, known: Mapping[bytes, Entry]) -> QueueText | None:
        """Return the file read as one document; None where it is none, and columns have to do.

        Raises:
            TextError: Columns may not do, because of another list.
        """
        try:
            return _read_whole(b"".join([self.head, *self.pieces, self.tail]), known)
        except TextError:
            if self.is_doubtful:
                raise
            return None


def _cut(data: bytes) -> _Cut | None:
    """Cut a whole file; None when its frame is not the plain one.

    Items below `messages: []` are what a script appended to a new queue: no YAML, and nothing else can be meant.
    """
    found = _LIST_KEY.search(data)
    if found is None:
        return None
    eol = b"\r\n" if found["eol"] == b"\r\n" else b"\n"
    below = _GAP.match(data, found.end())
    begin = below.end() if below else found.end()
    first = _FIRST.match(data, begin)
    if first is None:
        begin = len(data) if _PLAIN_TAIL(data[begin:]) else begin
        cut = _Cut(data[:begin], [], data[begin:], Style(0, eol))
    else:
        indent = len(first["indent"])
        dash = re.compile(rb"\n {%d}-(?=[ \t\r\n]|\Z)" % indent)
        starts = [begin, *(place.start() + 1 for place in dash.finditer(data, begin))]
        # Other lines left of the items can begin nothing new: they belong to the item before, which they may damage.
        behind = re.compile(_KEY_BEHIND % indent).search(data, starts[-1])
        end = behind.start() + 1 if behind else len(data)
        pieces = [data[start:stop] for start, stop in pairwise([*starts, end])]
        other = re.compile(_OTHER_LIST % indent).search(data, begin, starts[-1] + indent + 2)
        cut = _Cut(data[:begin], pieces, data[end:], Style(indent, eol), other is not None)
    if _ODD(cut.head) or not _is_sound(data[: found.start()], cut.tail):
        return None
    return cut


def _is_sound(before: bytes, tail: bytes) -> bool:
    """Return whether what surrounds the list is a mapping of its own that leaves `messages` to us."""
    if _PLAIN_HEAD(before) and _PLAIN_TAIL(tail) and not _ODD(tail):
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
    trouble: tuple[str, int, str] | None = None
    column = None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        trouble = "the file is UTF-16, not UTF-8", 0, "Save it as UTF-8."
    elif (nul := data.find(b"\0")) >= 0:
        hint = "Restore the file from a copy, or save it as UTF-8."
        trouble = "NUL bytes, as a crash or a wrong encoding leaves them,", nul, hint
    elif (b"<" * 7 in data or b">" * 7 in data) and (match := _CONFLICT.search(data)):
        trouble = "a conflict marker of git", match.start(), "Resolve the merge and remove the marker lines."
    else:
        try:
            data.isascii() or data.decode()
        except UnicodeDecodeError as error:
            column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode()) + 1
            what = f"byte 0x{data[error.start]:02x} is not UTF-8 (perhaps Latin-1)"
            trouble = what, error.start, "Save the file as UTF-8."
    if trouble is not None:
        text, place, hint = trouble
        raise TextError(text, data.count(b"\n", 0, place) + 1, column=column, hint=hint, kind=Kind.SYNTAX)


# A file whose frame columns do not explain: its entries from a parse of the whole.


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
    root, text = compose(data, limit=DEPTH + 3)
    if root is None:
        raise TextError("empty file", 1, hint=_HINT)
    if root.kind != "mapping":
        shape = "a list without that key" if root.kind == "sequence" else "a single value"
        raise TextError(f"{_EXPECTED} the file holds {shape}", root.line, hint=_HINT)
    lists = [pair for pair in root.value if pair[0].kind == "scalar" and pair[0].value == _LIST]
    if len(lists) != 1:
        if not lists:
            raise TextError(f"{_EXPECTED} there is none", 1, hint=_HINT)
        raise TextError(f"{_LIST}: twice", *(key.line for key, _ in lists), hint="Merge the two lists into one.")
    node: Node = lists[0][1]
    is_null = node.kind == "scalar" and node.plain and node.value in ("", "~", "null", "Null", "NULL")
    if node.kind != "sequence" and not is_null and (node.kind != "mapping" or node.value):
        what = "a mapping" if node.kind == "mapping" else "a single value"
        raise TextError(f"{_EXPECTED} found {what}", node.line, hint=_HINT)
    items = node.value if node.kind == "sequence" else []
    return _Found(text, items, [pair for pair in root.value if pair is not lists[0]], node.start)


def _read_whole(data: bytes, known: Mapping[bytes, Entry]) -> QueueText:
    """Read all of a file as one YAML document; messages of entries whose bytes are in `known` are reused.

    Raises:
        TextError: It is not a queue, or not YAML.
    """
    found = _find_list(data)
    values = Values()
    # Where the text of each item begins; the last ends with its value. A dash counts to the item before.
    cuts = [*(item.start for item in found.items), *(item.end for item in found.items[-1:])] or [len(found.text)]
    entries = [
        whole_entry(item, found.text[start:stop].encode(), values, known)
        for item, (start, stop) in zip(found.items, pairwise(cuts), strict=True)
    ]
    head = data[: len(data) - len(data.removeprefix(BOM))] + found.text[: cuts[0]].encode()
    return QueueText(head, entries, found.text[cuts[-1] :].encode(), Style(), odd=True, whole=data)


def whole_entry(item: Node, raw: bytes, values: Values, known: Mapping[bytes, Entry]) -> Entry:
    """Return the entry of an item; with the message known from before, if it means the same where it stands now."""
    try:
        return Entry(raw, _same_object(known.get(raw), to_message(values.record(item), raw)))
    except TextError as error:
        return Entry(raw, error.below(1 - item.line if error.line >= item.line else 0))


def _same_object(old: Entry | None, outcome: Message | TextError) -> Message | TextError:
    """Return the message known from before, if it means the same where it stands now."""
    message = old.message if old is not None else None
    return message if message is not None and isinstance(outcome, Message) and message == outcome else outcome


# What a line of the ledger does to the queue: made from a transaction's changes, done to the text, done again.


def line_of(changes: Changes, *, actor: str) -> Line:
    """Return the line that a finished transaction asks for."""
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


def changed_keys(old: Fields, new: Fields) -> Record:
    """Return the changes that turn the record `old` into `new`; None for a key that is gone."""
    keys: Record = {key: value for key, value in new.items() if key not in old or old[key] != value}
    return keys | {key: None for key in old if key not in new}


def apply(text: QueueText, line: Line) -> QueueText:
    """Return the queue after `line`. Doing it a second time changes nothing. Raises `TextError` for unwritable text."""
    append: dict[str, Message] = {}
    changed: dict[int, Message] = {}
    for message in map(from_record, line.writes):
        here = text.message(message.message_id)
        if here is None or not is_copy(here, message):
            append[message.message_id] = message
    for change in line.changes:
        message_id, place = change.handle[0], place_of(text, change.handle)
        current = append.get(message_id) if place is None else changed.get(place, text.entries[place].message)
        if place is not None and current is not None:
            changed[place] = change.on(current)
        elif current is not None:
            append[message_id] = change.on(current)
        elif change.new is not None:  # a record somebody took away comes back changed
            append[message_id] = change.new
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
    """Return the index of the meant record in `text`; older lines name the content where several shared an id."""
    message_id, letter = handle
    message = text.message(message_id)
    return text.place(message_id) if message is not None and letter in ("", digest(message)) else None


def piece_name(raw: bytes) -> str:
    """Return the identity of a damaged piece of a queue."""
    return hashlib.sha256(raw).hexdigest()


def archive_entry(text: QueueText, message_id: str, record: Record | None) -> tuple[Message, bytes] | None:
    """Return the message to archive: the record itself, else the one live in `text` with its text there."""
    if record is not None:
        return from_record(record), b""
    place = text.place(message_id)
    entry = text.entries[place] if place is not None else None
    return (entry.message, entry.raw) if entry is not None and entry.message is not None else None


# One generation of the queue, read with patience for a writer that is in the middle of rewriting it in place.

Progress = Callable[[int, int], bool]
PATIENCE = 0.25
"""Seconds a file that looks half written is read again before it counts as damaged (cases 15, 30)."""
_PAUSE = 0.01
_LEDGER = "audit.jsonl"


class QueueFile(Struct, frozen=True):
    """The queue as it was at one moment.

    Attributes:
        text: Its entries; an empty queue when there is no file.
        stat: What the file was, None when there is none.
    """

    text: QueueText
    stat: Stat | None

    @property
    def mark(self) -> FileVersion | None:
        """The version of the file, to tell it from others."""
        return self.stat.mark if self.stat else None

    @property
    def mode(self) -> int:
        """Permission bits for the next generation."""
        return self.stat.mode if self.stat else PRIVATE

    @property
    def mode_beside(self) -> int:
        """Permission bits of new files other than the queue."""
        return shared_mode(self.stat)


def load(disk: Disk, path: Path, known: QueueFile | None, *, progress: Progress | None = None) -> QueueFile:
    """Return the present generation; `known` itself when that is still the present one.

    Args:
        progress: As in `QueueText.parse`.

    Raises:
        TeamError: `STORE_UNREADABLE` with line and column; nothing may be written then.
    """
    # guard: half-file-waited-out
    deadline = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                return _load_once(disk, path, known, progress)
            except TextError as error:
                if time.monotonic() >= deadline:
                    return _blank(disk, path, error)
            time.sleep(_PAUSE)
    except OSError as error:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{path} cannot be read: {error.strerror or error}",
            "Check what is at that path and its permissions.",
            path=str(path),
        ) from error


def _blank(disk: Disk, path: Path, error: TextError) -> QueueFile:
    """Return an empty or comment-only file as an empty queue, unless there was more in it.

    The ledger and `.prev` know what was; only a line that was itself built upon this very file proves nothing.

    Raises:
        TeamError: There is more in it, or was; with what there is to go back to.
    """
    data, found = disk.read(path)
    ledger = disk.stat(path.with_name(_LEDGER))
    is_recorded = ledger is not None and ledger.size > 0
    has_previous = disk.stat(path.with_name(f"{path.name}.prev")) is not None
    if QueueText.is_blank(data) and not has_previous:
        line = AuditLog(disk, path.with_name(_LEDGER)).tip().line
        if not is_recorded or (line is not None and line.base == found.mark):
            return QueueFile(QueueText.blank_file(data), found)
    aside, back = f"mv {path.name} {path.name}.bad", ""
    if has_previous:
        command = f"{aside} && cp {path.name}.prev {path.name}"
        back = f" The generation before is in {path.name}.prev; to go back to it: {command}"
    elif is_recorded:
        back = f" The ledger {_LEDGER} has its messages; for the next write to put them back: {aside}"
    raise TeamError(
        Code.STORE_UNREADABLE,
        f"{path}: {error.message}",
        f"{error.hint}{back}",
        path=str(path),
        line=error.line,
        column=error.column,
    ) from None


def _load_once(disk: Disk, path: Path, known: QueueFile | None, progress: Progress | None) -> QueueFile:
    found = disk.stat(path)
    if found is None:
        return known if known is not None and known.stat is None else QueueFile(QueueText.empty(), None)
    if known is not None and known.mark == found.mark:
        return known if known.stat == found else QueueFile(known.text, found)
    data, found = disk.read(path)
    before = known.text if known is not None and known.stat is not None else None  # an empty one to begin with
    return QueueFile(QueueText.parse(data, before, progress).with_unique_ids(), found)
