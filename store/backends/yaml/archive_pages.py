"""The archives of a team read backwards: newest first over all agents, a page at a time, without reading the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.entry_splitter import begin_of_records
from team_console.store.backends.yaml.archives import (
    BEGINNING,
    HEADER,
    Archives,
    damaged_records,
    read_records,
    usable_size,
)
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.contract.team import Page
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, digest, is_copy
from team_console.store.protocol.placed_message import when_created

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
                    self.problems.append(_problem(path.name, f"cannot be read: {error.strerror or error}"))
            tail.parts.pop()
            tail.end = None
        return bool(tail.ready)

    def _read_stretch(self, path: Path, end: int) -> tuple[list[tuple[int, Message]], int]:
        """Read the last records before byte `end`; gives their messages, and where they begin."""
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
            _problem(f"{path.name}:{self._line(path, offset + at)}", f"the checksum of {message_id} does not hold")
            for at, message_id in damaged_records(data)
        ]
        for record in read_records(before + data):
            if isinstance(record.outcome, TextError):
                line = self._line(path, record.start + shift)
                error = record.outcome.below(line - 1)
                problems.append(_problem(f"{path.name}:{error.line}", error.message))
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


def _problem(place: str, what: str) -> Problem:
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
