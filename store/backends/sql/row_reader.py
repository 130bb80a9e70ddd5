"""The rows as messages, kept between looks: only rows that changed are understood again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.dialect import Dialect, Fetched, Progress
from team_console.store.backends.sql.ordering import State, state_after
from team_console.store.backends.sql.rows import Row, RowEntry, read_row, row_key
from team_console.store.backends.sql.shape import Shape
from team_console.store.backends.sql.tables import ARCHIVE, MESSAGES
from team_console.store.model.problem import Problem


class RowReader:
    """Reads one database; safe to use from several threads. The same row gives the same message object."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.guard = threading.RLock()
        self._state = State()
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
                self._take(self._understood(fetched.rows))
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

    def _take(self, entries: Mapping[str, RowEntry]) -> None:
        """These are all rows now; an id that is not among them any more is asked for in the archives."""
        before = self._state.entries
        self._state = state_after(self._state, entries)
        self._gone.update(key for key in before.keys() - entries.keys() if not key.startswith("\0"))

    def _judge_gone(self, connection: Connection, shape: Shape) -> None:
        if shape.place:  # what another program did to one of several rows with an id cannot be told by the id
            self._gone.clear()
            return
        gone = sorted(missing for missing in self._gone | self._missing if missing not in self._state.entries)
        if self._gone and shape.has_ours:
            kept = connection.rows_among(f"SELECT message_id FROM {ARCHIVE} WHERE message_id IN", gone)
            self._gone.difference_update(message_id for (message_id,) in kept)
        known = self._gone | self._missing
        self._missing = frozenset(missing for missing in gone if missing in known)
        self._gone.clear()

    def _follow(self, connection: Connection, shape: Shape, fetched: Fetched) -> bool:
        """Take in what changed; False when the rows do not tell which ones they were before."""
        if not all(isinstance(row[0], str) and row[0] for row in fetched.rows):
            return False
        entries = {**self._state.entries, **self._understood(fetched.rows)}
        if len(entries) != fetched.count:
            there = set(connection.scalars(f"SELECT message_id FROM {MESSAGES}"))
            entries = {key: entry for key, entry in entries.items() if key in there}
        self._take(entries)
        return len(entries) == fetched.count

    def alone(self, rows: Iterable[Any]) -> list[RowEntry]:
        """Single rows, understood, or remembered when they are as they were."""
        with self.guard:
            entries = [self._entry(row, row_key(row), MESSAGES) for row in rows]
            self._read_alone.update({entry.key: entry for entry in entries if entry.key})
            return entries

    def forget(self) -> None:
        """Read everything anew next time: the database is another one."""
        with self.guard:
            self._watermark = None
            self._state = state_after(self._state, {})
            self._gone.clear()
            self._missing = frozenset()

    def _understood(self, rows: Iterable[Sequence[Any]]) -> dict[str, RowEntry]:
        """The rows by their keys; one without an id by where it stands."""
        entries = {}
        for number, row in enumerate(rows, start=1):
            key = row_key(row) or f"\0{number}"
            entries[key] = self._entry(row, key, f"{MESSAGES} row {number}")
        return entries

    def _entry(self, columns: Sequence[Any], key: str, place: str) -> RowEntry:
        """The row understood, or remembered when it is as it was."""
        for known in (self._state.entries.get(key), self._read_alone.get(key)):
            if known is not None and known.row == columns:
                return known
        return read_row(Row(*columns), place=place)


def _doubles(rows: Iterable[Sequence[Any]]) -> tuple[Problem, ...]:
    """Ids that several rows have, in a table that allows it."""
    counts = Counter(row[0] for row in rows if isinstance(row[0], str))
    hint = "Give the others ids of their own; until then only the last is shown, and none is changed."
    return tuple(
        Problem("DUPLICATE_ID", "error", message_id, f"{count} rows of {MESSAGES} have this message_id", hint)
        for message_id, count in counts.items()
        if count > 1
    )
