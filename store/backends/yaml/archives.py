"""Archives of a team, one for each agent and only appended to: find messages in them, page through them, add to them,
and shorten them.
"""

from __future__ import annotations

import errno
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct
from team_console.store.backends.yaml import entry_format
from team_console.store.backends.yaml.disk import LARGEST_FILE, Disk, FileVersion, rename_durably, write_new
from team_console.store.backends.yaml.entry import Entry, write_entry
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.layout import Layout, archive_part, archive_word, refuse_way_out
from team_console.store.backends.yaml.lock import not_readable
from team_console.store.backends.yaml.queue import QueueText, is_plain
from team_console.store.contract.team import Page
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, digest, is_copy
from team_console.store.model.names import file_word
from team_console.store.protocol.placed_message import when_created

HEADER = b"messages:\n"
_END = re.compile(rb"^# end (?P<id>\S+) (?P<crc>\d+)$", re.MULTILINE)
"""The line that closes an entry: `# end MSG-20260224-7k2m9qxa 3632233996`."""
_LINES_ABOVE_LIST = re.compile(rb"(?:[ \t]*(?:#[^\n]*|---|[\"']?[\w.-]+[\"']?:(?:[ \t][^\n]*)?)?(?:\r?\n|\Z))*")
"""Lines that may stand above a list: `version: 1`, `archived_messages:`."""


def closed_entry(message: Message, shown: bytes = b"") -> bytes:
    """Return an archive entry of `message` with its closing line; `shown` is its text in the queue, where it stands
    there.

    A text of our own form is taken as it is: it reads as this message in any place.

    Raises:
        TextError: It cannot be written.
    """
    is_ours = b"\n#" not in shown and entry_format.read_item(shown) is not None
    entry = shown if is_ours else write_entry(message)
    return entry + b"# end %s %d\n" % (_id_word(message.message_id).encode(), zlib.crc32(entry))


def _id_word(message_id: str) -> str:
    """Return the id as one word of ASCII, other characters percent-encoded."""
    if is_plain(message_id):
        return message_id

    return quote(message_id, safe="@:", errors="backslashreplace")


class ClosingLine(Struct, frozen=True):
    """A line that closes an entry.

    Attributes:
        word: The id that it names, as one word.
        start, end: Where the entry stands.
        behind: Where the next one may begin.
        crc: The checksum that the entry must have.
    """

    word: bytes
    start: int
    end: int
    behind: int
    crc: int

    # guard: archive-checksum
    def holds(self, data: bytes) -> bool:
        """Return whether the entry in `data` has the checksum."""
        return data.startswith(b"- ", self.start) and zlib.crc32(data[self.start : self.end]) == self.crc


def closing_lines(data: bytes) -> Iterator[ClosingLine]:
    """Yield all closing lines."""
    for found in _END.finditer(data):
        start = data.rfind(b"\n- ", 0, found.start()) + 1
        yield ClosingLine(found["id"], start, found.start(), min(found.end() + 1, len(data)), int(found["crc"]))


def closed_entries(data: bytes) -> Iterator[ClosingLine]:
    """Yield the entries that are closed with the right checksum."""
    return (closing for closing in closing_lines(data) if closing.holds(data))


class ArchivePart(Struct, dict=True):
    """One archive file as read."""

    data: bytes

    @cached_property
    def _records(self) -> list[Record]:
        return read_records(self.data)

    @cached_property
    def _by_id(self) -> dict[str, list[Message]]:
        found: dict[str, list[Message]] = {}
        for record in self._records:
            if isinstance(record.outcome, Message):
                found.setdefault(record.outcome.message_id, []).append(record.outcome)
        return found

    @cached_property
    def _closings(self) -> dict[bytes, list[ClosingLine]]:
        found: dict[bytes, list[ClosingLine]] = {}
        for closing in closing_lines(self.data):
            found.setdefault(closing.word, []).append(closing)
        return found

    def copies(self, message_id: str) -> Iterator[Message]:
        """Yield the copies of this id that are whole: closed with the right checksum, or readable without one.

        Closed ones first: to find others reads the whole file, while everybody waits for the lock.
        """
        for closing in self._closings.get(_id_word(message_id).encode(), ()):
            entry = Entry(self.data[closing.start : closing.end]) if closing.holds(self.data) else None
            if entry is not None and entry.message is not None:
                yield entry.message
        if message_id.encode("utf-8", "replace") in self.data or not is_plain(message_id):
            yield from self._by_id.get(message_id, ())

    def messages_with(self, word: str) -> list[Message]:
        """Return the messages with `word` in their text, or all when it may be written in other ways."""
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
    outcome: Message | TextError


