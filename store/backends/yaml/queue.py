"""The queue: read and edit it as text, where each entry keeps its exact bytes, and load it from its file.

An archive and a dropped file are read by the same text.
"""

from __future__ import annotations

import re
import time
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from shlex import quote
from types import MappingProxyType

from msgspec import Struct
from team_console.store.backends.yaml import entry_format
from team_console.store.backends.yaml.audit_trail import AuditTrail
from team_console.store.backends.yaml.disk import PRIVATE, Disk, FileVersion, Stat, shared_mode
from team_console.store.backends.yaml.entry import (
    Entry,
    EntryText,
    Style,
    ValueBuilder,
    behind_object,
    parse_record,
    patch_entry,
    write_entry,
    write_object,
)
from team_console.store.backends.yaml.entry_format import Reach, TextError, is_same_value
from team_console.store.backends.yaml.lock import ReleaseMark, not_readable
from team_console.store.backends.yaml.nodes import Node
from team_console.store.contract.team import Progress
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, digest, ids_of, is_ahead

MOST_DAMAGED = 1000
"""Damaged entries that are listed one by one."""
_NOTHING: Mapping[int, Message] = MappingProxyType({})
# A repeated group is repeated greedily, never possessively: up to Python 3.11.4 a possessive repeat of a group may
# match too much or not at all (CPython issues 100061 and 106052).
_COMMENT = rb"#(?:[^\n\r\xc2\xe2]|\r(?=\n)|\xc2(?!\x85)|\xe2(?!\x80[\xa8\xa9]))*"
"""A comment up to its end for YAML, which knows more line breaks than a newline: behind one stands what counts."""
_BLANKS = rb"(?:[ \t]*+(?:" + _COMMENT + rb")?\r?\n)*"
"""Any number of empty lines and comment lines."""
_BREAK = re.compile(rb"\r\n?|\n|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""A line break of YAML 1.1."""
_LIST_KEY = re.compile(
    rb"(?P<key>(?:\A" + BOM_UTF8 + rb"|^)(?P<quote>[\"']?)messages(?P=quote):)"
    rb"(?:[ \t]+(?:\[[ \t]*\]|\{[ \t]*\}|null|~))?"  # "messages: []": the list is empty
    rb"(?P<rest>[ \t]*(?:(?<=[ \t])#[^\n]*?)?)(?P<eol>\r?\n|\r?\Z)",  # "messages: # the queue"
    re.MULTILINE,
)
"""The line of the key below which the list stands."""
# Before the list nothing but comments, and a line "---"; behind it nothing but comments.
_HEAD = rb"(?:" + BOM_UTF8 + rb")?" + _BLANKS + rb"(?:---[ \t]*\r?\n" + _BLANKS + rb")?"
_PLAIN_TAIL = _BLANKS + rb"[ \t]*(?:" + _COMMENT + rb")?"
_EMPTY = (
    rb"(?P<before>" + _HEAD + rb")(?:\[\s*\]|\{\s*\}|[Nn]ull|NULL|~)[ \t]*"
    rb"(?P<after>(?:(?<=[ \t])" + _COMMENT + rb")?(?:\r?\n" + _BLANKS + rb")?)(?:\.\.\.[ \t\r\n]*)?"
)
"""What programs write for no messages at all: `[]`, `{}`, `null`."""
# Control characters, which make a file of comments one that was harmed.
_ODD = rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_ONLY_FRAME = rb"(?:%s)?(?:[\s\[\]{},]|[\"']?messages[\"']?\s*:|---|\.\.\.|%s)*" % (BOM_UTF8, _COMMENT)
"""Brackets and keys that only held the entries, which is what our own form has its own for."""


_PLAIN = re.compile(r"[A-Za-z0-9@._:-]+").fullmatch
_MAY_BE_NUMBER = re.compile(r"[-+.:0-9eTZ]+").fullmatch
"""What a number or a time may come to, however YAML has it: 0x1F, 1_000 and 1:30 are written without these digits."""
_HIDING = (b"\\", b" !")
"""What stands in every entry that holds a word in another spelling: an escape, a tag."""
_MOST_SEARCHES = 8
"""After so many searches for an id all entries are read: a search for each of many takes the square of the time."""


def is_plain(text: str) -> bool:
    """Return whether a text is written in YAML as it is, so that a search over bytes finds it."""
    return _PLAIN(text) is not None


def is_spelled_one_way(word: str) -> bool:
    """Return whether a search over bytes finds every place that holds `word`: a number, a time have many spellings."""
    return is_plain(word) and _MAY_BE_NUMBER(word) is None


def _damage_in(entries: Iterable[Entry]) -> list[bool]:
    """Return of each message and damaged entry, in order, which it is; marks between them may be read as one."""
    return [entry.is_damaged for entry in entries if not entry.is_frame]


class QueueText(EntryText, dict=True, eq=False):
    """Messages as read from one file; immutable. Made by `parse`.

    Attributes:
        blank: Whether the file has no list, nor anything else but comments.
        is_sound: Whether its entries are known to be messages, each with an id of its own, though perhaps not read yet.
        merged, renamed: What `with_unique_ids` did: ids of which there were copies, (old, new) of other messages.
        whole: The bytes of the file, where they were at hand.
        searches: How often an id was searched for in a sound text.
    """

    blank: bool = False
    is_sound: bool = False
    merged: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    whole: bytes | None = None
    searches: int = 0

    @classmethod
    def empty(cls) -> QueueText:
        """Return a queue without messages."""
        return cls(b"messages: []\n", (), b"", Style())

    @classmethod
    def parse(
        cls,
        data: bytes,
        previous: QueueText | None = None,
        progress: Progress | None = None,
        *,
        every_list: bool = False,
    ) -> QueueText:
        """Read a whole file (`reading.read_entries`).

        Args:
            previous: The text read before; entries with the same bytes there are the same objects.
            progress: Told entries done and in all; returns False to stop.
            every_list: Whether lists under any key are meant, and a record without a list, as in an archive.

        Raises:
            TextError: The file as a whole cannot be understood. A blank file is not an empty queue (see `blank_file`).
            InterruptedError: `progress` said so.
        """
        if previous is not None and previous.data() == data:
            return previous
        known = {entry.raw: entry for entry in previous.entries} if previous is not None else {}
        if re.fullmatch(_EMPTY, data):
            return cls.blank_file(data)
        # 8 ms, with the patterns of all that others write: a queue that we left is not read.
        from team_console.store.backends.yaml.reading import read_changes, read_entries

        read = None if previous is None or every_list else read_changes(previous, data, known)
        read = read or read_entries(data, known, progress, every_list=every_list)
        return cls(read.head, read.entries, read.tail, read.style, needs_rewrite=read.needs_rewrite, whole=data)

    @classmethod
    def blank_file(cls, data: bytes) -> QueueText:
        """Return a file that is blank, as a queue without messages; `parse` refuses it, since a harmed file looks so
        too.
        """
        return cls(data, (), b"", Style(), blank=True)

    @classmethod
    def lazy(cls, data: bytes) -> QueueText:
        """Take a text that has a `list_digest`: all of it was understood, so an entry is read when it is needed."""
        starts = [found.start() + 1 for found in re.finditer(rb"\n- ", data)]
        entries = [Entry(data[start:end]) for start, end in pairwise([*starts, len(data)])]
        return cls(data[: starts[0]], entries, b"", Style(), is_sound=True, whole=data)

    @cached_property
    def list_digest(self) -> int | None:
        """CRC of a text in which a line that begins with "- " is where an entry begins, and each entry is a message
        with an id of its own; None for any other text.
        """
        data, entries = self.data(), self.entries
        if not entries or self.needs_rewrite or self.tail or self.style != Style() or not data.endswith(b"\n"):
            return None
        if data.count(b"\n- ") != len(entries) or not all(entry.raw.startswith(b"- ") for entry in entries):
            return None
        if not self.is_sound:
            is_read = all(entry.is_alone for entry in entries) and len(set(ids_of(self._messages))) == len(entries)
            if not is_read:
                return None
        return zlib.crc32(data)

    @staticmethod
    def is_blank(data: bytes) -> bool:
        """Return whether a file is empty or holds nothing but comments."""
        return re.fullmatch(_HEAD, data + b"\n") is not None and not re.search(_ODD, data)

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
            return QueueText(
                self.head, entries, self.tail, self.style, needs_rewrite=self.needs_rewrite, whole=self.data()
            )

    @staticmethod
    def _first_of_id(entry: Entry, seen: set[str]) -> Entry:
        """Return an entry, as damaged where a message before it has its id."""
        if entry.message is None or entry.message.message_id not in seen:
            seen.update([entry.message.message_id] if entry.message is not None else ())
            return entry
        text = f"another message has the id {entry.message.message_id}"
        return Entry(entry.raw, TextError(text, 1, hint="Give it an id of its own."))

    def _made_unique(self, counts: Mapping[str, int]) -> QueueText:
        """Return the text with each id once, where some are there several times."""
        text = self.edit() if self.needs_rewrite else self
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
                entries[place] = self._changed_entry(entry, message.with_changes(**{key: new}))
                yield old, new

    @cached_property
    def damaged_count(self) -> int:
        """The number of entries without a message."""
        if self.is_sound or len(self.entries) == len(self._messages):
            return 0
        return sum(entry.is_damaged for entry in self.entries)

    def between_entries(self) -> list[tuple[int, TextError]]:
        """Return for each piece between entries that is none, and hides none, its line in the file and what it is."""
        return list(self._errors_of(lambda entry: entry.is_frame))

    def damaged(self) -> list[tuple[int, TextError]]:
        """For each damaged entry the 1-based line of the file where it begins, and why (lines of the file).

        Of very many the first; the last of these says how many more there are.
        """
        if not self.damaged_count:
            return []
        found: list[tuple[int, TextError]] = []
        for line, error in self._errors_of(lambda entry: entry.is_damaged):
            more = self.damaged_count - len(found)
            if len(found) == MOST_DAMAGED and more > 1:
                return [*found, (line, TextError(f"{more:,} more damaged entries, the first of them", line))]
            found.append((line, error))
        return found

    def _errors_of(self, is_meant: Callable[[Entry], bool]) -> Iterator[tuple[int, TextError]]:
        """Yield line and error of each entry that is meant, in lines of the file."""
        line = self.head.count(b"\n") + 1
        for entry in self.entries:
            if entry.error is not None and is_meant(entry):
                yield line, entry.error.below(line - 1)
            line += entry.raw.count(b"\n")

    @cached_property
    def _places(self) -> Mapping[str, int]:
        messages = ((place, entry.message) for place, entry in enumerate(self.entries))
        return {message.message_id: place for place, message in messages if message is not None}

    def place(self, message_id: str) -> int | None:
        """Return the index in `entries` of the message with this id."""
        if not self.is_sound or self.searches == _MOST_SEARCHES or not is_spelled_one_way(message_id):
            return self._places.get(message_id)
        self.searches += 1
        for place in self._places_with([message_id.encode()]):
            message = self.entries[place].message
            if message is not None and message.message_id == message_id:
                return place
        return None

    def message(self, message_id: str) -> Message | None:
        """Return the message with this id."""
        place = self.place(message_id)
        return None if place is None else self.entries[place].message

    def entries_with(self, words: Iterable[bytes]) -> list[Message]:
        """Return the messages whose text holds one of `words`, or what may hide one: an escape, a tag, an alias."""
        found = (self.entries[place].outcome for place in self._places_with(words))
        return [message for message in found if isinstance(message, Message)]

    def _places_with(self, words: Iterable[bytes]) -> Sequence[int]:
        """Return the index of each entry that holds one of the words, or may hold it in another spelling."""
        data, hiding = self.data(), self._places_hiding_words
        sought = [word for word in words if word in data]
        if not sought:
            return hiding
        found = (place for place, entry in enumerate(self.entries) if any(word in entry.raw for word in sought))
        return sorted({*hiding, *found})

    @cached_property
    def _places_hiding_words(self) -> Sequence[int]:
        """The index of each entry that may hold a word in another spelling."""
        if self.needs_rewrite:
            return range(len(self.entries))
        signs = [sign for sign in _HIDING if sign in self.data()]
        if self.is_sound and not signs:  # no entry of a sound text has an alias
            return ()
        return [
            place
            for place, entry in enumerate(self.entries)
            if entry.has_aliases or (signs and any(sign in entry.raw for sign in signs))
        ]

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
        if self.needs_rewrite:
            return self._in_our_form(append, replace, remove)
        kept = [
            self._changed_entry(entry, replace.get(index))
            for index, entry in enumerate(self.entries)
            if index not in remove
        ]
        if append and kept and not kept[-1].raw.endswith(b"\n"):
            kept[-1] = self._with_line_end(kept[-1])
        kept += [self._new_entry(message) for message in append]
        head = self._head(filled=bool(kept))
        is_sound = self.list_digest is not None and self._keeps_ids(append, replace)
        new = QueueText(head, kept, self.tail, self.style, blank=self.blank and not kept, is_sound=is_sound)
        if append and self.tail and not new._reads_as_written():
            tail = self.tail if self.tail.endswith(b"\n") else self.tail + self.style.eol
            before, behind = kept[: -len(append)], kept[-len(append) :]
            new = QueueText(head, [*before, Entry.not_an_entry(tail, is_prose=False), *behind], b"", self.style)
        self._refuse_swallowed(new)
        return new

    def _keeps_ids(self, append: Sequence[Message], replace: Mapping[int, Message]) -> bool:
        """Return whether each message has an id of its own after a change, as before it."""
        added = ids_of(append)
        is_new = len(set(added)) == len(append) and all(self.place(message_id) is None for message_id in added)
        return is_new and all(self.place(message.message_id) == index for index, message in replace.items())

    def _new_entry(self, message: Message) -> Entry:
        """Return an entry of the message, written as the file writes its own."""
        return Entry(self.style.write(message), message)

    def _changed_entry(self, entry: Entry, message: Message | None) -> Entry:
        """Return an entry with another message in it, changed line by line where that can be done."""
        if entry.has_aliases and entry.message is not None:  # others may take away what an alias stands for
            return self._new_entry(message or entry.message)
        if message is None or entry.message is None:
            return entry
        if entry.is_object and not is_same_value(message.record, entry.message.record):
            return Entry(write_object(message) + behind_object(entry.raw), message)
        return Entry(patch_entry(entry.raw, entry.message.record, message.record, self.style), message)

    def _with_line_end(self, entry: Entry) -> Entry:
        """Return the entry with a line end, which must not become part of a text that ended without one."""
        raw, message = entry.raw + self.style.eol, entry.message
        if message is None or entry.is_object:
            return Entry(raw, entry.outcome)
        return Entry(patch_entry(raw, parse_record(raw), message.record, self.style), message)

    @staticmethod
    def _refuse_swallowed(new: QueueText) -> None:
        """Refuse a text in which what was written reads as part of something else."""
        if not new._reads_as_written():
            text = "an entry leaves a quote or bracket open, which would swallow what is written behind it"
            raise TextError(text, hint="Repair the damaged entry in an editor first.")

    def _reads_as_written(self) -> bool:
        """Return whether a reader finds the same entries in the text; what is damaged could swallow others."""
        if self.is_sound:
            return True
        is_calm = re.fullmatch(_PLAIN_TAIL, self.tail) is not None
        if is_calm and not any(
            entry.error is not None and entry.error.reach is not Reach.MEANING for entry in self.entries
        ):
            return True
        again = QueueText.parse(self.data(), QueueText(b"", self.entries, b"", self.style))
        return _damage_in(again.entries) == _damage_in(self.entries)

    def _in_our_form(
        self, append: Sequence[Message], replace: Mapping[int, Message], remove: Collection[int]
    ) -> QueueText:
        """Return the list with dashes, and the other keys of the file behind it; what is damaged as it is.

        Raises:
            TextError: A damaged entry cannot be written with a dash.
        """
        from team_console.store.backends.yaml.reading import find_list  # as for `parse`

        try:
            found = find_list(self.data())
        except TextError:
            found = None
        is_document = found is not None and len(found.items) == len(self.entries)
        entries: list[Entry] = []
        tail = b""
        for index, entry in enumerate(self.entries):
            message = replace.get(index, entry.message)
            if index in remove:
                continue
            if message is not None:
                entries.append(Entry(write_entry(message), message))
            elif found is not None and is_document:
                entries.append(_item_with_dash(found.items[index], found.text))
            elif entry.is_damaged:
                entries.append(Entry(entry.raw.strip() + b"\n", entry.outcome))
            elif not re.fullmatch(_ONLY_FRAME, entry.raw):
                tail += _comment_lines(entry.raw)
        entries += [Entry(write_entry(message), message) for message in append]
        if found is not None:
            for key, value in found.others:
                pair = entry_format.write_pair(str(key.value), ValueBuilder().value(value, as_text=False), 0)
                tail += pair.encode() + b"\n"
        elif not re.fullmatch(_ONLY_FRAME, self.tail):
            tail += _comment_lines(self.tail)
        above = re.match(_BLANKS, self.data().removeprefix(BOM_UTF8))
        head = (above[0] if above else b"") + (b"messages:\n" if entries else b"messages: []\n")
        new = QueueText(head, entries, tail, Style())
        if found is None:
            self._refuse_swallowed(new)
        return new

    def _head(self, *, filled: bool) -> bytes:
        """Return the head with `messages:` open for items, or as an empty list when there are none."""
        eol = self.style.eol
        if self.blank and filled:  # only comments, or a word for nothing: `[]`, `null`
            word = re.fullmatch(_EMPTY, self.head)
            head = word["before"] + word["after"].lstrip(b"\r\n") if word else self.head
            return head + (eol if head and not head.endswith(b"\n") else b"") + b"messages:" + eol
        if not filled and not self.entries:
            return self.head
        if not filled and _LIST_KEY.search(self.head) is None:  # a list without a key
            return self.head + b"[]" + eol
        head = _LIST_KEY.sub(
            rb"\g<key>\g<rest>\g<eol>" if filled else rb"\g<key> []\g<rest>\g<eol>", self.head, count=1
        )
        return head + eol if filled and not head.endswith(b"\n") else head


def _comment_lines(raw: bytes) -> bytes:
    """Return what stood around entries in brackets as lines of a comment."""
    return b"".join(b"# %s\n" % line for line in _BREAK.split(raw.strip()))


def _item_with_dash(node: Node, text: str) -> Entry:
    """Return a damaged item with a dash at column 0."""
    first, *lines = text[node.start : node.end].split("\n")
    lines = [line[node.column :] if not line[: node.column].strip() else line.lstrip() for line in lines]
    entry = Entry("\n  ".join([f"- {first}", *lines]).encode() + b"\n")
    if entry.error is None or entry.error.reach is not Reach.MEANING:
        raise TextError("a damaged entry stands in the way", hint="Repair it in an editor first.")
    return entry


# The queue as a file: one generation of it, read with patience for a writer that rewrites it in place.

PATIENCE = 0.25
"""Seconds a file that looks half written is read again before it counts as damaged (cases 15, 30)."""
_PAUSE = 0.01


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


def load_queue(
    disk: Disk,
    path: Path,
    known: QueueFile | None,
    *,
    progress: Progress | None = None,
    released: ReleaseMark | None = None,
) -> QueueFile:
    """Return the present generation, with the text of `known` where that is still the present one.

    Args:
        progress: As in `QueueText.parse`.
        released: How the last holder of the lock left it.

    Raises:
        TeamError: `STORE_UNREADABLE` with line and column; nothing may be written then.
    """
    # guard: half-file-waited-out
    deadline = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                return _load_once(disk, path, known, progress, released)
            except TextError as error:
                if time.monotonic() >= deadline:
                    return _blank_queue(disk, path, error)
            time.sleep(_PAUSE)
    except OSError as error:
        raise not_readable(path, error) from error


def _blank_queue(disk: Disk, path: Path, error: TextError) -> QueueFile:
    """Return an empty or comment-only file as an empty queue, unless there was more in it.

    The trail and `.prev` know what was; only a line that was itself built upon this very file proves nothing.

    Raises:
        TeamError: There is more in it, or was; with what there is to go back to.
    """
    data, found = disk.read(path)
    trail_path = path.with_name("audit.jsonl")
    trail = disk.stat(trail_path)
    is_recorded = trail is not None and trail.size > 0
    has_previous = disk.stat(path.with_name(f"{path.name}.prev")) is not None
    if QueueText.is_blank(data) and not has_previous:
        line = AuditTrail(disk, trail_path).tip().line
        if not is_recorded or (line is not None and line.base == found.mark):
            return QueueFile(QueueText.blank_file(data), found)
    aside, back = f"mv {quote(str(path))} {quote(f'{path}.bad')}", ""
    if has_previous:
        command = f"{aside} && cp {quote(f'{path}.prev')} {quote(str(path))}"
        back = f" The generation before is in {path.name}.prev; to go back to it: {command}"
    elif is_recorded:
        back = f" The audit trail {trail_path.name} has its messages; for the next write to put them back: {aside}"
    error_hint = f"{error.hint} Nothing is written to it before."
    if back:
        error_hint += " What other programs wrote since our last write is nowhere else: keep the file."
    raise TeamError(
        Code.STORE_UNREADABLE,
        f"{path}: {error.message}",
        f"{error_hint}{back}",
        path=str(path),
        line=error.line,
        column=error.column,
    ) from None


def _load_once(
    disk: Disk, path: Path, known: QueueFile | None, progress: Progress | None, released: ReleaseMark | None
) -> QueueFile:
    """Return the present generation, read without patience."""
    found = disk.stat(path)
    if found is None:
        return QueueFile(QueueText.empty(), None)
    if known is not None and known.mark == found.mark:
        return QueueFile(known.text, found)
    data, found = disk.read(path)
    before = known.text if known is not None and known.stat is not None else None  # an empty one to begin with
    # The CRC, too: another program may write as many bytes within one tick of the clock.
    # guard: only-our-own-text-unread
    if before is None and released is not None and released.queue == found.mark and released.listed == zlib.crc32(data):
        return QueueFile(QueueText.lazy(data), found)
    return QueueFile(QueueText.parse(data, before, progress).with_unique_ids(), found)
