"""The archives read backwards: newest first over all agents, one page at a time, without reading the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field
from team_console.store.backends.yaml.archive_text import HEADER, ITEM, damaged_records, is_one_list, records
from team_console.store.backends.yaml.codec import CodecError
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.reading.archives import Archives, refuse_unusable
from team_console.store.contract.team import Page
from team_console.store.model.copies import digest, is_copy
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem
from team_console.store.protocol.entries import EARLIEST

_WINDOW = 1 << 16
_BLOCK = 1 << 20
_BEGINNING = 1 << 12
"""Bytes of an archive that tell in which form its records stand."""
Found = tuple[list[tuple[int, Message]], list[Problem]]
"""What a stretch of an archive holds: (byte after the record, message) in stored order, and what cannot be read."""
Whole = dict[Path, tuple[Mark, Found]]
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
    ready: list[tuple[int, Message]] = field(default_factory=list)


class ArchivePages:
    """Pages through the archives of one team."""

    def __init__(self, disk: Disk, archives: Archives, whole: Whole) -> None:
        self._disk = disk
        self._archives = archives
        self._whole = whole
        self._problems: list[Problem] = []

    def page(self, *, agent: str | None, cursor: str | None, limit: int) -> Page:
        """See `Team.history`. A cursor says for each agent which part and byte comes next.

        Raises:
            TeamError: `INVALID_FIELD` for a cursor that is none.
        """
        places = _parse_cursor(cursor)
        names = [agent] if agent is not None else self._archives.agents()
        tails = [self._open(name, places.get(name)) for name in names]
        found: dict[str, Message] = {}
        while len(found) < limit and (tail := self._newest(tails)) is not None:
            _, message = tail.ready.pop()
            if agent is not None or self._is_first_copy(tail.agent, message):
                found.setdefault(_key(message, found), message)
        more = self._newest(tails) is not None
        return Page(tuple(found.values()), _cursor(tails) if more else None, tuple(self._problems))

    def _open(self, agent: str, place: tuple[str, int] | None) -> _Tail:
        parts = self._archives.files(agent)
        if place is None:
            return _Tail(agent, parts)
        name, end = place
        index = next((number for number, path in enumerate(parts) if path.name == name), None)
        return _Tail(agent, [], 0) if index is None else _Tail(agent, parts[: index + 1], end)

    def _newest(self, tails: list[_Tail]) -> _Tail | None:
        filled = [tail for tail in tails if tail.ready or self._fill(tail)]
        return max(filled, key=lambda tail: _moment(tail.ready[-1][1]), default=None)

    def _fill(self, tail: _Tail) -> bool:
        """Read the next stretch backwards; False when the archive is read to its beginning."""
        while tail.parts:
            if tail.end is None:
                tail.end = self._end_of(tail.parts[-1])
            if tail.end <= 0:
                tail.parts.pop()
                tail.end = None
                continue
            tail.ready, tail.end = self._stretch(tail.parts[-1], tail.end)
            if tail.ready:
                return True
        return False

    def _end_of(self, path: Path) -> int:
        """Bytes to read of an archive, 0 for one that cannot be read."""
        try:
            refuse_unusable(self._disk, path)
            return self._disk.data_end(path)
        except FileNotFoundError:
            return 0
        except OSError as error:
            self._problems.append(_problem(path.name, f"cannot be read: {error.strerror or error}"))
            return 0

    def _stretch(self, path: Path, end: int) -> tuple[list[tuple[int, Message]], int]:
        """Messages of the last records before byte `end`, and where they begin."""
        try:
            if not is_one_list(self._disk.read(path, 0, _BEGINNING)[0]):
                found, problems = self._read_whole(path)
                self._problems += problems
                return [(place, message) for place, message in found if place <= end], 0
            data, start = self._before(path, end)
            found, problems = self._understand(path, data, start)
            self._problems += problems
            return found, start
        except OSError as error:
            self._problems.append(_problem(path.name, f"cannot be read: {error.strerror or error}"))
            return [], 0

    def _before(self, path: Path, end: int) -> tuple[bytes, int]:
        """The bytes before `end` from the beginning of a record on, and where that is."""
        window = _WINDOW
        while True:
            start = max(0, end - window)
            data = self._disk.read(path, start, end - start)[0]
            first = ITEM.search(data, 1) if start else None
            if first is not None or start == 0:
                cut = first.start() if first is not None else 0
                return data[cut:], start + cut
            window *= 4

    def _read_whole(self, path: Path) -> Found:
        known, now = self._whole.get(path), self._disk.stat(path)
        if known is None or now is None or now.mark != known[0]:
            data, read = self._disk.read(path)
            known = read.mark, self._understand(path, data, 0)
            self._whole.clear()
            self._whole[path] = known
        return known[1]

    def _understand(self, path: Path, data: bytes, offset: int) -> Found:
        before = HEADER if offset else b""
        shift = offset - len(before)
        found: list[tuple[int, Message]] = []
        problems = [
            _problem(f"{path.name}:{self._line(path, offset + at)}", f"the checksum of {message_id} does not hold")
            for at, message_id in damaged_records(data)
        ]
        for record in records(before + data):
            if isinstance(record.outcome, CodecError):
                line = self._line(path, record.start + shift)
                error = record.outcome.below(line - 1)
                problems.append(_problem(f"{path.name}:{error.line}", error.message))
            else:
                found.append((record.end + shift, record.outcome))
        return found, problems

    def _line(self, path: Path, offset: int) -> int:
        """The 1-based line of a byte."""
        places = range(0, offset, _BLOCK)
        return 1 + sum(self._disk.read(path, at, min(_BLOCK, offset - at))[0].count(b"\n") for at in places)

    def _is_first_copy(self, agent: str, message: Message) -> bool:
        """Whether this is the copy to show of a record that several agents' archives may hold."""
        if not message.is_group:
            return True
        before = [name for name in self._archives.agents() if name < agent]
        return not any(self._archives.holds(name, message.message_id) for name in before)


def _problem(place: str, what: str) -> Problem:
    hint = "The other records are shown; repair this one by hand or restore the file."
    return Problem("DAMAGED_ARCHIVE", "warning", place, what, hint)


def _moment(message: Message) -> datetime:
    """When it was written. As texts, `12:00+02:00` would come after `10:45Z`, and what is no time after everything."""
    return message.created_at or EARLIEST


def _key(message: Message, found: Mapping[str, Message]) -> str:
    """The id, or one made of the content for another message whose id a newer one has."""
    newer = found.get(message.message_id)
    is_other = newer is not None and not is_copy(newer, message)
    return f"{message.message_id}~{digest(message)}" if is_other else message.message_id


def _cursor(tails: list[_Tail]) -> str:
    return json.dumps({tail.agent: _place(tail) for tail in tails}, separators=(",", ":"))


def _place(tail: _Tail) -> tuple[str, int]:
    """Part and byte before which the next page of this archive ends; no part when it is read."""
    if not tail.parts or tail.end is None:
        return "", 0
    return tail.parts[-1].name, tail.ready[-1][0] if tail.ready else tail.end


def _parse_cursor(cursor: str | None) -> dict[str, tuple[str, int]]:
    if cursor is None:
        return {}
    try:
        return {str(agent): (str(name), int(end)) for agent, (name, end) in json.loads(cursor).items()}
    except (ValueError, TypeError, AttributeError):
        raise TeamError(Code.INVALID_FIELD, "the cursor is not one of ours", "Begin again without a cursor.") from None