def read_records(data: bytes) -> list[Record]:
    """Read all records of an archive, in stored order, whatever forms they stand in; a bad one harms no other."""
    found = list(_records_between(data, 0, len(data)))
    # Where something cannot be read, each entry of ours is found by its closing line, and only what is between is lost.
    if not any(isinstance(record.outcome, TextError) for record in found) or not _END.search(data):
        return found
    return list(_closed_and_others(data))


def _records_between(data: bytes, start: int, end: int) -> Iterator[Record]:
    """Yield what stands in a stretch."""
    try:
        text = QueueText.parse(data[start:end] if end - start < len(data) else data, every_list=True)
    except TextError as error:
        if not QueueText.is_blank(data[start:end]) and not _LINES_ABOVE_LIST.fullmatch(data, start, end):
            yield Record(start, end, error.below(0))
        return
    place = start + len(text.head)
    for entry in text.entries:
        stop = place + len(entry.raw)
        if not entry.is_frame:
            yield Record(place, stop, entry.outcome)
        place = stop


def _closed_and_others(data: bytes) -> Iterator[Record]:
    """Yield our closed entries, each by itself, and what stands between them."""
    place = 0
    for entry in closed_entries(data):
        yield from _records_between(data, place, entry.start)
        place = entry.behind
        yield Record(entry.start, place, Entry(data[entry.start : entry.end]).outcome)
    yield from _records_between(data, place, len(data))


def closed_ids(data: bytes) -> list[str]:
    """Return the ids of the entries in `data` that have their closing line."""
    return [unquote(closing.word.decode("ascii", "replace")) for closing in closing_lines(data)]


def damaged_records(data: bytes) -> list[tuple[int, str]]:
    """Return offset and id of each closed entry whose checksum does not hold."""
    wrong = [closing for closing in closing_lines(data) if not closing.holds(data)]
    return [(closing.end, closing.word.decode("ascii", "replace")) for closing in wrong]


def outside_closed_entries(data: bytes) -> bytes:
    """Return the part of `data` that is in no closed entry."""
    place, left = 0, b""
    for entry in closed_entries(data):
        left += data[place : entry.start]
        place = entry.behind
    return left + data[place:]


def closed_length(data: bytes) -> int:
    """Return the bytes up to the end of the last entry that is closed with the right checksum; 0 for none."""
    return max((entry.behind for entry in closed_entries(data)), default=0)


def can_be_extended(data: bytes) -> bool:
    """Return whether the file parses without damage and its list is in the block form that we append to."""
    try:
        text = QueueText.parse(data)
    except TextError:
        return False
    flush = all(entry.message is not None and entry.raw.startswith(b"- ") for entry in text.entries)
    return bool(text.entries) and flush and not text.needs_rewrite and not text.tail.strip()


ROTATE_BYTES = 10 * 1024 * 1024
"""An archive longer than this is renamed to its next part before it is appended to."""
_TAIL = 1 << 16
_WORDS = re.compile(rb"[A-Za-z0-9@._-][A-Za-z0-9@._:-]*")
"""Plain ids as they stand in YAML; a colon before one belongs to its key, as in `{"id":M-1}`."""
_LONG_ARCHIVE = 1 << 24
"""Bytes of an archive that is not kept as a whole; none of ours comes to that."""
BEGINNING = 1 << 12
"""Bytes of an archive that tell in which form its records stand."""
_WINDOW, _OVERLAP = 1 << 22, 1 << 10
"""Bytes that are searched at once, and how many of them twice, so that no id is cut in two."""


