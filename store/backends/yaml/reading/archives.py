"""Archives of a team, one for each agent and appended to only: what is in them, and their ends made ready."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.yaml.archive_text import (
    HEADER,
    Part,
    can_be_extended,
    closed_length,
    is_closed_end,
    is_plain,
    unclosed,
)
from team_console.store.backends.yaml.disk import LARGEST_FILE, Disk, Stat
from team_console.store.backends.yaml.files import cut
from team_console.store.backends.yaml.layout import Layout, archive_part, archive_word, refuse_way_out
from team_console.store.backends.yaml.recovery.recorded_part import RecordedPart
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import word_for
from team_console.store.model.problem import Problem

ROTATE_BYTES = 10 * 1024 * 1024
"""An archive longer than this is renamed to its next part before it is appended to."""
_TAIL = 1 << 16
_WORDS = re.compile(rb"[A-Za-z0-9@._-][A-Za-z0-9@._:-]*")
"""Plain ids as they stand in YAML; a colon before one belongs to its key, as in `{"id":M-1}`."""
_WINDOW, _OVERLAP = 1 << 22, 1 << 10
"""Bytes that are searched at once, and how many of them twice, so that no id is cut in two."""


class _Searched(Struct, frozen=True):
    """The ids looked for that stand in a file up to a byte."""

    size: int
    words: frozenset[bytes]


class Archives:
    """The archives of one team. Reading raises `TeamError` (`STORE_UNREADABLE`) for a file that cannot be read.

    What is known of the files is kept until `forget`, so hold the lock meanwhile, or take what is found as a moment.
    Only which of the expected ids were seen in a file, as far as it was searched, is kept for longer: work in slices
    would search the whole archive in each of them. Nothing rests on that alone, since an id that was seen has to be
    proven by the file as it is, and one that was not seen is at worst archived twice.
    """

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._parts: dict[Path, Part] = {}
        self._names: list[tuple[str, Path]] | None = None
        self._ids: frozenset[str] = frozenset()
        self._expected: frozenset[bytes] = frozenset()
        self._occurring: dict[Path, frozenset[bytes]] = {}
        self._searched: dict[int, _Searched] = {}
        self._mentions: dict[str | None, frozenset[bytes] | None] = {}

    def agents(self) -> list[str]:
        """Agents that have an archive."""
        return sorted({agent for agent, _ in self._files()})

    def files(self, agent: str | None = None) -> list[Path]:
        """Archive files, of one agent or of all, oldest part of each agent first."""
        return [path for owner, path in self._files() if agent in (None, owner)]

    def words(self) -> set[str]:
        """What stands for the agents in the names of the files (`names.word_for`)."""
        return {word for _, path in self._files() if (word := archive_word(path.name)) is not None}

    def current(self, agent: str) -> Path:
        """The file that `agent` is archived in, whether or not it is there."""
        return self._layout.archive(word_for(agent, self.words()))

    def expect(self, ids: Iterable[str]) -> None:
        """Say which ids will be asked for: each file is then searched once for all of them, not once for each."""
        wanted = frozenset(ids)
        if not wanted <= self._ids:
            self._ids = wanted
            self._expected = frozenset(name.encode() for name in wanted if _is_word(name))
            self._occurring.clear()
            self._searched.clear()
            self._mentions.clear()

    def is_expected(self, message_id: str) -> bool:
        """Whether it was said that this id will be asked for."""
        return message_id in self._ids

    def appended(self, path: Path, before: int, after: int, ids: Iterable[str]) -> None:
        """Know what came to an archive that was as long as `before`, without searching it: entries of these ids."""
        found = self._disk.stat(path)
        known = self._searched.get(found.ino) if found is not None else None
        if found is not None and (known.size if known is not None else 0) == before:
            came = self._expected.intersection([name.encode("utf-8", "replace") for name in ids])
            self._searched[found.ino] = _Searched(after, came | (known.words if known is not None else frozenset()))

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

    def open_end(self, path: Path) -> tuple[bytes, list[Problem]]:
        """Make an archive ready for appending.

        A file that cannot be appended to or is long enough becomes the next numbered part.

        Returns:
            What to write before the first new entry, and what was repaired.
        """
        found = self._disk.stat(path)
        if found is None or found.size == 0:
            return HEADER, []
        end = self._disk.data_end(path)
        if end < found.size:
            cut(self._disk, path, end)
            more, problems = self.open_end(path)
            return more, [_hollow_problem(path, end, found.size), *problems]
        if found.size > ROTATE_BYTES:
            self._rotate(path)
            return HEADER, []
        start = max(0, found.size - _TAIL)
        if is_closed_end(self._disk.read(path, start)[0]):
            return b"", []
        return self._mend(path)

    def forget(self) -> None:
        """Drop what was read."""
        self._parts.clear()
        self._occurring.clear()
        self._mentions.clear()
        self._names = None

    def _files(self) -> list[tuple[str, Path]]:
        if self._names is None:
            folder = self._layout.archives
            with _readable(folder):
                refuse_way_out(self._disk, self._layout, folder)
                found = [(archive_part(name), name) for name in self._disk.names(folder)]
            parts = [(part[0], part[1], name) for part, name in found if part is not None]
            parts.sort(key=lambda item: (item[0], item[1] is None, item[1] or 0, item[2]))
            self._names = [(agent, folder / name) for agent, _, name in parts]
        return self._names

    def _near(self, text: str, agent: str | None) -> Iterator[Part | RecordedPart]:
        """Parts that may hold `text`, found by a search over bytes; for files that cannot be read the ledger."""
        if self._is_nowhere(text, agent):
            return
        trouble: TeamError | None = None
        try:
            paths = self.files(agent)
        except TeamError as error:
            paths, trouble = [], error
        for path in paths:
            try:
                refuse_unusable(self._disk, path)
                part = self._part(path) if self._may_hold(path, text) else None
            except OSError as error:
                part, trouble = None, _unreadable(path, error)
            if part is not None:
                yield part
        if trouble is not None:
            yield self._recorded(trouble)

    def _is_nowhere(self, text: str, agent: str | None) -> bool:
        """Whether `text` is an expected id that stands in no file; False where one of them cannot be read."""
        needle = text.encode("utf-8", "replace")
        if needle not in self._expected:
            return False
        if agent not in self._mentions:
            self._mentions[agent] = self._mentioned(agent)
        mentioned = self._mentions[agent]
        return mentioned is not None and needle not in mentioned

    def _mentioned(self, agent: str | None) -> frozenset[bytes] | None:
        """The expected ids that stand in the files of the agent; None where one of them cannot be read."""
        words: set[bytes] = set()
        try:
            for path in self.files(agent):
                refuse_unusable(self._disk, path)
                words |= self._words_of(path)
        except (OSError, TeamError):
            return None
        return frozenset(words)

    def _recorded(self, trouble: TeamError) -> RecordedPart:
        """One archive that cannot be read stops nobody where the ledger knows what is in it."""
        ledger = self._disk.stat(self._layout.audit)
        if ledger is None or ledger.kind != "file" or not ledger.size:
            raise trouble
        return RecordedPart(self._disk, self._layout.audit, trouble)

    def _may_hold(self, path: Path, text: str) -> bool:
        if not is_plain(text):
            return True
        needle = text.encode()
        if needle not in self._expected:
            return self._disk.find(path, needle) >= 0
        return needle in self._words_of(path)

    def _words_of(self, path: Path) -> frozenset[bytes]:
        if path not in self._occurring:
            self._occurring[path] = self._words_in(path)
        return self._occurring[path]

    def _words_in(self, path: Path) -> frozenset[bytes]:
        """Those of the expected ids that stand in the file, wherever; in constant memory."""
        found, end = self._disk.stat(path), self._disk.data_end(path)
        inode = found.ino if found is not None else 0
        known = self._searched.get(inode, _Searched(0, frozenset()))
        if known.size > end:
            known = _Searched(0, frozenset())
        words, start = set(known.words), max(0, known.size - _OVERLAP)
        while start < end:
            data = self._disk.read(path, start, _WINDOW)[0]
            words.update(self._expected.intersection(_WORDS.findall(data)))
            start += _WINDOW - _OVERLAP
        self._searched[inode] = _Searched(end, frozenset(words))
        return self._searched[inode].words

    def _part(self, path: Path) -> Part:
        known, end = self._parts.get(path), self._disk.data_end(path)
        if known is None or len(known.data) != end:
            known = self._parts[path] = Part(path, self._disk.read(path, 0, end)[0])
        return known

    def _rotate(self, path: Path) -> None:
        mine = archive_part(path.name)
        parts = [archive_part(name) for name in self._disk.names(path.parent)]
        numbers = [part[1] or 0 for part in parts if part is not None and mine is not None and part[0] == mine[0]]
        number = max(numbers, default=0) + 1
        self._disk.rename_durably(path, self._layout.archive(archive_word(path.name) or "", number))
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
        return HEADER, [_foreign_problem(path)]


def _is_word(message_id: str) -> bool:
    """Whether an id is found as one of `_WORDS`; one that begins with a colon is looked for by itself."""
    return is_plain(message_id) and not message_id.startswith(":") and len(message_id) < _OVERLAP


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """An archive that cannot be read must not pass for one that does not have an id."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> TeamError:
    return TeamError(
        Code.STORE_UNREADABLE,
        f"{path} cannot be read: {error.strerror or error}; nothing was changed",
        "Check what is at that path and its permissions.",
        path=str(path),
    )


