"""The rows as messages, kept between looks: only rows that changed are understood again.

A snapshot leaves out finished rows of a large table: those are counted by an index, and read a page at a time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.sql.connection import Connection, in_list
from team_console.store.backends.sql.history import archived_stretch, decode_cursor
from team_console.store.backends.sql.rows import DAMAGED_ENTRY, ROW_REFUSED, Row, RowEntry, read_row
from team_console.store.backends.sql.schema import ARCHIVE, MESSAGES, NOTES, Shape
from team_console.store.backends.sql.window import LARGE, finished_rows, is_large, read_notes, read_window
from team_console.store.contract.snapshot import FinishedCounts, Unacknowledged
from team_console.store.contract.team import MOST_COUNTED, Page, Progress
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status, addressees, nonempty
from team_console.store.model.names import spellings
from team_console.store.model.safe import first_of
from team_console.store.protocol.placed_message import when_created

_CHUNK = 1000
"""Rows that are fetched at once."""
_MOST_NAMED = 5
"""Messages that one problem names."""


class RowsState(Struct, frozen=True):
    """All rows at one moment.

    Attributes:
        entries: By id; rows without one by a key of their own.
        messages: In stored order.
        newest: The latest creation time of a message, or the last one that was known when there is none.
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
    """Return the time of creation as rows are sorted by it."""
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


def count_pushed(connection: Connection, shape: Shape, agent: str) -> int:
    """Count the messages delivered to this agent alone that it did not acknowledge, `MOST_COUNTED` at most."""
    some, values = in_list("name", spellings(agent))
    mine = f"SELECT 1 FROM {MESSAGES} WHERE recipient IN {some} AND {shape.status} = '{Status.DELIVERED}'"
    if _has_rows_read_by_note(connection, shape):
        mine += f" AND NOT {_noted_as_read(shape)}"
    return int(connection.scalar(f"SELECT count(*) FROM ({mine} LIMIT {MOST_COUNTED}) AS mine", values))


def count_finished(connection: Connection, shape: Shape) -> FinishedCounts:
    """Count the finished rows by status, and those that were only delivered by agent."""
    oldest = "min(created_at)" if "created_at" in shape.types else "NULL"
    rows = f"SELECT recipient, status, count(*), {oldest} FROM {MESSAGES} WHERE {finished_rows(shape)}"
    groups = connection.rows(f"{rows} GROUP BY recipient, status")
    noted = []
    if _has_rows_read_by_note(connection, shape):
        noted = connection.rows(f"{rows} AND {_noted_as_read(shape)} GROUP BY recipient, status")
    read = {str(recipient): int(count) for recipient, status, count, _ in noted if status == Status.DELIVERED}
    statuses: dict[str, int] = {}
    delivered: dict[str, Unacknowledged] = {}
    for recipient, status, count, at in groups:
        unread = int(count) - (read.get(str(recipient), 0) if status == Status.DELIVERED else 0)
        statuses[status] = statuses.get(status, 0) + unread
        statuses[str(Status.READ)] = statuses.get(str(Status.READ), 0) + int(count) - unread
        for name in addressees(str(recipient)) if status == Status.DELIVERED and unread else ():
            since = at if isinstance(at, datetime) else from_text(str(at or ""))
            since = since.astimezone() if since is not None and since.tzinfo is None else since
            before, earlier = delivered.get(name, Unacknowledged())
            moments = [moment for moment in (since, earlier) if moment is not None]
            delivered[name] = Unacknowledged(before + unread, min(moments, default=None))
    return FinishedCounts(nonempty(statuses), delivered)


def _has_rows_read_by_note(connection: Connection, shape: Shape) -> bool:
    """Return whether some rows were read although their table has no word for it."""
    return shape.has_ours and connection.first(f"SELECT 1 FROM {NOTES} WHERE {read_notes(shape)} LIMIT 1") is not None


def _noted_as_read(shape: Shape) -> str:
    """Return the SQL condition for rows that were read although their table has no word for it."""
    return f"{shape.id} IN (SELECT message_id FROM {NOTES} WHERE {read_notes(shape)})"


