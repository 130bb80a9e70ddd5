"""The tables: `agent_message` as seed 003 defines it, and our own beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from team_console.store.backends.sql.connection import Column, Connection, Relation, Values, in_list, insert, sql_name
from team_console.store.backends.sql.rows import COLUMNS, STAND_INS, json_object_in, recorded_arrival
from team_console.store.contract.snapshot import ROWS_HIDDEN
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Fields
from team_console.store.model.names import file_word, spellings

MESSAGES = "agent_message"
CREATE_MESSAGES = """
CREATE TABLE agent_message (
    message_id TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    message_type TEXT,
    payload JSON,
    status TEXT,
    created_at TIMESTAMP,
    delivered_at TIMESTAMP,
    retry_count INTEGER DEFAULT 0,
    max_retries INTEGER DEFAULT 3,
    error_message TEXT
)
"""
"""Seed 003, "Message Schema", to the letter."""

STATE = "team_console_state"
"""One row: how many rows we added anywhere, the end of the audit chain, the time of the last change."""
NOTES = "team_console_envelope"
"""What we know of rows that other programs made and their columns cannot say."""
ARCHIVE = "team_console_archive"
AUDIT = "team_console_audit"
INBOX = "team_console_inbox"
"""What the router pushed; an agent reads its rows in the order of `n`."""
ATTACHMENTS = "team_console_attachment"
SETTINGS = "team_console_config"
"""`settings` holds the text of a `messenger-config.yaml`, `version` that of our tables (none: 1)."""
LARGEST_NUMBER = 2**63 - 1
"""The largest number that a column holds; SQLite keeps texts behind it."""
VERSION_KEY = "version"
VERSION = 1

OUR_TABLES = {
    STATE: """
        id INTEGER NOT NULL PRIMARY KEY, arrivals BIGINT NOT NULL, audit_seq BIGINT NOT NULL,
        audit_hash TEXT NOT NULL, changed_at TEXT NOT NULL
    """,
    NOTES: "message_id TEXT NOT NULL PRIMARY KEY, note TEXT NOT NULL",
    ARCHIVE: """
        n BIGINT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, message_id TEXT NOT NULL, request_id TEXT,
        created TEXT NOT NULL, record TEXT NOT NULL,
        CONSTRAINT team_console_archive_once UNIQUE (agent, message_id)
    """,
    AUDIT: """
        seq BIGINT NOT NULL PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
        facts TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
    """,
    INBOX: """
        n BIGINT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, message_id TEXT NOT NULL, pushed_at TEXT NOT NULL,
        record TEXT NOT NULL,
        CONSTRAINT team_console_inbox_once UNIQUE (agent, message_id)
    """,
    ATTACHMENTS: "reference TEXT NOT NULL PRIMARY KEY, data {blob} NOT NULL",
    SETTINGS: "key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL",
}
"""Name -> the columns and constraints of a table of ours."""
_INDEXES = {
    ARCHIVE: {
        "team_console_archive_message": "message_id",
        "team_console_archive_request": "request_id",
        "team_console_archive_newest": "created, message_id",
        "team_console_archive_agent": "agent, created, message_id",
    },
}
"""Name of a table -> name of an index -> its columns."""
TABLE_CHANGED = ("42P01", "42703", "0A000")
"""SQLSTATE of a table or a column that is not there any more, and of a prepared statement that gave other types."""
NO_RIGHT = "42501"
"""SQLSTATE of a refusal for want of a right."""
HIDDEN_WORDS = "this role may not read tables of team-console: settings, archives and the audit trail cannot be seen"
POLICY_HINT = "Let its owner change the policy, or run: ALTER ROLE ... BYPASSRLS;"
GRANT_HINT = f"Let its owner run: GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(OUR_TABLES)} TO the role;"


class Numbers(Struct, frozen=True):
    """The row of `team_console_state`: how far what is numbered has come.

    Attributes:
        arrivals: The highest number of a row we added anywhere.
        seq: The number of the last line on the audit trail; the next line follows it.
        prev: The hash of that line.
        changed_at: When the last line was written.
        written: The number of that line, to which the trail may not reach any more.
        is_behind: Whether somebody put them back, so that these are those of the tables themselves.
    """

    arrivals: int
    seq: int
    prev: Any
    changed_at: Any
    written: int
    is_behind: bool = False


def read_numbers(connection: Connection, shape: Shape) -> Numbers | None:
    """Return the numbers of the last write; None where somebody took them away or put something else in their place.

    Where they were put back, as with the copy of one table, those that the tables have are returned: to count on from
    the others would give numbers a second time, which the tables refuse. A trail that lost its end goes on from what
    is left of it.
    """
    row = connection.first(f"SELECT arrivals, audit_seq, audit_hash, changed_at, audit_seq FROM {STATE}")
    if row is None or not (isinstance(row[0], int) and isinstance(row[1], int)):
        return None
    written = Numbers(*row)
    newest = f"SELECT seq, hash FROM {AUDIT} WHERE seq <= {LARGEST_NUMBER} ORDER BY seq DESC LIMIT 1"
    seq, prev = connection.first(newest) or (0, "")
    highest = connection.first(f"SELECT (SELECT max(n) FROM {ARCHIVE}), (SELECT max(n) FROM {INBOX})") or ()
    arrivals = max([written.arrivals, *(number for number in highest if isinstance(number, int))])
    # What a policy hides of the trail is not lost, and its numbers are taken.
    if not isinstance(seq, int) or (shape.hides_rows and seq < written.seq):
        seq, prev = written.seq, written.prev
    # guard: numbers-put-back-noticed
    if seq == written.seq and arrivals == written.arrivals:
        return written
    noted = (recorded_arrival(json_object_in(note)) for (note,) in connection.rows(f"SELECT note FROM {NOTES}"))
    arrivals = max([arrivals, *(number for number in noted if number is not None)])
    is_behind = seq > written.seq or arrivals > written.arrivals
    return Numbers(arrivals, seq, prev, written.changed_at, written.seq, is_behind)


NUMBERS_BEHIND = Problem(
    "NUMBERS_BEHIND",
    "warning",
    STATE,
    f"another program put back the numbers in {STATE}; those of the other tables count",
    "The next write corrects them. Find out who writes into the tables of team-console.",
)
NUMBERS_LOST = Problem(
    "NUMBERS_LOST",
    "error",
    STATE,
    f"{STATE} holds no numbers; nothing is written",
    "Restore this table from a copy of the database.",
)


def create_ours(connection: Connection) -> None:
    """Make our own tables; what is there stays as it is."""
    there = connection.tables(OUR_TABLES)
    for table, columns in OUR_TABLES.items():
        if table not in there:  # IF NOT EXISTS asks for the right to make tables even where there is one
            connection.change(f"CREATE TABLE {table} ({columns.format(blob=connection.blob)})")
            for index, indexed in _INDEXES.get(table, {}).items():
                connection.change(f"CREATE INDEX {index} ON {table} ({indexed})")
    if connection.first(f"SELECT id FROM {STATE}") is None:
        empty = {"id": 1, "arrivals": 0, "audit_seq": 0, "audit_hash": "", "changed_at": ""}
        connection.change(insert(STATE, empty), empty)
    if connection.first(f"SELECT key FROM {SETTINGS} WHERE key = :key", {"key": VERSION_KEY}) is None:
        version = {"key": VERSION_KEY, "value": str(VERSION)}
        connection.change(insert(SETTINGS, version), version)


def check_version(text: str | None) -> None:
    """Refuse tables that a later team-console made: what they mean is not known here.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    if text is None or (text.isdecimal() and int(text) <= VERSION):
        return
    what = f"the team's tables are of version {text}, this team-console knows version {VERSION}"
    raise TeamError(Code.STORE_UNREADABLE, what, "Update team-console on this machine.", newer=True)


