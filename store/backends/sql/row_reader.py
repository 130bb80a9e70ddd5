"""The rows as messages, kept between looks: only rows that changed are understood again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.sql.connection import Connection
from team_console.store.backends.sql.rows import ROW_REFUSED, Row, RowEntry, read_row
from team_console.store.backends.sql.schema import ARCHIVE, MESSAGES, Shape
from team_console.store.backends.sql.window import LARGE, is_large, read_window
from team_console.store.contract.team import Progress
from team_console.store.model.counted import first_of
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message

_CHUNK = 1000
"""Rows that are fetched at once."""
_MOST_NAMED = 5
"""Messages that one problem names."""


class RowsState(Struct, frozen=True):
    """All rows at one moment.

    Attributes:
        entries: By id; rows without one by a key of their own.
        messages: In stored order.
        newest: The latest creation time ever seen.
        number: Grows with every change seen.
    """

    entries: Mapping[str, RowEntry] = {}
    messages: tuple[Message, ...] = ()
    problems: tuple[Problem, ...] = ()
    newest: str = ""
    number: int = 0


def messages_in_order(entries: Iterable[RowEntry]) -> list[Message]:
    """Return every message, rows of other programs merged between ours by age, those of one moment as they came."""
    ours: list[tuple[int, Message]] = []
    others: list[tuple[str, int, Message]] = []
    for entry in entries:
        if entry.message is not None and entry.arrival is not None:
            ours.append((entry.arrival, entry.message))
        elif entry.message is not None:
            others.append((_created_text(entry.message), entry.row.place or 0, entry.message))
    ours.sort(key=lambda entry: entry[0])
    # guard: rows-of-one-moment-as-they-came
    others.sort(key=lambda entry: entry[:2])
    merged = [message for _, message in ours]
    if others:
        # Of ours and theirs with one moment ours comes first; ours keep their order, whatever their clocks said.
        merged = list(merge(merged, [message for _, _, message in others], key=_created_text))
    return merged


def _merge_refusals(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems, of rows that the table refuses for one reason one for all."""
    found: list[Problem] = []
    refused: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.code == ROW_REFUSED:
            refused.setdefault(problem.message, []).append(problem)
        else:
            found.append(problem)
    for why, alike in refused.items():
        names = first_of([problem.place for problem in alike], _MOST_NAMED)
        text = why if len(alike) == 1 else f"{names}: {why}"
        found.append(replace(alike[0], message=text))
    return tuple(found)


def _created_text(message: Message) -> str:
    return message.order_by()[1]


class RowReader:
    """Reads one database; safe to use from several threads. The same row gives the same message object.

    Attributes:
        is_whole: Whether all of a large table is read, too.
        reworded: Ids of messages that say something else than when they were written, of the rows read so far.
        missing: Ids of rows seen earlier that are gone though no archive has them; ours are archived before they go.
    """

    def __init__(self, *, is_whole: bool = False) -> None:
        self.is_whole = is_whole
        self.guard = threading.RLock()
        self._state = RowsState()
        self._remembered: dict[str, RowEntry] = {}
        self.reworded: set[str] = set()
        self.missing: frozenset[str] = frozenset()

    def state(self, connection: Connection, shape: Shape, *, progress: Progress | None = None) -> RowsState:
        """Return what is read of the table as the connection sees it now.

        Hold `guard` from before the connection's view began.

        Raises:
            InterruptedError: `progress` said to stop.
        """
        with self.guard:
            before, entries = self._state.entries, dict[str, RowEntry]()
            for number, row in enumerate(_fetch_rows(connection, shape, progress, whole=self.is_whole), start=1):
                key = row[0] if isinstance(row[0], str) and row[0] else f"\0{number}"
                if key in entries:
                    continue
                entries[key] = self._entry(row, key, f"{MESSAGES} row {number}")
            if before.keys() != entries.keys() or any(before[key] is not entry for key, entry in entries.items()):
                messages = messages_in_order(entries.values())
                self._state = RowsState(
                    entries,
                    tuple(messages),
                    _merge_refusals(problem for entry in entries.values() for problem in entry.problems),
                    max(map(_created_text, messages), default="") or self._state.newest,
                    self._state.number + 1,
                )
            self._remembered = dict(entries)
            gone = {key for key in before.keys() - entries.keys() if not key.startswith("\0")}
            _drop_found(connection, shape, gone)
            self.missing = (self.missing | gone) - entries.keys()
            return self._state

    def read_rows(self, rows: Iterable[Any]) -> list[RowEntry]:
        """Return single rows understood, or remembered when they are as they were."""
        with self.guard:
            entries = [self._entry(row, row[0], MESSAGES) for row in rows]
            self._remembered.update({entry.row.message_id: entry for entry in entries if entry.message is not None})
            return entries

    def _entry(self, columns: Sequence[Any], key: str, place: str) -> RowEntry:
        """Return the row understood, or remembered when it is as it was."""
        known = self._remembered.get(key)
        if known is not None and known.row == columns:
            return known
        entry = read_row(Row(*columns), place=place)
        (self.reworded.add if entry.changed else self.reworded.discard)(key)
        return entry


def _drop_found(connection: Connection, shape: Shape, gone: set[str]) -> None:
    """Take from these ids those that are in the table, of which only a part may be read, and those in archives."""
    if gone:
        stored = connection.rows_among(f"SELECT {shape.id} FROM {MESSAGES} WHERE {shape.id} IN", sorted(gone))
        gone.difference_update(message_id for (message_id,) in stored)
    if gone and shape.has_ours:
        archived = connection.rows_among(f"SELECT message_id FROM {ARCHIVE} WHERE message_id IN", sorted(gone))
        gone.difference_update(message_id for (message_id,) in archived)


def _fetch_rows(connection: Connection, shape: Shape, progress: Progress | None, *, whole: bool) -> Iterator[Any]:
    """Yield the rows, with the notes beside them; of a large table those of its `read_window`."""
    in_part = not whole and is_large(connection)
    if in_part:
        total = LARGE
    elif progress:
        total = connection.scalar(f"SELECT count(*) FROM {MESSAGES}")
    else:
        total = 0
    read = 0
    for chunk in read_window(connection, shape) if in_part else connection.chunks(_CHUNK, shape.select_rows()):
        yield from chunk
        read += len(chunk)
        if progress is not None and not progress(read, total):
            raise InterruptedError
