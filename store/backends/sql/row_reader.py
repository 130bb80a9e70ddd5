"""The rows as messages, kept between looks: only rows that changed are understood again.

A row is finished once it is delivered or read. A small table is read whole, of a large one all rows that are not
finished, and of the finished ones those on which requests, rosters or a sprint may rest (facts), the newest, and one
from and one to everybody who is named. Indexes find them, so that other finished rows cost nothing; those are counted
and read page by page in `history.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.sql.audit_trail import counting_lines, telling_lines
from team_console.store.backends.sql.connection import Connection
from team_console.store.backends.sql.rows import ROW_REFUSED, Row, RowEntry, read_row
from team_console.store.backends.sql.schema import ARCHIVE, AUDIT, MESSAGES, NOTES, Shape
from team_console.store.contract.team import Progress
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import first_of
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
        self.restart()

    def restart(self) -> None:
        """Forget all rows, which were of another team: they are not missing now."""
        with self.guard:
            self._state = RowsState(number=self._state.number + 1)
            self._remembered: dict[str, RowEntry] = {}
            self.reworded: set[str] = set()
            self.missing: frozenset[str] = frozenset()

    def state(self, connection: Connection, shape: Shape, *, progress: Progress | None = None) -> RowsState:
        """Return what is read of the table as the connection sees it now; the same object while nothing changed.

        Hold `guard` from before the connection's view began: an older view that comes later would undo a newer one.

        Raises:
            InterruptedError: `progress` said to stop.
        """
        with self.guard:
            before, entries = self._state.entries, dict[str, RowEntry]()
            for number, row in enumerate(_fetch_rows(connection, shape, progress, whole=self.is_whole), start=1):
                # A row without an id that is a text has a key that can be no id: none holds a NUL.
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
        if entry.changed:
            self.reworded.add(key)
        else:
            self.reworded.discard(key)
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
    chunks = read_window(connection, shape) if in_part else connection.chunks(_ROWS_AT_ONCE, shape.select_rows())
    for chunk in chunks:
        yield from chunk
        read += len(chunk)
        if progress is not None and not progress(read, total):
            raise InterruptedError


# Which rows of a large table are read, and the indexes that find them.


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
    wanted["team_console_counts"] = f"{AUDIT} (seq) WHERE {counting_lines(connection)}"
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