# `agent_message` as it is found: other programs may have made it with more or fewer columns, and of other types.

_REQUIRED = ("message_id", "sender", "recipient", "status")
_NUMBER_COLUMNS = ("retry_count", "max_retries")
_TIME_COLUMNS = ("created_at", "delivered_at")
LOOKED_AT = ("recipient", "status")
"""Columns that decide who gets a row: whether a change of them was kept is looked at."""
_MAKE_UNIQUE = {
    True: f"ALTER TABLE {MESSAGES} ADD PRIMARY KEY (message_id);",
    False: f"CREATE UNIQUE INDEX {MESSAGES}_message_id ON {MESSAGES} (message_id);",
}
"""What makes ids unique, in PostgreSQL and in SQLite, which adds no key to a table that is there."""
_EMPTY_VALUES: tuple[tuple[str, Any], ...] = (
    *(("[]", "{}"), ("interval", "0"), ("bool", False), ("json", "{}")),
    ("uuid", "00000000-0000-0000-0000-000000000000"),
    *((word, 0) for word in ("int", "num", "dec", "real", "doub", "float", "serial")),
    *((word, "1970-01-01T00:00:00Z") for word in ("time", "date")),
)
"""Word in the name of a type -> what a required column of it holds where there is nothing to say; an empty text where
none fits. The order counts: an array (`integer[]`) is no number, and an `interval` is no `int`.
"""
_TIMESTAMP_DIGITS = re.compile(r"timestamp\((\d)\)")
"""How many digits of a second a column keeps: `timestamp(3) with time zone`."""
_NUMBER_TYPES = ("int", "real", "doub", "float", "numeric(", "decimal")
"""Parts of the names of types that hold numbers and no time; SQLite's NUMERIC holds both."""


