"""The rows as messages, kept between looks: only rows that changed are understood again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection, select
from team_console.store.backends.sql.engines.dialect import Dialect, Fetched, Progress
from team_console.store.backends.sql.ordering import RowDelta, State, after
from team_console.store.backends.sql.rows import Row, RowEntry, read_row
from team_console.store.backends.sql.tables import ARCHIVE, MESSAGES, Shape
from team_console.store.model.problem import Problem

_SOME = 500
"""So many ids are asked for at once."""


class _Rows(Struct):
    """A whole table as read last, row by row."""

    rows: Sequence[tuple[Any, ...]] = ()
    entries: list[RowEntry] = field(default_factory=list)


class RowReader:
    """Reads one database; safe to use from several threads. The same row gives the same message object."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.guard = threading.RLock()
        self._state = State()
        self._whole = _Rows()
        self._watermark: object | None = None
        self._doubles: tuple[Problem, ...] = ()
        self._read_alone: dict[str, RowEntry] = {}
        self._gone: set[str] = set()
        self._missing: frozenset[str] = frozenset()

    def state(self, connection: Connection, shape: Shape, *, progress: Progress | None = None) -> State:
        """Everything as the connection sees it now. Hold `guard` from before the connection's view began."""
        with self.guard:
            since = None if self._doubles or shape.place else self._watermark
            fetched = self._dialect.fetch(connection, shape, since=since, progress=progress)
            if not fetched.complete and not self._follow(connection, shape, fetched):
                fetched = self._dialect.fetch(connection, shape, since=None, progress=progress)
            if fetched.complete:
                self._take(self._change(fetched, shape))
                self._doubles = _doubles(fetched.rows) if len(self._state.entries) != len(fetched.rows) else ()
            self._watermark = fetched.watermark
            self._read_alone.clear()
            self._judge_gone(connection, shape)
            if not self._doubles:
                return self._state
            return replace(self._state, problems=(*self._state.problems, *self._doubles))

    @property
    def missing(self) -> frozenset[str]:
        """Ids of rows seen earlier that are gone though no archive has them; ours are archived before they go."""
        return self._missing

    def _take(self, change: RowDelta) -> None:
        self._state = after(self._state, change)
        self._gone.update(entry.key for entry in change.removed if entry.key and entry.key not in self._state.entries)

    def _judge_gone(self, connection: Connection, shape: Shape) -> None:
        if shape.place:  # what another program did to one of several rows with an id cannot be told by the id
            self._gone.clear()
            return
        gone = sorted(missing for missing in self._gone | self._missing if missing not in self._state.entries)
        if self._gone and shape.has_ours:
            for start in range(0, len(gone), _SOME):
                asked = ARCHIVE.c.message_id.in_(gone[start : start + _SOME])
                self._gone.difference_update(connection.execute(select(ARCHIVE.c.message_id).where(asked)).scalars())
        known = self._gone | self._missing
        self._missing = frozenset(missing for missing in gone if missing in known)
        self._gone.clear()

    def _follow(self, connection: Connection, shape: Shape, fetched: Fetched) -> bool:
        """Take in what changed; False when the rows do not tell which ones they were before."""
        if not all(isinstance(row[0], str) and row[0] for row in fetched.rows):
            return False
        self._take(self._changed(fetched.rows))
        if len(self._state.entries) != fetched.count:
            self._take(self._deleted(connection, shape))
        return len(self._state.entries) == fetched.count

    def _change(self, fetched: Fetched, shape: Shape) -> RowDelta:
        """What a look at everything tells."""
        first = bool(shape.place) or (self._watermark is None and not self._doubles)
        return self._compared(fetched.rows) if first else self._anew(fetched.rows)

    def alone(self, rows: Iterable[Any]) -> list[RowEntry]:
        """Single rows, understood, or remembered when they are as they were."""
        with self.guard:
            entries = [self._entry(tuple(row), MESSAGES) for row in rows]
            self._read_alone.update({entry.key: entry for entry in entries if entry.key})
            return entries

    def forget(self) -> None:
        """Read everything anew next time: the database is another one."""
        with self.guard:
            self._watermark = None
            self._whole = _Rows()
            self._state = after(self._state, RowDelta(removed=list(self._state.entries.values())))
            self._gone.clear()
            self._missing = frozenset()

    def _compared(self, rows: Sequence[tuple[Any, ...]]) -> RowDelta:
        """What is different in the whole table: rows between its common head and its common tail."""
        before = self._whole
        head = _common(before.rows, rows)
        rest = min(len(before.rows), len(rows)) - head
        tail = _common(before.rows[::-1][:rest], rows[::-1][:rest])
        old = before.entries[head : len(before.entries) - tail]
        new = [
            self._entry(tuple(row), f"{MESSAGES} row {number}")
            for number, row in enumerate(rows[head : len(rows) - tail], start=head + 1)
        ]
        self._whole = _Rows(rows, [*before.entries[:head], *new, *before.entries[len(before.entries) - tail :]])
        kept = {id(entry) for entry in new}
        known = {id(entry) for entry in old}
        return RowDelta(
            [entry for entry in new if id(entry) not in known], [entry for entry in old if id(entry) not in kept]
        )

    def _anew(self, rows: Sequence[tuple[Any, ...]]) -> RowDelta:
        """Everything, after a time in which only changes were read, or where an id does not tell which row is meant."""
        entries = [self._entry(tuple(row), f"{MESSAGES} row {number}") for number, row in enumerate(rows, start=1)]
        self._whole = _Rows(rows, entries)
        return RowDelta(entries, list(self._state.entries.values()))

    def _changed(self, rows: Sequence[Any]) -> RowDelta:
        entries = [self._entry(tuple(row), f"{MESSAGES} row {number}") for number, row in enumerate(rows, start=1)]
        known = self._state.entries
        changed = [entry for entry in entries if known.get(entry.key) is not entry]
        return RowDelta(changed, [old for entry in changed if (old := known.get(entry.key)) is not None])

    def _deleted(self, connection: Connection, shape: Shape) -> RowDelta:
        there = set(connection.execute(select(shape.messages.c.message_id)).scalars())
        return RowDelta(removed=[entry for key, entry in self._state.entries.items() if key not in there])

    def _entry(self, columns: tuple[Any, ...], place: str) -> RowEntry:
        row = Row(*columns)
        key = RowEntry(row, None, None).key
        for known in (self._state.entries.get(key), self._read_alone.get(key)):
            if known is not None and known.row == row:
                return known
        return read_row(row, place=place)


def _doubles(rows: Iterable[Sequence[Any]]) -> tuple[Problem, ...]:
    """Ids that several rows have, in a table that allows it."""
    counts = Counter(row[0] for row in rows if isinstance(row[0], str))
    hint = "Give the others ids of their own; until then only the last is shown, and none is changed."
    return tuple(
        Problem("DUPLICATE_ID", "error", message_id, f"{count} rows of {MESSAGES} have this message_id", hint)
        for message_id, count in counts.items()
        if count > 1
    )


def _common(sequence: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items at the beginning are equal."""
    number = 0
    for a, b in zip(sequence, other, strict=False):
        if a != b:
            return number
        number += 1
    return number
