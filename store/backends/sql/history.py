"""What is over: archived messages, and of a large table its finished rows, read a page at a time and counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from team_console.store.backends.sql.connection import Connection, Values, in_list
from team_console.store.backends.sql.row_reader import RowReader, finished_rows, read_notes
from team_console.store.backends.sql.rows import DAMAGED_ENTRY, column_text, dump, json_object_in, storable
from team_console.store.backends.sql.schema import ARCHIVE, LARGEST_NUMBER, MESSAGES, NOTES, Shape
from team_console.store.contract.snapshot import FinishedCounts, Unacknowledged
from team_console.store.contract.team import MOST_COUNTED, Page
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message, Status, addressees, by_id, from_record, nonempty
from team_console.store.model.names import spellings
from team_console.store.protocol.placed_message import when_created

PlacesT = TypeVar("PlacesT")


def archived_row(agent: str, message: Message, *, n: int) -> FieldDict:
    """Return the archive row of a message."""
    moment = message.created_at
    return {
        "n": n,
        "agent": agent,
        "message_id": message.message_id,
        "request_id": None if message.request_id is None else storable(message.request_id),
        "created": "" if moment is None else to_text(moment),
        "record": dump(dict(message.record)),
    }


def archived_messages(connection: Connection, condition: str, values: Values) -> list[Message]:
    """Return the archived messages that fit a SQL condition, each id once, in the order they were archived."""
    rows = connection.rows(f"SELECT record FROM {ARCHIVE} WHERE {condition} ORDER BY n", values)
    found = [message for (text,) in rows if (message := parse_archived(text)) is not None]
    return list(by_id(found).values())


def archive_page(connection: Connection, *, agent: str | None, cursor: str | None, limit: int) -> Page:
    """Return a stretch of history, newest first; the cursor is the place of its last message.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    rows = archived_stretch(connection, agent=agent, behind=cursor, limit=limit + 1)
    read = [row for _, row in rows[:limit]]
    messages = tuple(row for row in read if isinstance(row, Message))
    problems = tuple(row for row in read if isinstance(row, Problem))
    return Page(messages, rows[limit - 1][0] if len(rows) > limit else None, problems)


def archived_stretch(
    connection: Connection, *, agent: str | None, behind: str | None, limit: int
) -> list[tuple[str, Message | Problem]]:
    """Return at most so many archived messages, newest first, each with its place; a problem for a row that is none.

    Of one moment, what was archived last comes first; of a message in several archives its last row counts.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no place.
    """
    values: dict[str, Any] = {"limit": limit}
    if agent is not None:
        conditions, values["agent"] = ["agent = :agent"], agent
    else:
        same = "later.created = row.created AND later.message_id = row.message_id"
        conditions = [f"NOT EXISTS (SELECT 1 FROM {ARCHIVE} AS later WHERE {same} AND later.n > row.n)"]
    if behind is not None:
        conditions.append("(created, n) < (:created, :n)")
        values["created"], values["n"] = decode_cursor(behind, tuple[str, float | int])
    wanted = f"""
        SELECT created, n, message_id, record FROM {ARCHIVE} AS row WHERE {" AND ".join(conditions)}
        ORDER BY created DESC, n DESC LIMIT :limit
    """
    found: list[tuple[str, Message | Problem]] = []
    for created, n, message_id, record in connection.rows(wanted, values):
        text = f"archive row {n} is no message"
        damage = Problem("DAMAGED_ARCHIVE", "warning", message_id, text, "Look at the row by hand.")
        place = json.dumps([column_text(created), n if isinstance(n, int | float) else LARGEST_NUMBER])
        found.append((place, parse_archived(record) or damage))
    return found


def decode_cursor(cursor: str, sort: type[PlacesT]) -> PlacesT:
    """Return the two places that a cursor holds, as a tuple of this type.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    try:
        return msgspec.json.decode(cursor, type=sort)
    except (msgspec.MsgspecError, ValueError) as error:
        text = f"cursor {cursor!r} is not one of this team"
        raise TeamError(Code.INVALID_FIELD, text, "Begin at the newest page.") from error


def parse_archived(text: object) -> Message | None:
    """Return the archived message that `text` holds, None when it holds none."""
    try:
        record = json_object_in(text)
        return from_record(record) if record else None
    except ValueError:
        return None


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
