"""Which rows of a large table are read, and the indexes by which they are found, so that what is over costs nothing.

Read are the rows that are on their way or failed; of those that are over, the ones on which requests, rosters or a
sprint may rest, the newest, and one from and one to everybody who is named. A small table is read whole. What else is
over is counted, found by its id, and walked through by `Team.older`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from team_console.store.backends.sql.connection import Connection
from team_console.store.backends.sql.history import telling_lines
from team_console.store.backends.sql.schema import AUDIT, MESSAGES, NOTES, Shape
from team_console.store.model.message import Status
from team_console.store.protocol.kinds import KINDS, Family
from team_console.store.protocol.parsing import CARRIERS

LARGE = 2000
"""A table with more rows than this is read in part."""
NEWEST = 1000
"""So many of the rows that are over are read in any case."""
_CHUNK = 1000
_OVER = (str(Status.DELIVERED), str(Status.READ))
_PLAIN = frozenset({"handoff", "review", "notify", "collaborate", *CARRIERS})
TELLING_KINDS = frozenset(
    name for name, kind in KINDS.items() if name not in _PLAIN and kind.family is not Family.ROUTER
)
"""Kinds of which a message that is over still counts."""
_TELLING_WORDS = (
    *("request_id", "in_reply_to", "msg_type", "_request", "slave_batch"),
    *("AGENT_", "BATCH_", "_RE", "_ASSIGNMENT", "COURSE_", "CC_", "_CONFIRMED"),
    *(f"\\u00{digit}" for digit in "4567"),
)
"""One of these is in the payload of every message of such a kind that is carried in a text, and of every answer; the
last are letters hidden in escapes."""


def _literal(word: str, shape: Shape) -> str:
    """Return a word as a statement has it, whatever a server takes a backslash for (`standard_conforming_strings`)."""
    escaped = word.replace("\\", "\\\\")
    # guard: backslash-is-itself
    return f"E'{escaped}'" if shape.is_strict and escaped != word else f"'{word}'"


def _literals(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def over(shape: Shape) -> str:
    """Return the condition for rows that somebody has."""
    return f"{shape.status} IN ({_literals([word for word in _OVER if shape.can_hold(word)])})"


def live(shape: Shape) -> str:
    """Return the condition for all others."""
    some = _literals([word for word in _OVER if shape.can_hold(word)])
    return f"(status IS NULL OR {shape.status} NOT IN ({some}))"


def telling(shape: Shape) -> str:
    """Return the condition for rows on which requests, rosters or a sprint may rest."""
    parts = []
    if "message_type" in shape.types:
        parts.append(f"{shape.kind} IN ({_literals(sorted(TELLING_KINDS))})")
    if "payload" in shape.types:
        find = "strpos" if shape.is_strict else "instr"
        parts += [f"{find}({shape.payload}, {_literal(word, shape)}) > 0" for word in _TELLING_WORDS]
    return f"({' OR '.join(parts) or '1 = 0'})"


def indexes(shape: Shape) -> dict[str, str]:
    """Return name -> what it is of, for the indexes of `agent_message` that fit this table."""
    age = ", created_at" if "created_at" in shape.types else ""
    found = {
        "team_console_mail": f"(recipient, status{age})",
        "team_console_senders": f"(sender{age})",
        "team_console_groups": f"(status) WHERE {shape.is_group}",
        "team_console_live": f"(status) WHERE {live(shape)}",
        "team_console_telling": f"(status) WHERE {over(shape)} AND {telling(shape)}".replace(f"{MESSAGES}.", ""),
    }
    if shape.id != f"{MESSAGES}.message_id":  # numbers and UUIDs are looked for by their text
        found["team_console_ids"] = f"(({shape.id}))".replace(f"{MESSAGES}.", "")
    if age:
        found["team_console_newest"] = f"(created_at) WHERE {over(shape)}"
    if "message_type" in shape.types:
        found["team_console_kinds"] = "(message_type)"
    return found


def read_notes(shape: Shape) -> str:
    """Return the condition for notes of rows that were read although their table has no word for it."""
    return f"""{"strpos" if shape.is_strict else "instr"}(note, '"status":"read"') > 0"""


_MAY_NOT = ("42", "0A", "57014")
"""How the SQLSTATE begins of a refusal to make an index: no right, a type that cannot be in this one, or it takes
longer than a statement of this role may."""


def make_indexes(connection: Connection, shape: Shape) -> None:
    """Make those that are missing. Only the owner may index a table; without one everything works, if slower."""
    there = connection.indexes(MESSAGES) | connection.indexes(NOTES) | connection.indexes(AUDIT)
    wanted = {name: f"{MESSAGES} {of}" for name, of in indexes(shape).items()}
    wanted["team_console_read_notes"] = f"{NOTES} (message_id) WHERE {read_notes(shape)}"
    # guard: plain-lines-cost-nothing
    wanted["team_console_tells"] = f"{AUDIT} (seq) WHERE {telling_lines(connection)}"
    for name, of in wanted.items():
        if name in there:
            continue
        try:
            with connection.savepoint():
                connection.change(f"CREATE INDEX {name} ON {of}")
        except connection.error as error:
            if not str(getattr(error, "sqlstate", _MAY_NOT[0])).startswith(_MAY_NOT):
                raise


def is_large(connection: Connection) -> bool:
    """Return whether the table is read in part."""
    return connection.first(f"SELECT 1 FROM {MESSAGES} LIMIT 1 OFFSET {LARGE}") is not None


def window(connection: Connection, shape: Shape) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Yield the rows of a large table that are read, some hundred at a time."""
    yield from connection.chunks(_CHUNK, shape.rows(live(shape)))
    newest = " ORDER BY created_at DESC" if "created_at" in shape.types else ""
    there = connection.indexes(MESSAGES)
    finding = [
        f"SELECT message_id FROM {MESSAGES} WHERE {over(shape)} AND {telling(shape)}",
        f"SELECT message_id FROM {MESSAGES} WHERE {over(shape)}{newest} LIMIT {NEWEST}",
        _one_of_each("sender", newest) if "team_console_senders" in there else _one_of_all("sender"),
        _one_of_each("recipient", "") if "team_console_mail" in there else _one_of_all("recipient"),
    ]
    # In two steps: a server that joins them would rather read the whole table than believe that so few are wanted.
    ids = dict.fromkeys(message_id for some in finding for (message_id,) in connection.rows(some))
    for start in range(0, len(ids), _CHUNK):
        yield rows_of(connection, shape, [*ids][start : start + _CHUNK])