def older_page(connection: Connection, shape: Shape, reader: RowReader, *, cursor: str | None, limit: int) -> Page:
    """Return a stretch of archives and of finished rows of the table, newest first.

    The cursor says how far each of them was walked: the place of its last message, null before the first, empty behind
    the last.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    in_archive, in_table = (None, None) if cursor is None else decode_cursor(cursor, tuple[str | None, str | None])
    archived: list[tuple[str, Message | Problem]] = []
    if shape.has_ours and in_archive != "":
        archived = archived_stretch(connection, agent=None, behind=in_archive, limit=limit + 1)
    rows = [] if in_table == "" else _finished_after(connection, shape, reader, in_table, limit + 1)
    taken, problems = list[Message](), list[Problem]()
    archived_taken = finished_taken = 0
    while len(taken) < limit and (archived_taken < len(archived) or finished_taken < len(rows)):
        archived_next = archived[archived_taken][1] if archived_taken < len(archived) else None
        finished_next = rows[finished_taken][1] if finished_taken < len(rows) else None
        if isinstance(archived_next, Problem):
            problems.append(archived_next)
            archived_taken += 1
        elif isinstance(finished_next, Problem):
            problems.append(finished_next)
            finished_taken += 1
        elif archived_next is not None and (
            finished_next is None or when_created(finished_next) < when_created(archived_next)
        ):
            taken.append(archived_next)
            archived_taken += 1
        elif finished_next is not None:
            taken.append(finished_next)
            finished_taken += 1
    in_archive = _place_reached(archived, archived_taken, limit, in_archive)
    in_table = _place_reached(rows, finished_taken, limit, in_table)
    following = None if (in_archive, in_table) == ("", "") else json.dumps([in_archive, in_table])
    return Page(tuple(taken), following, tuple(problems))


def _place_reached(stretch: Sequence[tuple[str, object]], taken: int, limit: int, before: str | None) -> str | None:
    """Return the place of the last one that was taken, empty behind the last of all."""
    if taken == len(stretch) <= limit:
        return ""
    return stretch[taken - 1][0] if taken else before


def _finished_after(
    connection: Connection, shape: Shape, reader: RowReader, place: str | None, limit: int
) -> list[tuple[str, Message | Problem]]:
    """Return at most so many finished rows that are in no archive, newest first, each with its place.

    Of one that is no message, why: were it left out, a stretch of less than `limit` would look like the last. Rows
    without a time come last.
    """
    at, behind = (None, None) if place is None else decode_cursor(place, tuple[Any, str | None])
    found: list[tuple[Any, str]] = []
    if "created_at" in shape.types and (place is None or at is not None):
        found = _finished_ids_after(connection, shape, at, behind, limit)
        at = behind = None
    if len(found) < limit:
        found += _finished_ids_after(connection, shape, None, behind, limit - len(found), is_timed=False)
    rows = connection.rows_among(f"{shape.select_rows(f'{shape.id} IN')}", [message_id for _, message_id in found])
    read = {entry.row.message_id: entry.message or entry.problems[0] for entry in reader.read_rows(rows)}
    gone = "no row is found by its message_id"
    return [
        (json.dumps([at, key]), read.get(key) or Problem(DAMAGED_ENTRY, "error", key, gone, "Make it a text."))
        for at, key in found
    ]


def _finished_ids_after(
    connection: Connection, shape: Shape, at: Any, behind: str | None, limit: int, *, is_timed: bool = True
) -> list[tuple[Any, str]]:
    """Return creation time and id of finished rows behind a place, newest first; those without a time by id alone."""
    conditions, values = [finished_rows(shape), "message_id IS NOT NULL"], dict[str, Any](limit=limit)
    if shape.has_ours:
        conditions.append(f"NOT EXISTS (SELECT 1 FROM {ARCHIVE} WHERE {ARCHIVE}.message_id = {shape.id})")
    if is_timed:
        age, order = "CAST(created_at AS TEXT)" if shape.is_strict else "created_at", "created_at DESC, message_id DESC"
        conditions.append("created_at IS NOT NULL")
    else:
        age, order = "NULL", "message_id DESC"
        if "created_at" in shape.types:
            conditions.append("created_at IS NULL")
    if behind is not None:
        values["behind"] = behind
        named = f"CAST(:behind AS {shape.types['message_id']})" if shape.is_strict else ":behind"
        if is_timed:
            values["at"] = at
            moment = f"CAST(:at AS {shape.types['created_at']})" if shape.is_strict else ":at"
            conditions.append(f"(created_at, message_id) < ({moment}, {named})")
        else:
            conditions.append(f"message_id < {named}")
    wanted = f"SELECT {age}, {shape.id} FROM {MESSAGES} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT :limit"
    return [(moment, str(message_id)) for moment, message_id in connection.rows(wanted, values)]