class Archives:
    """The archives of one team. Listing files raises `TeamError` (`STORE_UNREADABLE`) where the folder cannot be read.

    What is known of the files is kept until `forget`, so hold the lock meanwhile, or take what is found as a moment.
    """

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._parts: dict[Path, ArchivePart] = {}
        self._names: list[tuple[str, Path]] | None = None
        self._expected: frozenset[bytes] = frozenset()
        self._occurring: dict[Path, set[bytes]] = {}

    def agents(self) -> list[str]:
        """Return agents that have an archive."""
        return sorted({agent for agent, _ in self._files()})

    def files(self, agent: str | None = None) -> list[Path]:
        """Return the archive files, of one agent or of all, oldest part of each agent first."""
        return [path for owner, path in self._files() if agent in (None, owner)]

    def words(self) -> set[str]:
        """Return the words for agents in the names of the files (`names.file_word`)."""
        return {word for _, path in self._files() if (word := archive_word(path.name)) is not None}

    def current(self, agent: str) -> Path:
        """Return the file that `agent` is archived in, whether or not it is there."""
        return self._layout.archive(file_word(agent, self.words()))

    # guard: archives-searched-once
    def expect(self, ids: Iterable[str]) -> None:
        """Say which ids will be asked for: each file is then searched once for all of them, not once for each."""
        wanted = frozenset(name.encode() for name in ids if _is_word(name))
        if not wanted <= self._expected:
            self._expected = wanted
            self._occurring.clear()

    def copies(self, message_id: str, agent: str | None = None) -> Iterator[Message]:
        """Yield the whole copies of this id in the archive of `agent`, or in any."""
        return (message for part in self._parts_with(message_id, agent) for message in part.copies(message_id))

    def has_copy_of(self, message: Message, agent: str | None = None) -> bool:
        """Return whether the archive of `agent`, or any, proves a copy of this message, not merely one of its id."""
        return any(is_copy(other, message) for other in self.copies(message.message_id, agent))

    def find(self, message_id: str, agent: str | None = None) -> Message | None:
        """Return a copy of this id in the archive of `agent`, or in any; None without one."""
        return next(self.copies(message_id, agent), None)

    def messages_with(self, word: str) -> Iterator[Message]:
        """Yield the archived messages that have `word` in their text; others may be among them."""
        for part in self._parts_with(word, None):
            yield from part.messages_with(word)

    def prepare_end(self, path: Path) -> tuple[bytes, list[Problem]]:
        """Make an archive ready for appending.

        A file that cannot be appended to or is long enough becomes the next numbered part.

        Returns:
            What to write before the first new entry, and what was repaired.
        """
        found = self._disk.stat(path)
        if found is None or found.size == 0:
            return HEADER, []
        if found.size > ROTATE_BYTES:
            self._rotate(path)
            return HEADER, []
        end = self._disk.read(path, max(0, found.size - _TAIL))[0]
        is_closed = end.endswith(b"\n") and closed_length(end) == len(end)
        return (b"", []) if is_closed else self._mend(path)

    def forget(self) -> None:
        """Forget what was read, so that it is read again."""
        self._parts.clear()
        self._occurring.clear()
        self._names = None

    def _files(self) -> list[tuple[str, Path]]:
        """Return agent and path of each archive, looked for once."""
        if self._names is None:
            folder = self._layout.archives
            try:
                refuse_way_out(self._disk, self._layout, folder)
                found = [(archive_part(name), name) for name in self._disk.names(folder)]
            except OSError as error:  # an archive that cannot be read must not pass for one that does not have an id
                raise not_readable(folder, error, "; nothing was changed") from error
            parts = [(part[0], part[1], name) for part, name in found if part is not None]
            parts.sort(key=lambda item: (item[0], item[1] is None, item[1] or 0, item[2]))
            self._names = [(agent, folder / name) for agent, _, name in parts]
        return self._names

    def _parts_with(self, text: str, agent: str | None) -> Iterator[ArchivePart]:
        """Yield parts that may hold `text`, found by a search over bytes.

        What cannot be read stops nobody: it counts as an archive without the text, and the history names it.
        """
        paths = list[Path]()
        with suppress(TeamError):
            paths = self.files(agent)
        for path in paths:
            with suppress(OSError):
                if self._may_hold(path, text):
                    yield from self._read(path, text)

    def _read(self, path: Path, text: str) -> Iterator[ArchivePart]:
        """Yield a file as a whole, a long one in stretches where it can be cut."""
        known, size = self._parts.get(path), usable_size(self._disk, path)
        # guard: long-archive-read-in-stretches
        if size > _LONG_ARCHIVE:
            from team_console.store.backends.yaml.reading import begin_of_records  # 5 ms, for the archives of others

            begin = begin_of_records(self._disk.read(path, 0, BEGINNING)[0])
            if begin is not None:
                yield from self._stretches(path, text, begin)
                return
        if known is None or len(known.data) != size:
            known = self._parts[path] = ArchivePart(self._disk.read(path)[0])
        yield known

    def _stretches(self, path: Path, text: str, begin: re.Pattern[bytes]) -> Iterator[ArchivePart]:
        """Yield the stretches of a long archive that may hold `text`, of whole records; in constant memory."""
        needle = text.encode() if is_plain(text) else b""
        start, length = 0, _WINDOW
        while data := self._disk.read(path, start, length)[0]:
            last = len(data)
            if last == length:
                last = max((found.start() for found in begin.finditer(data, 1)), default=0)
            if not last:
                length *= 2
                continue
            if needle in data[:last]:
                yield ArchivePart((HEADER if start else b"") + data[:last])
            start, length = start + last, _WINDOW

    def _may_hold(self, path: Path, text: str) -> bool:
        """Return whether a text may stand in an archive, by a look at its bytes."""
        if not is_plain(text):
            return True
        needle = text.encode()
        if needle not in self._expected:
            usable_size(self._disk, path)
            return self._disk.find(path, needle) >= 0
        if path not in self._occurring:
            self._occurring[path] = self._words_in(path)
        return needle in self._occurring[path]

    def _words_in(self, path: Path) -> set[bytes]:
        """Return the expected ids that occur in the file; in constant memory."""
        words = set[bytes]()
        for start in range(0, usable_size(self._disk, path), _WINDOW - _OVERLAP):
            words.update(self._expected.intersection(_WORDS.findall(self._disk.read(path, start, _WINDOW)[0])))
        return words

    def _rotate(self, path: Path) -> None:
        """Make an archive the next numbered part of its agent."""
        mine = archive_part(path.name)
        parts = [archive_part(name) for name in self._disk.names(path.parent)]
        numbers = [part[1] or 0 for part in parts if part is not None and mine is not None and part[0] == mine[0]]
        number = max(numbers, default=0) + 1
        rename_durably(self._disk, path, self._layout.archive(archive_word(path.name) or "", number))
        self.forget()

    def _mend(self, path: Path) -> tuple[bytes, list[Problem]]:
        """Go on behind what another program wrote; a file in a form that is not ours becomes a numbered part, as it is.

        Nothing is ever taken out of it: what recovery knows to be our own unfinished append is gone by now.
        """
        data = self._disk.read(path)[0]
        whole = closed_length(data)
        if data == HEADER or whole == len(data) or can_be_extended(HEADER + data[whole:] if whole else data):
            return b"" if data.endswith(b"\n") else b"\n", []
        self._rotate(path)
        what = "another program wrote it in a form that cannot be appended to; it was kept as it is, as a numbered part"
        return HEADER, [Problem("FOREIGN_ARCHIVE", "notice", path.name, what)]