def rows_of(connection: Connection, shape: Shape, ids: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows with these ids, as the column has them."""
    return connection.rows_among(shape.rows(f"{MESSAGES}.message_id IN"), ids)


def _one_of_all(column: str) -> str:
    """Return the same where no index answers it: all rows are gone through once, by the database."""
    placed = f"SELECT message_id, row_number() OVER (PARTITION BY {column}) AS place FROM {MESSAGES}"
    return f"SELECT message_id FROM ({placed}) AS placed WHERE place = 1"


def _one_of_each(column: str, order: str) -> str:
    """Return the select of the id of one row, the first in this order, for each value of the column.

    Each next value is looked for behind the one before, so that an index answers it with as many steps as values.
    """
    following = f"SELECT {column} FROM {MESSAGES} WHERE {column} > names.name ORDER BY {column} LIMIT 1"
    return f"""
        WITH RECURSIVE names(name) AS (
            SELECT (SELECT {column} FROM {MESSAGES} ORDER BY {column} LIMIT 1)
            UNION ALL SELECT ({following}) FROM names WHERE names.name IS NOT NULL
        )
        SELECT (SELECT message_id FROM {MESSAGES} WHERE {column} = names.name{order} LIMIT 1)
        FROM names WHERE names.name IS NOT NULL
    """
