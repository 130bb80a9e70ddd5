"""Per-agent archives: append-only YAML lists whose entries are closed by a checksum line.

An entry is followed by `# end <id> <crc32>`, so the file stays plain YAML and a cut or changed record shows
without parsing. Other writers' entries without that line are read all the same.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote

from team_console.store.backends.buffered import carries
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.codec.editing.emitter import emit_again
from team_console.store.backends.yaml.codec.entry import parse_entry
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.files import LARGEST_FILE, cut, refuse_large, write_new
from team_console.store.backends.yaml.layout import Layout, archive_part, refuse_way_out
from team_console.store.model.copies import is_copy
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem

HEADER = b"messages:\n"
ROTATE_BYTES = 10 * 1024 * 1024
"""An archive longer than this is renamed to its next part before it is appended to."""
_TAIL = 1 << 16
_END = re.compile(rb"^# end (\S+) (\d+)$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9@._:-]+")
_WORDS = re.compile(rb"[A-Za-z0-9@._-][A-Za-z0-9@._:-]*")
"""Plain ids as they stand in YAML; a colon before one belongs to its key, as in `{"id":M-1}`."""
_WINDOW, _OVERLAP = 1 << 22, 1 << 10
"""Bytes that are searched at once, and how many of them twice, so that no id is cut in two."""


def closed(message: Message) -> bytes:
    """An archive entry of `message` with its closing line. Raises `CodecError` for text that cannot be written."""
    entry = emit_again(message)
    return entry + _end_line(message.message_id) + b"%d\n" % zlib.crc32(entry)


def _end_line(message_id: str) -> bytes:
    return b"# end " + _word(message_id).encode() + b" "


def _word(message_id: str) -> str:
    """The id as one word of ASCII, other characters percent-encoded."""
    if _is_plain(message_id):
        return message_id

    return quote(message_id, safe="@:", errors="backslashreplace")


class Part:
    """One archive file as read."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data

    @cached_property
    def text(self) -> QueueText:
        """Its entries. Raises `CodecError` when it cannot be understood."""
        return QueueText.parse(self.data)

    @cached_property
    def _ends(self) -> dict[bytes, list[int]]:
        """Where the closing lines of each id begin."""
        ends: dict[bytes, list[int]] = {}
        for match in _END.finditer(self.data):
            ends.setdefault(match[1], []).append(match.start())
        return ends

    def _closed(self, message_id: str) -> Iterator[bytes]:
        """The entries closed under this id whose checksum holds."""
        for end in self._ends.get(_word(message_id).encode(), ()):
            if _crc_holds(self.data, end):
                yield self.data[_entry_start(self.data, end) : end]

    def proves(self, message_id: str) -> bool:
        """Whether a whole copy of this id is here: closed with the right checksum, or readable without one."""
        return any(True for _ in self._closed(message_id)) or self.message(message_id) is not None

    def keeps(self, message: Message) -> bool:
        """Whether a whole copy of this very message is here, in whatever state; another one of its id does not do."""
        for entry in self._closed(message.message_id):
            with suppress(CodecError):
                if is_copy(parse_entry(entry), message):
                    return True
        return any(is_copy(other, message) for other in self._messages(message.message_id))

    def message(self, message_id: str) -> Message | None:
        """The first copy of this id, if it is here and readable."""
        return next(self._messages(message_id), None)

    def _messages(self, message_id: str) -> Iterator[Message]:
        if message_id.encode("utf-8", "replace") not in self.data and _is_plain(message_id):
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
        everything = not _is_plain(word)
        if needle not in self.data and not everything:
            return []
        try:
            near = [entry.message for entry in self.text.entries if everything or needle in entry.raw]
        except CodecError:
            return []
        return [message for message in near if message is not None]