def _is_word(message_id: str) -> bool:
    """Return whether an id is found as one of `_WORDS`; one that begins with a colon is looked for by itself."""
    return is_plain(message_id) and not message_id.startswith(":") and len(message_id) < _OVERLAP


def usable_size(disk: Disk, path: Path) -> int:
    """Look at an archive before reading it, and return its size; 0 where there is none.

    Raises:
        OSError: It is no plain file, or holds more than is ever read at once.
    """
    found = disk.stat(path)
    if found is None:
        return 0
    if found.kind != "file":
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if found.size > LARGEST_FILE:
        raise OSError(errno.EFBIG, f"{found.size:,} bytes, the limit is {LARGEST_FILE:,}", str(path))
    return found.size


# Archives read backwards: newest first over all agents, a page at a time, without reading the rest.

_STRETCH = 1 << 16
"""Bytes of an archive that are read at first for the next messages of a page."""
_BLOCK = 1 << 20
"""Bytes in which lines are counted at once."""
ReadStretch = tuple[list[tuple[int, Message]], list[Problem]]
"""What a stretch of an archive holds: (byte after the record, message) in stored order, and what cannot be read."""
WholeArchive = dict[Path, tuple[FileVersion, ReadStretch]]
"""The archive that was read as a whole last: one in a form that has to be, however few of its records are wanted."""


class _Tail(Struct):
    """One agent's archive from its end: parts still to read, and messages read but not given out, newest last.

    Attributes:
        end: Bytes of the newest unread part that are still to be read.
        ready: (byte after the entry, message) pairs of the newest part, in file order.
    """

    agent: str
    parts: list[Path]
    end: int | None = None
    ready: list[tuple[int, Message]] = []


