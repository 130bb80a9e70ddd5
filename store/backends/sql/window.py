"""Which rows of a large table are read, and the indexes that find them, so that finished rows cost nothing.

A row is finished once it is delivered or read. Read are all others; of the finished ones those on which requests,
rosters or a sprint may rest (facts), the newest, and one from and one to everybody who is named. A small table is read
whole. Other finished rows are counted, found by their id, and read page by page with `Team.older`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from team_console.store.backends.sql.connection import Connection
from team_console.store.backends.sql.history import telling_lines
from team_console.store.backends.sql.schema import AUDIT, MESSAGES, NOTES, Shape
from team_console.store.model.message import Status
from team_console.store.protocol.kinds import KINDS, Family
from team_console.store.protocol.sprint_in_text import CARRIERS

LARGE = 2000
"""A table with more rows than this is read in part."""
NEWEST = 1000
"""So many of the newest finished rows are read in any case."""
_ROWS_AT_ONCE = 1000
"""Rows that one statement gives or asks for."""
_FINISHED = (str(Status.DELIVERED), str(Status.READ))
_WITHOUT_FACTS = frozenset({"handoff", "review", "notify", "collaborate", *CARRIERS})
"""Kinds on which nothing rests but by what is carried in their text (`_FACT_WORDS`)."""
FACT_KINDS = frozenset(
    name for name, kind in KINDS.items() if name not in _WITHOUT_FACTS and kind.family is not Family.ROUTER
)
"""Kinds of which a finished message still counts."""
_FACT_WORDS = (
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


def _literal_list(words: Sequence[str]) -> str:
    """Return plain words as a list of SQL texts, for behind IN."""
    return ", ".join(f"'{word}'" for word in words)


def finished_rows(shape: Shape) -> str:
    """Return the SQL condition for rows that are delivered or read."""
    return f"{shape.status} IN ({_literal_list([word for word in _FINISHED if shape.can_hold(word)])})"


def unfinished_rows(shape: Shape) -> str:
    """Return the SQL condition for all rows but `finished_rows`."""
    some = _literal_list([word for word in _FINISHED if shape.can_hold(word)])
    return f"(status IS NULL OR {shape.status} NOT IN ({some}))"


def fact_rows(shape: Shape) -> str:
    """Return the SQL condition for rows on which requests, rosters or a sprint may rest."""
    parts = []
    if "message_type" in shape.types:
        parts.append(f"{shape.kind} IN ({_literal_list(sorted(FACT_KINDS))})")
    if "payload" in shape.types:
        find = "strpos" if shape.is_strict else "instr"
        parts += [f"{find}({shape.payload_text}, {_literal(word, shape)}) > 0" for word in _FACT_WORDS]
    return f"({' OR '.join(parts) or '1 = 0'})"


def wanted_indexes(shape: Shape) -> dict[str, str]:
    """Return name -> what it is of, for the indexes of `agent_message` that fit this table."""
    age = ", created_at" if "created_at" in shape.types else ""
    facts = fact_rows(shape).replace(f"{MESSAGES}.", "")
    found = {
        "team_console_mail": f"(recipient, status{age})",
        "team_console_senders": f"(sender{age})",
        "team_console_groups": f"(status) WHERE {shape.group_condition}",
        "team_console_live": f"(status) WHERE {unfinished_rows(shape)}",
        "team_console_telling": f"(status) WHERE {finished_rows(shape)} AND {facts}",
    }
    if shape.id != f"{MESSAGES}.message_id":  # numbers and UUIDs are looked for by their text
        found["team_console_ids"] = f"(({shape.id}))".replace(f"{MESSAGES}.", "")
    if age:
        found["team_console_newest"] = f"(created_at) WHERE {finished_rows(shape)}"
    if "message_type" in shape.types:
        found["team_console_kinds"] = "(message_type)"
    return found


def read_notes(shape: Shape) -> str:
    """Return the condition for notes of rows that were read although their table has no word for it."""
    return f"""{"strpos" if shape.is_strict else "instr"}(note, '"status":"read"') > 0"""


_INDEX_REFUSED = ("42", "0A", "57014")
"""How the SQLSTATE begins of a refusal to make an index: no right, a type that cannot be in this one, or it takes
longer than a statement of this role may."""


def make_indexes(connection: Connection, shape: Shape) -> None:
    """Make those that are missing. Only the owner may index a table; without one everything works, if slower."""
    there = connection.indexes(MESSAGES) | connection.indexes(NOTES) | connection.indexes(AUDIT)
    wanted = {name: f"{MESSAGES} {of}" for name, of in wanted_indexes(shape).items()}
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
            if not str(getattr(error, "sqlstate", _INDEX_REFUSED[0])).startswith(_INDEX_REFUSED):
                raise


def is_large(connection: Connection) -> bool:
    """Return whether the table is read in part."""
    return connection.first(f"SELECT 1 FROM {MESSAGES} LIMIT 1 OFFSET {LARGE}") is not None


def read_window(connection: Connection, shape: Shape) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Yield the rows of a large table that are read, some hundred at a time."""
    yield from connection.chunks(_ROWS_AT_ONCE, shape.select_rows(unfinished_rows(shape)))
    newest = " ORDER BY created_at DESC" if "created_at" in shape.types else ""
    there = connection.indexes(MESSAGES)
    finding = [
        f"SELECT message_id FROM {MESSAGES} WHERE {finished_rows(shape)} AND {fact_rows(shape)}",
        f"SELECT message_id FROM {MESSAGES} WHERE {finished_rows(shape)}{newest} LIMIT {NEWEST}",
        _one_of_each_by_index("sender", newest) if "team_console_senders" in there else _one_of_each_by_scan("sender"),
        _one_of_each_by_index("recipient", "") if "team_console_mail" in there else _one_of_each_by_scan("recipient"),
    ]
    # In two steps: a server that joins them would rather read the whole table than believe that so few are wanted.
    ids = dict.fromkeys(message_id for some in finding for (message_id,) in connection.rows(some))
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        yield rows_with_ids(connection, shape, [*ids][start : start + _ROWS_AT_ONCE])


def rows_with_ids(connection: Connection, shape: Shape, ids: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows with these ids, as the column has them."""
    return connection.rows_among(shape.select_rows(f"{MESSAGES}.message_id IN"), ids)


def _one_of_each_by_scan(column: str) -> str:
    """Return what `_one_of_each_by_index` does where no index answers it: the database goes through all rows once."""
    placed = f"SELECT message_id, row_number() OVER (PARTITION BY {column}) AS place FROM {MESSAGES}"
    return f"SELECT message_id FROM ({placed}) AS placed WHERE place = 1"


def _one_of_each_by_index(column: str, order: str) -> str:
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
