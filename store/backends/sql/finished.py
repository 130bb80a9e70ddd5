"""Finished rows of a large table, which a snapshot leaves out: counted by an index, and read a page at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from team_console.store.backends.sql.connection import Connection, in_list
from team_console.store.backends.sql.history import archived_stretch, decode_cursor
from team_console.store.backends.sql.row_reader import RowReader
from team_console.store.backends.sql.schema import ARCHIVE, MESSAGES, NOTES, Shape
from team_console.store.backends.sql.window import finished_rows, read_notes
from team_console.store.contract.snapshot import FinishedCounts, Unacknowledged
from team_console.store.contract.team import MOST_COUNTED, Page
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status, addressees, nonempty
from team_console.store.model.names import spellings
from team_console.store.protocol.placed_message import when_created


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
) -> list[tuple[str, Message]]:
    """Return at most so many finished messages that are in no archive, newest first, each with its place.

    Rows without a time come last.
    """
    at, behind = (None, None) if place is None else decode_cursor(place, tuple[Any, str | None])
    found: list[tuple[Any, str]] = []
    if "created_at" in shape.types and (place is None or at is not None):
        found = _finished_ids_after(connection, shape, at, behind, limit)
        at = behind = None
    if len(found) < limit:
        found += _finished_ids_after(connection, shape, None, behind, limit - len(found), is_timed=False)
    rows = connection.rows_among(f"{shape.select_rows(f'{shape.id} IN')}", [message_id for _, message_id in found])
    entries = {entry.row.message_id: entry.message for entry in reader.read_rows(rows)}
    messages = ((json.dumps([at, message_id]), entries.get(message_id)) for at, message_id in found)
    return [(place, message) for place, message in messages if message is not None]


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