class ArchivePages(Struct):
    """Pages through the archives of one team, from files that `whole` knows as they are."""

    disk: Disk
    archives: Archives
    whole: WholeArchive
    problems: list[Problem] = []

    def page(self, *, agent: str | None, cursor: str | None, limit: int) -> Page:
        """See `Team.history`. A cursor says for each agent which part and byte comes next.

        Raises:
            TeamError: `INVALID_FIELD` for a text that is no cursor.
        """
        places = _parse_cursor(cursor)
        names = [agent] if agent is not None else self.archives.agents()
        tails = [self._open(name, places.get(name)) for name in names]
        found: dict[str, Message] = {}
        while len(found) < limit and (tail := self._newest(tails)) is not None:
            _, message = tail.ready.pop()
            if agent is not None or self._is_first_copy(tail.agent, message):
                found.setdefault(_unique_key(message, found), message)
        cursor = None
        if self._newest(tails) is not None:
            cursor = json.dumps({tail.agent: _place(tail) for tail in tails}, separators=(",", ":"))
        return Page(tuple(found.values()), cursor, tuple(self.problems))

    def _open(self, agent: str, place: tuple[str, int] | None) -> _Tail:
        """Return the archive of an agent from the place where a page ended; from its end without one."""
        parts = self.archives.files(agent)
        if place is None:
            return _Tail(agent, parts)
        name, end = place
        index = next((number for number, path in enumerate(parts) if path.name == name), None)
        return _Tail(agent, [], 0) if index is None else _Tail(agent, parts[: index + 1], end)

    def _newest(self, tails: list[_Tail]) -> _Tail | None:
        """Return the archive with the newest message that was not given out yet; None when all were."""
        filled = [tail for tail in tails if tail.ready or self._fill(tail)]
        return max(filled, key=lambda tail: when_created(tail.ready[-1][1]), default=None)

    def _fill(self, tail: _Tail) -> bool:
        """Read the next stretch backwards; False when the archive is read to its beginning."""
        while tail.parts and not tail.ready:
            path = tail.parts[-1]
            try:
                if tail.end is None:
                    tail.end = usable_size(self.disk, path)
                if tail.end > 0:
                    tail.ready, tail.end = self._read_stretch(path, tail.end)
                    continue
            except OSError as error:
                if not isinstance(error, FileNotFoundError):
                    self.problems.append(_damage(path.name, f"cannot be read: {error.strerror or error}"))
            tail.parts.pop()
            tail.end = None
        return bool(tail.ready)

    def _read_stretch(self, path: Path, end: int) -> tuple[list[tuple[int, Message]], int]:
        """Read the last records before byte `end`; gives their messages, and where they begin."""
        from team_console.store.backends.yaml.reading import begin_of_records  # 5 ms, for reading alone

        start = 0
        begin = begin_of_records(self.disk.read(path, 0, BEGINNING)[0])
        if begin is not None:
            data, start = self._from_record_before(path, end, begin)
            found, problems = self._read_records(path, data, start)
        else:
            found, problems = self._read_whole(path)
        self.problems += problems
        return [(place, message) for place, message in found if place <= end], start

    def _from_record_before(self, path: Path, end: int, begin: re.Pattern[bytes]) -> tuple[bytes, int]:
        """Return the bytes before `end` from the beginning of a record on, and where that is."""
        window = _STRETCH
        while True:
            start = max(0, end - window)
            data = self.disk.read(path, start, end - start)[0]
            first = begin.search(data, 1) if start else None
            if first is not None or start == 0:
                cut = first.start() if first is not None else 0
                return data[cut:], start + cut
            window *= 4

    def _read_whole(self, path: Path) -> ReadStretch:
        """Return all records of an archive that cannot be read backwards; the last one is remembered."""
        known, now = self.whole.get(path), self.disk.stat(path)
        if known is None or now is None or now.mark != known[0]:
            data, read = self.disk.read(path)
            known = read.mark, self._read_records(path, data, 0)
            self.whole.clear()
            self.whole[path] = known
        return known[1]

    def _read_records(self, path: Path, data: bytes, offset: int) -> ReadStretch:
        """Return what stands in `data`, whole records of the file from byte `offset` on."""
        before = HEADER if offset else b""  # what does not begin with the list is read as if it did
        shift = offset - len(before)
        found: list[tuple[int, Message]] = []
        problems = [
            _damage(f"{path.name}:{self._line(path, offset + at)}", f"the checksum of {message_id} does not hold")
            for at, message_id in damaged_records(data)
        ]
        for record in read_records(before + data):
            if isinstance(record.outcome, TextError):
                line = self._line(path, record.start + shift)
                error = record.outcome.below(line - 1)
                problems.append(_damage(f"{path.name}:{error.line}", error.message))
            else:
                found.append((record.end + shift, record.outcome))
        return found, problems

    def _line(self, path: Path, offset: int) -> int:
        """Return the 1-based line of a byte."""
        places = range(0, offset, _BLOCK)
        return 1 + sum(self.disk.read(path, at, min(_BLOCK, offset - at))[0].count(b"\n") for at in places)

    def _is_first_copy(self, agent: str, message: Message) -> bool:
        """Return whether this is the copy to show of a record that several agents' archives may hold."""
        if not message.is_group:
            return True
        before = [name for name in self.archives.agents() if name < agent]
        return all(self.archives.find(message.message_id, name) is None for name in before)


