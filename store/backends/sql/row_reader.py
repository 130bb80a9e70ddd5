"""The rows as messages, kept between looks: only rows that changed are understood again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from team_console.store.backends.sql.connection import Connection
from team_console.store.backends.sql.rows import Row, RowEntry, read_row
from team_console.store.backends.sql.schema import ARCHIVE, MESSAGES, Dialect, Fetched, Progress, Shape
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message


class RowsState(Struct, frozen=True):
    """All rows at one moment.

    Attributes:
        entries: By id; rows without one by a key of their own.
        messages: In stored order.
        by_id: The same by id; of several with one id the last.
        newest: The latest creation time ever seen.
        number: Grows with every change seen.
    """

    entries: Mapping[str, RowEntry] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    by_id: Mapping[str, Message] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    newest: str = ""
    number: int = 0


def state_after(before: RowsState, entries: Mapping[str, RowEntry]) -> RowsState:
    """The state of these rows; `before` itself when they are the same."""
    known = before.entries
    if len(known) == len(entries) and all(known.get(key) is entry for key, entry in entries.items()):
        return before
    messages = in_order(entries.values())
    return RowsState(
        entries=entries,
        messages=tuple(messages),
        by_id={message.message_id: message for message in messages},
        problems=tuple(problem for entry in entries.values() for problem in entry.problems),
        newest=max(map(_age, messages), default="") or before.newest,
        number=before.number + 1,
    )


def in_order(entries: Iterable[RowEntry]) -> list[Message]:
    """Every message, rows of other programs merged between ours by age."""
    ours: list[tuple[int, Message]] = []
    others: list[Message] = []
    for entry in entries:
        if entry.message is not None and entry.arrival is not None:
            ours.append((entry.arrival, entry.message))
        elif entry.message is not None:
            others.append(entry.message)
    ours.sort(key=lambda entry: entry[0])
    others.sort(key=_age)
    return _merge([message for _, message in ours], others) if others else [message for _, message in ours]


def _merge(ours: Sequence[Message], others: Sequence[Message]) -> list[Message]:
    merged: list[Message] = []
    waiting = iter(others)
    other = next(waiting, None)
    for message in ours:
        while other is not None and _age(other) < _age(message):
            merged.append(other)
            other = next(waiting, None)
        merged.append(message)
    return merged if other is None else [*merged, other, *waiting]


def _age(message: Message) -> str:
    return message.order[1]


class RowReader:
    """Reads one database; safe to use from several threads. The same row gives the same message object."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.guard = threading.RLock()
        self._state = RowsState()
        self._watermark: object | None = None
        self._read_alone: dict[str, RowEntry] = {}
        self._gone: set[str] = set()
        self._missing: frozenset[str] = frozenset()

    def state(self, connection: Connection, shape: Shape, *, progress: Progress | None = None) -> RowsState:
        """Everything as the connection sees it now. Hold `guard` from before the connection's view began."""
        with self.guard:
            fetched = self._dialect.fetch(connection, shape, since=self._watermark, progress=progress)
            if not fetched.complete and not self._follow(connection, shape, fetched):
                fetched = self._dialect.fetch(connection, shape, since=None, progress=progress)
            if fetched.complete:
                self._take(self._understood(fetched.rows))
            self._watermark = fetched.watermark
            self._read_alone.clear()
            self._judge_gone(connection, shape)
            return self._state

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
            there = set(connection.scalars(f"SELECT {shape.id} FROM {MESSAGES}"))
            entries = {key: entry for key, entry in entries.items() if key in there}
        self._take(entries)
        return len(entries) == fetched.count

    def alone(self, rows: Iterable[Any]) -> list[RowEntry]:
        """Single rows, understood, or remembered when they are as they were."""
        with self.guard:
            entries = [self._entry(row, row[0], MESSAGES) for row in rows]
            self._read_alone.update({entry.row.message_id: entry for entry in entries if entry.message is not None})
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
            key = row[0] if isinstance(row[0], str) and row[0] else f"\0{number}"
            entries[key] = self._entry(row, key, f"{MESSAGES} row {number}")
        return entries

    def _entry(self, columns: Sequence[Any], key: str, place: str) -> RowEntry:
        """The row understood, or remembered when it is as it was."""
        for known in (self._state.entries.get(key), self._read_alone.get(key)):
            if known is not None and known.row == columns:
                return known
        return read_row(Row(*columns), place=place)