_ROWS_HIDDEN = Problem(
    ROWS_HIDDEN,
    "warning",
    MESSAGES,
    f"row security lets this role see only some rows of {MESSAGES} or of tables of team-console, so messages that "
    "wait, history and what is on record may be hidden",
    "Connect as a role that sees all rows, or let its owner run: ALTER ROLE ... BYPASSRLS;",
)


def _cut_to_column(moment: datetime, kind: str) -> datetime:
    """Return what a column of this type holds of a moment: a day, or as many digits of a second as it has.

    PostgreSQL would round it, and nobody could tell then what was written from what was changed.
    """
    if kind == "date":
        return moment.replace(hour=0, minute=0, second=0, microsecond=0)
    digits = _TIMESTAMP_DIGITS.match(kind)
    step = 1 if digits is None else 10 ** (6 - int(digits[1]))
    return moment.replace(microsecond=moment.microsecond // step * step)


def _empty_value(kind: str) -> Any:
    """Return what a required column of this type holds where there is nothing to say: a type is known by the first of
    `_EMPTY_VALUES` whose word is in its name.
    """
    return next((value for word, value in _EMPTY_VALUES if word in kind.lower()), "")


def _group_condition(column: str) -> str:
    """Return the SQL condition for a column that names several recipients, with commas between."""
    return f"replace({column}, ',', '') <> {column}"


class Shape(Struct, frozen=True):
    """`agent_message` as it is in this database. What it gives are parts of statements.

    Attributes:
        types: Column name -> its type in the database, of the columns we know.
        unknown_columns: Columns we do not know.
        has_ours: Whether our own tables are there.
        hides_tables: Whether this role may not read tables of ours that are there.
        is_strict: Whether values are read and written as text with a cast (PostgreSQL).
        required: Those of the columns we know that take no NULL.
        fillings: Columns we do not know that take no NULL and get no value by themselves -> what a new row has there.
        numeric_moments: Columns for times that hold numbers.
        allowed_statuses: The only statuses the column can hold, of an enumeration; None for any other type.
        refused_statuses: Statuses that the table was seen to refuse, as by a CHECK.
        hides_rows: Whether this role sees only the rows that policies of the database let it see.
        mixed_tables: See `Relation.mixed_tables`.
        group_condition: The condition for rows that are for several, in words that both databases take for an index.
        payload_text: The payload as a text in which words can be looked for.
        row_place: See `Relation.row_place`.
    """

    types: Mapping[str, str]
    unknown_columns: tuple[str, ...]
    has_ours: bool
    is_strict: bool
    hides_tables: bool = False
    required: frozenset[str] = frozenset()
    fillings: Mapping[str, Any] = MappingProxyType({})
    numeric_moments: frozenset[str] = frozenset()
    allowed_statuses: frozenset[str] | None = None
    refused_statuses: AbstractSet[str] = frozenset()
    hides_rows: bool = False
    mixed_tables: str = ""
    group_condition: str = _group_condition("recipient")
    payload_text: str = ""
    row_place: str = ""

    @property
    def id(self) -> str:
        """The id of a row as text, whatever type other programs gave the column."""
        return self._as_text("message_id")

    @property
    def kind(self) -> str:
        """The type of a message as text."""
        return self._as_text("message_type")

    @property
    def status(self) -> str:
        """The status as it is compared with a list: for a domain over an enumeration PostgreSQL has no such thing."""
        return "status" if self.allowed_statuses is None else f"CAST(status AS {self.types['status']})"

    def _as_text(self, name: str) -> str:
        """Return a column of messages as text, cast where its type is another."""
        column = f"{MESSAGES}.{name}"
        is_text = any(word in self.types[name].lower() for word in ("char", "clob", "text"))
        return column if is_text else f"CAST({column} AS TEXT)"

    def fit(self, values: Fields) -> FieldDict:
        """Return what the table will hold of the `values` by column: those that it takes, in place of those it does
        not; None where it holds nothing. What is lost that way belongs into the note.
        """
        return {name: self._fit_value(name, value, values.get("created_at")) for name, value in values.items()}

    def _fit_value(self, name: str, value: Any, created: Any) -> Any:
        """Return what the column holds for a value of a message `created` at that time; None where it holds nothing."""
        if name not in self.types:
            return None
        if name in self.numeric_moments:
            if name not in self.required:
                return None  # the note has it, with its unit and zone
            moment = from_text(str(value or created or ""))
            return 0 if moment is None else int(moment.timestamp())
        if name == "status" and not self.takes(value):
            return STAND_INS.get(value, value)
        # guard: time-as-the-column-holds-it
        if name in _TIME_COLUMNS and (moment := from_text(str(value or ""))) is not None:
            return to_text(_cut_to_column(moment, self.types[name]))
        if value is None and name in self.required:
            return created if name in _TIME_COLUMNS and created is not None else _empty_value(self.types[name])
        return value

    def can_hold(self, status: str) -> bool:
        """Return whether the type of the column can hold this status."""
        return self.allowed_statuses is None or status in self.allowed_statuses

    def takes(self, status: Any) -> bool:
        """Return whether a row can have this status, as far as is known."""
        return status not in self.refused_statuses and self.can_hold(status)

    def has_status(self, statuses: Iterable[str]) -> tuple[str, Values]:
        """Return the condition for rows that have one of these statuses, or what stands for it, with its values."""
        wanted = {*statuses}
        wanted |= {STAND_INS[status] for status in wanted if status in STAND_INS}
        some, values = in_list("status", sorted(filter(self.can_hold, wanted)))
        return f"{self.status} IN {some}", values

    def problems(self) -> tuple[Problem, ...]:
        """Return findings on the table as it was made."""
        # guard: hidden-rows-not-empty
        found = [_ROWS_HIDDEN] if self.hides_rows else []
        # guard: tables-of-two-teams-told
        if self.mixed_tables:
            found.append(self._mixed_teams())
        if self.numeric_moments:
            found.append(self._numeric_times())
        return tuple(found)

    def _mixed_teams(self) -> Problem:
        """Return the finding that tables of two teams are used as one."""
        text = f"tables of two teams are used as one: {self.mixed_tables}; messages and history of either may be hidden"
        hint = "Name one schema in the search_path of the role, the database or the address."
        return Problem(ROWS_HIDDEN, "warning", MESSAGES, text, hint)

    def _numeric_times(self) -> Problem:
        """Return the finding on columns for times that hold numbers, with the statements that mend them."""
        names = sorted(self.numeric_moments)
        text = f"{' and '.join(names)} hold numbers, which say neither unit nor zone: our times stand beside the table"
        if self.is_strict:
            changes = (f"ALTER COLUMN {name} TYPE timestamptz USING to_timestamp({name})" for name in names)
            steps = f"ALTER TABLE {MESSAGES} {', '.join(changes)};"
        else:
            steps = " ".join(
                f"ALTER TABLE {MESSAGES} RENAME COLUMN {name} TO {name}_seconds; "
                f"ALTER TABLE {MESSAGES} ADD COLUMN {name} TIMESTAMP; "
                f"UPDATE {MESSAGES} SET {name} = datetime({name}_seconds, 'unixepoch');"
                for name in names
            )
        hint = f"Where they are seconds, let its owner run: {steps}"
        return Problem("NUMERIC_TIMES", "warning", MESSAGES, text, hint)

    def insert_statement(self, columns: Iterable[str]) -> str:
        """Return the statement that adds a row with values for `columns`; those that are not there are left out."""
        names = [name for name in columns if name in self.types]
        more = [f"fill_{number}" for number in range(len(self.fillings))]
        into = ", ".join([*names, *map(sql_name, self.fillings)])
        values = ", ".join([*map(self._parameter, names), *(f":{name}" for name in more)])
        return f"INSERT INTO {MESSAGES} ({into}) VALUES ({values})"

    def fill_values(self) -> Values:
        """Return the values of `insert_statement` for columns we do not know."""
        return {f"fill_{number}": value for number, value in enumerate(self.fillings.values())}

    def update_statement(self, columns: Iterable[str]) -> str:
        """Return the statement that changes `columns` of the row with `old_id`."""
        values = ", ".join(f"{name} = {self._parameter(name)}" for name in columns)
        return f"UPDATE {MESSAGES} SET {values} WHERE {self.id} = :old_id"

    def select_looked_at(self) -> str:
        """Return the select of id and `LOOKED_AT` of the rows with the ids that follow."""
        return f"SELECT {', '.join([self.id, *map(self._selected, LOOKED_AT)])} FROM {MESSAGES} WHERE {self.id} IN"

    def select_rows(self, condition: str = "") -> str:
        """Return the select of all columns of `Row`, in no order."""
        parts = [self._selected(name) for name in COLUMNS]
        where = f" WHERE {condition}" if condition else ""
        place = self.row_place or "NULL"
        if not self.has_ours:
            return f"SELECT {', '.join(parts)}, NULL, {place} FROM {MESSAGES}{where}"
        joined = f"{MESSAGES} LEFT JOIN {NOTES} ON {NOTES}.message_id = {self.id}"
        return f"SELECT {', '.join(parts)}, {NOTES}.note, {place} FROM {joined}{where}"

    def select_other_columns(self) -> str:
        """Return the select of the id and the columns we do not know, as texts where that is needed, of ids that
        follow.
        """
        names = [sql_name(name) for name in self.unknown_columns]
        values = [f"CAST({name} AS TEXT)" for name in names] if self.is_strict else names
        return f"SELECT {', '.join([self.id, *values])} FROM {MESSAGES} WHERE {self.id} IN"

    def _parameter(self, name: str) -> str:
        """Return the place of a column's value in a statement, with the cast that a strict database needs."""
        if not self.is_strict or name in _NUMBER_COLUMNS:
            return f":{name}"
        if self.has_bytes(name):
            return f"convert_to(:{name}, 'UTF8')"
        value = f"CAST(:{name} AS timestamptz)" if self._is_local_time(name) else f":{name}"
        kind = self.types[name]
        # guard: no-text-cut-by-a-cast
        if kind.startswith("character") and name != "error_message":
            kind = "text"  # a cast to a type with a length cuts what is longer, without a word
        return f"CAST({value} AS {kind})"

    def _selected(self, name: str) -> str:
        """Return a column as it is selected: as a text where the database is strict, NULL where there is none."""
        if name not in self.types:
            return "NULL"
        value = self.id if name == "message_id" else f"{MESSAGES}.{name}"
        if not self.is_strict or name in _NUMBER_COLUMNS or self.has_bytes(name):
            return value
        if self._is_local_time(name):
            zone = f"to_char({value} AT TIME ZONE current_setting('TimeZone'), 'OF')"
            return f"concat_ws(' ', CAST({value} AS TEXT), {zone})"
        return f"CAST({value} AS TEXT)"

    def _is_local_time(self, name: str) -> bool:
        """Return whether the column holds the clock of the database's time zone, as `CURRENT_TIMESTAMP` fills it
        there.
        """
        kind = self.types.get(name, "")
        return self.is_strict and kind.startswith("timestamp") and kind.endswith("without time zone")

    def has_bytes(self, name: str) -> bool:
        """Return whether the column holds bytes by its type, which are no text to a statement."""
        return self.types.get(name) == "bytea"


def find_shape(connection: Connection, refused: AbstractSet[str] = frozenset()) -> Shape | None:
    """Look what is there; None when there is no `agent_message` at all.

    Args:
        refused: Statuses that the table was seen to refuse.

    Raises:
        TeamError: `STORE_UNREADABLE` for a table that is not the one of seed 003.
    """
    relation = connection.relation(MESSAGES)
    if relation is None:
        return None
    _refuse_other_relation(connection, relation)
    tables = connection.tables(OUR_TABLES)
    found = {column.name: column for column in connection.columns(relation.name)}
    # SQLite knows a column by its name in any case; PostgreSQL does not.
    columns = {
        name.lower() if not connection.is_strict and name.lower() in COLUMNS else name: found[name] for name in found
    }
    _refuse_other_columns(columns, is_strict=connection.is_strict)
    is_complete = tables.keys() >= OUR_TABLES.keys()
    others = [column for name, column in columns.items() if name not in COLUMNS]
    payload = columns.get("payload")
    return Shape(
        types={name: columns[name].type for name in COLUMNS if name in columns},
        unknown_columns=tuple(column.name for column in others),
        has_ours=is_complete and all(tables.values()),
        is_strict=connection.is_strict,
        hides_tables=not all(tables.values()),
        required=frozenset(name for name in COLUMNS if name in columns and columns[name].is_required),
        fillings={one.name: _fill_value(one) for one in others if one.is_required and not one.has_default},
        numeric_moments=frozenset(
            name
            for name in _TIME_COLUMNS
            if name in columns and any(word in columns[name].type.lower() for word in _NUMBER_TYPES)
        ),
        allowed_statuses=columns["status"].allowed_words,
        refused_statuses=refused,
        hides_rows=relation.hides_rows,
        mixed_tables=relation.mixed_tables,
        group_condition=_group_condition(_searchable("recipient", columns["recipient"])),
        payload_text="" if payload is None else _searchable(_payload_text(payload), payload),
        row_place=relation.row_place,
    )


def _refuse_other_columns(columns: Mapping[str, Column], *, is_strict: bool) -> None:
    """Refuse a table without a column that every row needs, or whose ids are not unique.

    Raises:
        TeamError: `STORE_UNREADABLE` with the statement that mends it, where one does.
    """
    missing = next((name for name in _REQUIRED if name not in columns), None)
    if missing is not None:
        spelled = next((name for name in columns if name.lower() == missing), None)
        hint = f"It is another table of that name, or a later form: the one that is read has {', '.join(_REQUIRED)}."
        if spelled is not None:
            hint = f"Run: ALTER TABLE {MESSAGES} RENAME COLUMN {sql_name(spelled)} TO {missing};"
        text = f"table {MESSAGES} has no column {missing}; it has {', '.join(columns):.300}"
        raise TeamError(Code.STORE_UNREADABLE, text, hint)
    if not columns["message_id"].is_key:
        text = f"table {MESSAGES} lets several rows have one message_id, so that none can be told from the others"
        hint = f"Give rows that share one ids of their own, then run: {_MAKE_UNIQUE[is_strict]}"
        raise TeamError(Code.STORE_UNREADABLE, text, hint)


def _payload_text(column: Column) -> str:
    """Return the payload column as text; bytes with whatever is no letter escaped."""
    name = f"{MESSAGES}.payload"
    return f"encode({name}, 'escape')" if column.type == "bytea" else f"CAST({name} AS TEXT)"


def _searchable(text: str, column: Column) -> str:
    """Return a column, or a text made of it, as one in which words can be looked for."""
    # guard: nothing-looked-for-without-case
    return f'{text} COLLATE "C"' if column.ignores_case else text


def _fill_value(column: Column) -> Any:
    """Return what a new row has in a required column of another program that gets no value by itself."""
    return sorted(column.allowed_words)[0] if column.allowed_words else _empty_value(column.type)


def _refuse_other_relation(connection: Connection, relation: Relation) -> None:
    """Refuse a view, and in a database that tells capitals apart another spelling.

    Raises:
        TeamError: `STORE_UNREADABLE` with the statement that mends it.
    """
    if relation.source is not None:
        table = sql_name(relation.source or "THE TABLE BEHIND IT")
        aside = f"ALTER VIEW {sql_name(relation.name)} RENAME TO {MESSAGES}_view" if connection.is_strict else ""
        first = aside or f"DROP VIEW {sql_name(relation.name)}"
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{relation.name} is a view, in which nobody can tell rows that wait from rows that it hides",
            f"Give the table behind it this name: {first}; ALTER TABLE {table} RENAME TO {MESSAGES};",
        )
    # guard: heirs-have-no-key
    if relation.inheriting is not None:
        heir = relation.inheriting
        text = f"{heir} inherits from {MESSAGES}: its rows are read with it, and their ids may not be unique"
        hint = f"Move the rows that still count, then run: ALTER TABLE {heir} NO INHERIT {MESSAGES};"
        raise TeamError(Code.STORE_UNREADABLE, text, hint)
    if connection.is_strict and relation.name != MESSAGES:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"the table is called {sql_name(relation.name)}, which {MESSAGES} in a statement does not mean here",
            f"Run: ALTER TABLE {sql_name(relation.name)} RENAME TO {MESSAGES};",
        )


def find_inbox(connection: Connection, agent: str) -> str | None:
    """Return the agent's own table `{agent}_inbox` as seed 003's delivery code writes to it (step 2, method 1), if
    any.

    The name of the agent may be encoded in it.

    Returns:
        Its name as part of a statement.
    """
    for word in dict.fromkeys((file_word(agent, ()), *spellings(agent))):
        name = f"{word}_inbox"
        columns = {column.name for column in connection.columns(name)} if name.lower() not in OUR_TABLES else set()
        if {"message_id", "payload"} <= columns:
            return sql_name(name)
    return None