class Archives:
    """The archives of one team. Reading raises `TeamError` (`STORE_UNREADABLE`) for a file that cannot be read.

    What is known of the files is kept until `forget`, so hold the lock meanwhile, or take what is found as a moment.
    """

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._parts: dict[Path, Part] = {}
        self._names: list[tuple[str, Path]] | None = None
        self._expected: frozenset[bytes] = frozenset()
        self._occurring: dict[Path, frozenset[bytes]] = {}

    def agents(self) -> list[str]:
        """Agents that have an archive."""
        return sorted({agent for agent, _ in self._files()})

    def files(self, agent: str | None = None) -> list[Path]:
        """Archive files, of one agent or of all, oldest part of each agent first."""
        return [path for owner, path in self._files() if agent in (None, owner)]

    def expect(self, ids: Iterable[str]) -> None:
        """Say which ids will be asked for: each file is then searched once for all of them, not once for each."""
        self._expected = frozenset(name.encode() for name in ids if _is_plain(name) and len(name) < _OVERLAP)
        self._occurring.clear()

    def holds(self, agent: str, message_id: str) -> bool:
        """Whether the archive of `agent` proves a copy of this id."""
        return any(part.proves(message_id) for part in self._near(message_id, agent))

    def keeps(self, message: Message, agent: str | None = None) -> bool:
        """Whether the archive of `agent`, or any, proves a copy of this message, not merely one of its id."""
        return any(part.keeps(message) for part in self._near(message.message_id, agent))

    def find(self, message_id: str) -> Message | None:
        """A copy of this id in any archive."""
        found = (part.message(message_id) for part in self._near(message_id, None))
        return next((message for message in found if message is not None), None)

    def thread(self, request_id: str) -> Iterator[Message]:
        """Archived messages that carry `request_id` in their payload or as their id."""
        for part in self._near(request_id, None):
            yield from part.thread(request_id)

    def holding(self, word: str) -> Iterator[Message]:
        """Archived messages that have `word` in their text; others may be among them."""
        for part in self._near(word, None):
            yield from part.holding(word)

    def open_end(self, agent: str, *, stamp: str) -> tuple[bytes, list[Problem]]:
        """Make the archive of `agent` ready for appending.

        A torn end is moved to a file of its own, a file that cannot be appended to or is long enough becomes
        the next numbered part.

        Returns:
            What to write before the first new entry, and what was repaired.
        """
        path = self._layout.archive(agent)
        found = self._disk.stat(path)
        if found is None or found.size == 0:
            return HEADER, []
        if found.size > ROTATE_BYTES:
            self._rotate(agent, path)
            return HEADER, []
        start = max(0, found.size - _TAIL)
        if _is_closed(self._disk.read(path, start)[0]):
            return b"", []
        return self._mend(agent, path, stamp)

    def forget(self) -> None:
        """Drop what was read."""
        self._parts.clear()
        self._occurring.clear()
        self._names = None

    def _files(self) -> list[tuple[str, Path]]:
        if self._names is None:
            folder = self._layout.archives
            with _readable(folder):
                refuse_way_out(self._disk, self._layout, folder)
                found = [(archive_part(name), name) for name in self._disk.names(folder)]
            parts = [(part[0], part[1], name) for part, name in found if part is not None]
            parts.sort(key=lambda item: (item[0], item[1] is None, item[1] or 0))
            self._names = [(agent, folder / name) for agent, _, name in parts]
        return self._names

    def _near(self, text: str, agent: str | None) -> Iterator[Part]:
        """Parts that may hold `text`, found by a search over bytes."""
        for path in self.files(agent):
            with _readable(path):
                part = self._part(path) if self._may_hold(path, text) else None
            if part is not None:
                yield part

    def _may_hold(self, path: Path, text: str) -> bool:
        if not _is_plain(text):
            return True
        needle = text.encode()
        if needle not in self._expected:
            return self._disk.find(path, needle) >= 0
        if path not in self._occurring:
            self._occurring[path] = self._words_in(path)
        return needle in self._occurring[path]

    def _words_in(self, path: Path) -> frozenset[bytes]:
        """Those of the expected ids that stand in the file, wherever; in constant memory."""
        words: set[bytes] = set()
        start, found = 0, self._disk.stat(path)
        while found is not None and start < found.size:
            data, found = self._disk.read(path, start, _WINDOW)
            words.update(self._expected.intersection(_WORDS.findall(data)))
            start += _WINDOW - _OVERLAP
        return frozenset(words)

    def _part(self, path: Path) -> Part:
        known = self._parts.get(path)
        found = self._disk.stat(path)
        if known is None or found is None or len(known.data) != found.size:
            refuse_large(path, found, LARGEST_FILE)
            known = self._parts[path] = Part(path, self._disk.read(path)[0])
        return known

    def _rotate(self, agent: str, path: Path) -> None:
        parts = [archive_part(name) for name in self._disk.names(path.parent)]
        numbers = [part[1] or 0 for part in parts if part is not None and part[0] == agent]
        self._disk.rename(path, self._layout.archive(agent, max(numbers, default=0) + 1))
        self._disk.sync_folder(path.parent)
        self.forget()

    def _mend(self, agent: str, path: Path, stamp: str) -> tuple[bytes, list[Problem]]:
        """Decide what the bytes after our last closed entry are: another writer's entries, or a torn one."""
        data = self._disk.read(path)[0]
        whole = _closed_length(data)
        if data == HEADER:
            return b"", []
        if whole == len(data):
            return b"" if data.endswith(b"\n") else b"\n", []
        if _can_be_extended(HEADER + data[whole:] if whole else data):
            return b"" if data.endswith(b"\n") else b"\n", []
        if whole == 0 and _is_understood(data):
            self._rotate(agent, path)
            return HEADER, [_foreign_problem(path)]
        kept = whole or (len(HEADER) if data.startswith(HEADER) else 0)
        aside = set_aside(self._disk, path, kept, stamp=stamp)
        self._parts.pop(path, None)
        return b"" if kept else HEADER, [torn_problem(path, kept, aside)]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """An archive that cannot be read must not pass for one that does not have an id."""
    try:
        yield
    except OSError as error:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{path} cannot be read: {error.strerror or error}; nothing was changed",
            "Check what is at that path and its permissions.",
            path=str(path),
        ) from error


