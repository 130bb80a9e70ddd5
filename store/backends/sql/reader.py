"""The rows as messages, kept between looks: only rows that changed are understood again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from store.backends.sql.dialect import Dialect, Progress
from store.backends.sql.rows import Entry, Row, read_row
from store.backends.sql.tables import MESSAGES, Shape
from store.message import Message
from store.team import Problem


@dataclass(frozen=True, slots=True)
class State:
    """All rows at one moment.

    Attributes:
        messages: In stored order.
        by_id: The same by id.
        number: Grows with every change seen.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    by_id: Mapping[str, Message] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    number: int = 0


class Reader:
    """Reads one database; safe to use from several threads. The same row gives the same message object."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.guard = threading.RLock()
        self._state = State()
        self._watermark: int | None = None
        self._known = False
        self._read_alone: dict[str, Entry] = {}

    def state(self, connection: Connection, shape: Shape, *, progress: Progress | None = None) -> State:
        """Everything as the connection sees it now. Hold `guard` from before the connection's view began."""
        with self.guard:
            since = self._watermark if self._known else None
            fetched = self._dialect.fetch(connection, shape, since=since, progress=progress)
            entries = self._merged(fetched.rows, complete=fetched.complete)
            if not fetched.complete and len(entries) != fetched.count:
                entries = self._without_deleted(connection, shape, entries)
            self._watermark, self._known = fetched.watermark, True
            self._keep(entries)
            return self._state

    def alone(self, rows: Iterable[Any]) -> list[Entry]:
        """Single rows, understood, or remembered when they are as they were."""
        with self.guard:
            return [self._entry(Row(*one), MESSAGES, remember=True) for one in rows]

    def forget(self) -> None:
        """Read everything anew next time: the database is another one."""
        with self.guard:
            self._watermark, self._known = None, False
            self._keep({})

    def _entry(self, row: Row, place: str, *, remember: bool = False) -> Entry:
        key = row.message_id if isinstance(row.message_id, str) else ""
        for known in (self._state.entries.get(key), self._read_alone.get(key)):
            if known is not None and known.row == row:
                return known
        entry = read_row(row, place=place)
        if remember and key:
            self._read_alone[key] = entry
        return entry

    def _merged(self, rows: Sequence[Any], *, complete: bool) -> dict[str, Entry]:
        entries = {} if complete else dict(self._state.entries)
        for number, one in enumerate(rows, start=1):
            row = Row(*one)
            place = f"{MESSAGES} row {number}"
            key = row.message_id if isinstance(row.message_id, str) and row.message_id else f"\0{number}"
            entries[key] = self._entry(row, place)
        return entries

    def _without_deleted(self, connection: Connection, shape: Shape, entries: dict[str, Entry]) -> dict[str, Entry]:
        there = set(connection.execute(select(shape.messages.c.message_id)).scalars())
        return {key: entry for key, entry in entries.items() if key in there}

    def _keep(self, entries: dict[str, Entry]) -> None:
        self._read_alone.clear()
        before = self._state
        pairs = zip(entries.values(), before.entries.values(), strict=False)
        if len(entries) == len(before.entries) and all(one is other for one, other in pairs):
            return
        messages = tuple(in_order(entries.values()))
        problems = tuple(problem for entry in entries.values() for problem in entry.problems)
        by_id = {one.message_id: one for one in messages}
        self._state = State(entries, messages, by_id, problems, before.number + 1)


def in_order(entries: Iterable[Entry]) -> list[Message]:
    """Rows of ours as they arrived; rows of other programs, of which nobody knows that, by age in between."""
    ours: list[tuple[int, Message]] = []
    others: list[Message] = []
    for entry in entries:
        if entry.message is None:
            continue
        if entry.arrival is None:
            others.append(entry.message)
        else:
            ours.append((entry.arrival, entry.message))
    ours.sort(key=lambda one: one[0])
    return _merge([message for _, message in ours], sorted(others, key=_age)) if others else [one for _, one in ours]


def _merge(ours: Sequence[Message], others: Sequence[Message]) -> list[Message]:
    merged: list[Message] = []
    waiting = iter(others)
    other = next(waiting, None)
    for message in ours:
        while other is not None and _age(other) < _age(message):
            merged.append(other)
            other = next(waiting, None)
        merged.append(message)
    if other is not None:
        merged += [other, *waiting]
    return merged


def _age(message: Message) -> str:
    return message.order[1]