def _damage(place: str, what: str) -> Problem:
    """Return the finding on a record, or a file, of an archive that cannot be read."""
    hint = "The other records are shown; repair this one by hand or restore the file."
    return Problem("DAMAGED_ARCHIVE", "warning", place, what, hint)


def _unique_key(message: Message, found: Mapping[str, Message]) -> str:
    """Return the id, or one made of the content for another message whose id a newer one has."""
    newer = found.get(message.message_id)
    is_other = newer is not None and not is_copy(newer, message)
    return f"{message.message_id}~{digest(message)}" if is_other else message.message_id


def _place(tail: _Tail) -> tuple[str, int]:
    """Return part and byte before which the next page of an archive ends; no part when it is read."""
    if not tail.parts or tail.end is None:
        return "", 0
    return tail.parts[-1].name, tail.ready[-1][0] if tail.ready else tail.end


def _parse_cursor(cursor: str | None) -> dict[str, tuple[str, int]]:
    """Return agent -> part and byte at which its archive goes on, of a cursor of ours."""
    if cursor is None:
        return {}
    try:
        return {str(agent): (str(name), int(end)) for agent, (name, end) in json.loads(cursor).items()}
    except (ValueError, TypeError, AttributeError):
        raise TeamError(Code.INVALID_FIELD, "the cursor is not one of ours", "Begin again without a cursor.") from None


# Archives are shortened: messages that are too old go (decision D18), what stays is kept byte for byte.


class Shortening(Struct, frozen=True):
    """An archive as it will be once it is shortened.

    Attributes:
        data: Its new bytes; None when nothing stays and the file may go.
        ids: Ids of the messages that go.
    """

    path: Path
    data: bytes | None
    ids: frozenset[str]


def plan_shortening(disk: Disk, archives: Archives, *, before: datetime, keep: Collection[str]) -> list[Shortening]:
    """Find archives that hold messages created before `before`; messages whose ids are in `keep` stay in any case.

    Damaged entries, and files that cannot be read or are not a plain list of entries, stay as they are; the history
    tells of them.
    """
    found: list[Shortening] = []
    for path in archives.files():
        with suppress(TextError, OSError):
            text = QueueText.parse(disk.read(path)[0])
            # One by one: a newer message may have the id of an old one.
            messages = ((place, entry.message) for place, entry in enumerate(text.entries))
            old = {
                place: message.message_id
                for place, message in messages
                if message is not None
                and message.message_id not in keep
                and message.created_at is not None
                and message.created_at < before
            }
            if text.needs_rewrite or not old:
                continue
            part = archive_part(path.name)
            data: bytes | None = (text.head or HEADER) + text.tail
            # Not by joining what stays: a program that shares values among entries may have them in one that goes.
            if len(old) < len(text.entries):
                data = text.edit(remove=old.keys()).data()
            elif part is not None and part[1] is not None:
                data = None
            found.append(Shortening(path, data, frozenset(old.values())))
    return found


def shorten_archives(disk: Disk, layout: Layout, found: Collection[Shortening], *, mode: int) -> None:
    """Replace the files. A crash in between leaves some of them long; doing it again finishes it.

    Args:
        mode: Of a file whose own mode is not known any more.

    Raises:
        TeamError: `STORE_FAILED` when one could not be replaced; each is whole, long or short.
    """
    try:
        for item in found:
            if item.data is None:
                disk.unlink(item.path)
                continue
            # Beside the archive: `archive_dir` may be a file system of its own, and a rename goes no further.
            staged = item.path.with_name(layout.stage().name)
            stat = disk.stat(item.path)
            write_new(disk, staged, item.data, mode=stat.mode if stat else mode)
            rename_durably(disk, staged, item.path)
        disk.sync_folder(layout.archives)
    except OSError as error:
        text = f"{error.filename or layout.archives}: {error.strerror or error}; some archives were not shortened"
        raise TeamError(Code.STORE_FAILED, text, "Look into the cause and repeat it.") from error
