"""What is over: archived messages, and of a large table its finished rows, read a page at a time and counted."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
from team_console.store.backends.sql.audit_trail import counting_lines
from team_console.store.backends.sql.connection import Connection, Values, in_list
from team_console.store.backends.sql.row_reader import RowReader, finished_rows, read_notes
from team_console.store.backends.sql.rows import DAMAGED_ENTRY, column_text, dump, json_object_in, storable
from team_console.store.backends.sql.schema import ARCHIVE, AUDIT, LARGEST_NUMBER, MESSAGES, NOTES, Shape
from team_console.store.contract.snapshot import ARCHIVE_LOST, FinishedCounts, Unacknowledged
from team_console.store.contract.team import MOST_COUNTED, Page
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message, Status, addressees, by_id, from_record, nonempty
from team_console.store.model.names import spellings
from team_console.store.model.recorded_facts import ROWS_AFTER
from team_console.store.model.safe import counted
from team_console.store.protocol.placed_message import when_created

PlacesT = TypeVar("PlacesT")


class Placed(NamedTuple):
    """A message of the past, or why a row is none, and its place, which is the cursor of what is older."""

    place: str
    row: Message | Problem


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


_COUNTED_AT_ONCE = 10_000
"""So many rows of the archive are counted when somebody looks at history; only `check` counts more."""


def count_rows(connection: Connection) -> int:
    """Count the rows of the archive; the time that takes grows with them."""
    return int(connection.scalar(f"SELECT count(*) FROM {ARCHIVE}"))


def rows_on_record(connection: Connection) -> int | None:
    """Return how many rows of the archive are on record; None where only earlier versions wrote, or deleted some."""
    newest = f"SELECT facts FROM {AUDIT} WHERE {counting_lines(connection)} ORDER BY seq DESC LIMIT 1"
    rows = json_object_in(connection.scalar(newest)).get(ROWS_AFTER)
    return rows if isinstance(rows, int) else None


def find_lost_rows(connection: Connection, shape: Shape, *, counts_many: bool = False) -> tuple[Problem, ...]:
    """Return the finding that the archive has fewer rows than are on record, of one that is looked at in this way.

    Nothing where a policy hides rows: then nobody knows how many there are.
    """
    expected = rows_on_record(connection) if shape.has_ours and not shape.hides_rows else None
    if expected is None or counts_many is not (expected > _COUNTED_AT_ONCE):
        return ()
    # guard: lost-rows-of-an-archive-told
    if (count := count_rows(connection)) >= expected:
        return ()
    text = f"the archive has {counted(count, 'row')}, and {expected:,} were put into it (told by {AUDIT})"
    hint = "Restore it from a copy; until then history shows only what is left."
    return (Problem(ARCHIVE_LOST, "error", ARCHIVE, text, hint),)


def archive_page(connection: Connection, shape: Shape, *, agent: str | None, cursor: str | None, limit: int) -> Page:
    """Return a stretch of history, newest first; the cursor is the place of its last message.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    rows = archived_stretch(connection, agent=agent, behind=cursor, limit=limit + 1)
    read = [placed.row for placed in rows[:limit]]
    messages = tuple(row for row in read if isinstance(row, Message))
    lost = find_lost_rows(connection, shape) if cursor is None else ()
    problems = (*(row for row in read if isinstance(row, Problem)), *lost)
    return Page(messages, rows[limit - 1].place if len(rows) > limit else None, problems)


def archived_stretch(connection: Connection, *, agent: str | None, behind: str | None, limit: int) -> list[Placed]:
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
    found: list[Placed] = []
    for created, n, message_id, record in connection.rows(wanted, values):
        text = f"archive row {n} is no message"
        damage = Problem("DAMAGED_ARCHIVE", "warning", message_id, text, "Look at the row by hand.")
        place = json.dumps([column_text(created), n if isinstance(n, int | float) else LARGEST_NUMBER])
        found.append(Placed(place, parse_archived(record) or damage))
    return found


def decode_cursor(cursor: str, places: type[PlacesT]) -> PlacesT:
    """Return what a cursor holds, a tuple of this type.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    try:
        return msgspec.json.decode(cursor, type=places)
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
    read_by_note = {str(recipient): int(count) for recipient, status, count, _ in noted if status == Status.DELIVERED}
    statuses = Counter[str]()
    delivered: dict[str, Unacknowledged] = {}
    for recipient, status, count, oldest_at in groups:
        is_delivered = status == Status.DELIVERED
        count_read = read_by_note.get(str(recipient), 0) if is_delivered else 0
        count_left = int(count) - count_read
        statuses[status] += count_left
        statuses[str(Status.READ)] += count_read
        for name in addressees(str(recipient)) if is_delivered and count_left else ():
            since = oldest_at if isinstance(oldest_at, datetime) else from_text(str(oldest_at or ""))
            since = since.astimezone() if since is not None and since.tzinfo is None else since
            before, earlier = delivered.get(name, Unacknowledged())
            moments = [moment for moment in (since, earlier) if moment is not None]
            delivered[name] = Unacknowledged(before + count_left, min(moments, default=None))
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
    # One more of each than a page has: a stretch that is no longer than a page is the last.
    archived, finished = deque[Placed](), deque[Placed]()
    if shape.has_ours and in_archive != "":
        archived.extend(archived_stretch(connection, agent=None, behind=in_archive, limit=limit + 1))
    if in_table != "":
        finished.extend(_finished_after(connection, shape, reader, in_table, limit + 1))
    is_last_archived, is_last_finished = len(archived) <= limit, len(finished) <= limit
    taken, problems = list[Message](), list[Problem]()
    while len(taken) < limit and (archived or finished):
        if _comes_first(archived, finished):
            in_archive, row = archived.popleft()
        else:
            in_table, row = finished.popleft()
        if isinstance(row, Problem):
            problems.append(row)
        else:
            taken.append(row)
    if is_last_archived and not archived:
        in_archive = ""
    if is_last_finished and not finished:
        in_table = ""
    following = None if in_archive == in_table == "" else json.dumps([in_archive, in_table])
    return Page(tuple(taken), following, tuple(problems))


def _comes_first(some: Sequence[Placed], others: Sequence[Placed]) -> bool:
    """Return whether the first of `some` comes before that of the `others`: a problem at once, else what is newer."""
    if not some or not others:
        return bool(some)
    row, other = some[0].row, others[0].row
    if isinstance(row, Problem) or isinstance(other, Problem):
        return isinstance(row, Problem)
    return when_created(other) < when_created(row)


def _finished_after(
    connection: Connection, shape: Shape, reader: RowReader, place: str | None, limit: int
) -> list[Placed]:
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
        Placed(json.dumps([at, key]), read.get(key) or Problem(DAMAGED_ENTRY, "error", key, gone, "Make it a text."))
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