def set_aside(disk: Disk, path: Path, size: int, *, stamp: str) -> Path:
    """Move what `path` holds after `size` bytes to a file beside it, then cut it off."""
    aside = path.with_name(f"{path.name}.torn-{stamp}")
    if disk.stat(aside) is None:
        write_new(disk, aside, disk.read(path, size)[0])
        disk.sync_folder(aside.parent)
    cut(disk, path, size)
    return aside


def torn_problem(path: Path, size: int, aside: Path) -> Problem:
    """The notice of a torn end that was set aside."""
    return Problem(
        "TORN_END",
        "warning",
        f"{path.name}, byte {size}",
        f"a record at the end was cut short; it was moved to {aside.name}",
        "Nothing to do: the message it belonged to is still in the queue or was never accepted.",
    )


def closed_ids(data: bytes) -> list[str]:
    """Ids of the entries in `data` that have their closing line."""
    return [unquote(match[1].decode("ascii", "replace")) for match in _END.finditer(data)]


def damaged_records(data: bytes) -> list[tuple[int, str]]:
    """Offset and id of each closed entry whose checksum does not hold."""
    ends = [match for match in _END.finditer(data) if not _crc_holds(data, match.start())]
    return [(match.start(), match[1].decode("ascii", "replace")) for match in ends]


def _foreign_problem(path: Path) -> Problem:
    return Problem(
        "FOREIGN_ARCHIVE",
        "notice",
        path.name,
        "another program wrote it in a form that cannot be appended to; it was kept as a numbered part",
    )


def _is_plain(text: str) -> bool:
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
    return zlib.crc32(data[start:end_line]) == int(match[2])


def _is_closed(tail: bytes) -> bool:
    """Whether a file that ends with `tail` ends with a whole closed entry."""
    last = tail.rfind(b"\n", 0, max(0, len(tail) - 1)) + 1
    return tail.endswith(b"\n") and tail.startswith(b"# end ", last) and _crc_holds(tail, last)


def _closed_length(data: bytes) -> int:
    """Bytes up to the end of the last entry that is closed with the right checksum; 0 when there is none."""
    good = [match.end() + 1 for match in _END.finditer(data) if _crc_holds(data, match.start())]
    return min(good[-1], len(data)) if good else 0


def _can_be_extended(data: bytes) -> bool:
    """Whether the file parses without damage and its list is in the block form that we append to."""
    if not _is_understood(data):
        return False
    text = QueueText.parse(data)
    flush = all(entry.raw.startswith(b"- ") for entry in text.entries)
    return bool(text.entries) and flush and not text.whole and not text.tail.strip()


def _is_understood(data: bytes) -> bool:
    try:
        return not QueueText.parse(data).damaged()
    except CodecError:
        return False