def refuse_unusable(disk: Disk, path: Path) -> None:
    """Look at an archive before reading it.

    Raises:
        OSError: It is no plain file, or holds more than is ever read at once.
    """
    found = disk.stat(path)
    if found is not None and found.kind != "file":
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if found is not None and found.size > LARGEST_FILE and disk.data_end(path) > LARGEST_FILE:
        raise OSError(errno.EFBIG, f"{found.size:,} bytes, the limit is {LARGEST_FILE:,}", str(path))


def is_usable(disk: Disk, path: Path) -> bool:
    """Whether an archive can be read; that it cannot is told with the history."""
    try:
        refuse_unusable(disk, path)
    except OSError:
        return False
    return True


class ForeignAppends:
    """Counts changes of archives that are not our own appends; looks only at what a file got since the last look."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._seen: dict[str, Stat] | None = None
        self._number = 0

    def look(self) -> int:
        """How many looks found a change; what cannot be looked at is told with the history."""
        folder = self._layout.archives
        try:
            refuse_way_out(self._disk, self._layout, folder)
            found = {name: self._disk.stat(folder / name) for name in self._disk.names(folder) if archive_part(name)}
        except OSError:
            return self._number
        before, now = self._seen, {name: stat for name, stat in found.items() if stat is not None}
        if before is not None and before != now:
            changed = [name for name, stat in now.items() if before.get(name) != stat]
            is_foreign = any(not self._is_ours(folder / name, before.get(name), now[name]) for name in changed)
            self._number += is_foreign or not before.keys() <= now.keys()
        self._seen = now
        return self._number

    def _is_ours(self, path: Path, before: Stat | None, now: Stat) -> bool:
        """Whether nothing but our closed entries came."""
        if now.kind != "file" or (before is not None and (before.ino != now.ino or before.size >= now.size)):
            return False
        start = before.size if before is not None else 0
        try:
            came = self._disk.read(path, start, now.size - start)[0]
        except OSError:
            return True
        return not unclosed(came).removeprefix(HEADER).strip()


def _hollow_problem(path: Path, end: int, size: int) -> Problem:
    text = f"{path.name} claimed {size - end:,} bytes behind its end that nobody wrote; they were cut off"
    return Problem("TORN_END", "warning", f"{path.name}, byte {end}", text, "Find out what made the file longer.")


def _foreign_problem(path: Path) -> Problem:
    return Problem(
        "FOREIGN_ARCHIVE",
        "notice",
        path.name,
        "another program wrote it in a form that cannot be appended to; it was kept as it is, as a numbered part",
    )
