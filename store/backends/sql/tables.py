"""The tables: `agent_message` as seed 003 defines it and as it is found, and our own beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    cast,
    column,
    insert,
    inspect,
    literal_column,
    null,
    select,
    table,
)
from sqlalchemy.engine.reflection import Inspector
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.sql import ColumnElement, Select
from sqlalchemy.sql.selectable import TableClause
from team_console.store.backends.sql.rows import COLUMNS
from team_console.store.model.errors import Code, TeamError

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
_REQUIRED = ("message_id", "sender", "recipient", "status")
_NUMBERS = ("retry_count", "max_retries")

OURS = MetaData()


def _texts(*names: str) -> list[Column[str]]:
    """Columns of text that every row fills."""
    return [Column(name, Text, nullable=False) for name in names]


STATE = Table(
    "team_console_state",
    OURS,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("arrivals", BigInteger, nullable=False),
    Column("audit_seq", BigInteger, nullable=False),
    *_texts("audit_hash", "changed_at"),
)
"""One row: how many rows we added anywhere, the end of the audit chain, the time of the last change."""
NOTES = Table("team_console_envelope", OURS, Column("message_id", Text, primary_key=True), *_texts("note"))
"""What we know of rows that other programs made and their columns cannot say."""
ARCHIVE = Table(
    "team_console_archive",
    OURS,
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    *_texts("agent", "message_id"),
    Column("request_id", Text),
    *_texts("created", "record"),
    UniqueConstraint("agent", "message_id", name="team_console_archive_once"),
    Index("team_console_archive_message", "message_id"),
    Index("team_console_archive_request", "request_id"),
    Index("team_console_archive_newest", "created", "message_id"),
    Index("team_console_archive_agent", "agent", "created", "message_id"),
)
AUDIT = Table(
    "team_console_audit",
    OURS,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    *_texts("at", "actor", "action", "facts", "prev", "hash"),
)
INBOX = Table(
    "team_console_inbox",
    OURS,
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    *_texts("agent", "message_id", "pushed_at", "record"),
    UniqueConstraint("agent", "message_id", name="team_console_inbox_once"),
)
"""What the router pushed; an agent reads its rows in the order of `n`."""
ATTACHMENTS = Table(
    "team_console_attachment",
    OURS,
    Column("reference", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
SETTINGS = Table("team_console_config", OURS, Column("key", Text, primary_key=True), *_texts("value"))
"""`settings` holds the text of a `messenger-config.yaml`, `version` that of our tables (none: 1)."""
VERSION_KEY = "version"
VERSION = 1


class Shape(Struct, frozen=True):
    """`agent_message` as it is in this database; other programs may have more or fewer columns.

    Attributes:
        messages: The table with its known columns.
        types: Column name -> its type in the database, of the columns we know.
        others: Columns we do not know.
        has_ours: Whether our own tables are there.
        text_only: Whether values are read and written as text without a cast (SQLite).
        place: The system column that tells rows apart where several may have one id; empty where the id does.
    """

    messages: TableClause
    types: Mapping[str, Any]
    others: tuple[str, ...]
    has_ours: bool
    text_only: bool
    place: str = ""

    def values(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """`columns` as values for an insert or update; columns that are not there are left out."""
        return {name: self.bound(name) for name in columns if name in self.types}

    def bound(self, name: str, parameter: str | None = None) -> ColumnElement[Any]:
        """A parameter for a value of the column, `parameter` (default: its own name)."""
        value: ColumnElement[Any] = bindparam(parameter or name, type_=_own_type(name))
        return value if self.text_only or name in _NUMBERS else cast(value, self.types[name])

    def select_rows(self, *, notes: bool = True) -> Select[Any]:
        """All columns of `Row`, without a condition or an order; `notes` False: there are none."""
        parts = [self._read(name) for name in COLUMNS]
        place = (self.row_place() if self.place else null()).label("place")
        if not (self.has_ours and notes):
            return select(*parts, null().label("note"), place).select_from(self.messages)
        joined = self.messages.outerjoin(NOTES, NOTES.c.message_id == self.messages.c.message_id)
        return select(*parts, NOTES.c.note, place).select_from(joined)

    def row_place(self) -> ColumnElement[Any]:
        """Where a row is, as text; only for a table with a `place`."""
        return cast(literal_column(f"{MESSAGES}.{self.place}"), Text)

    def is_row(self) -> ColumnElement[bool]:
        """The condition that a row is the one of the parameters `old_id` and, where needed, `old_place`."""
        same_id = self.messages.c.message_id == bindparam("old_id")
        return same_id & (self.row_place() == bindparam("old_place")) if self.place else same_id

    def select_others(self) -> Select[Any]:
        """The id and the columns we do not know, as texts where the database is strict about types."""
        columns: list[ColumnElement[Any]] = [column(name) for name in self.others]
        values = columns if self.text_only else [cast(item, Text) for item in columns]
        return select(self.messages.c.message_id, *values).select_from(self.messages)

    def _read(self, name: str) -> ColumnElement[Any]:
        if name not in self.types:
            return null().label(name)
        value = self.messages.c[name]
        return value if self.text_only or name in _NUMBERS else cast(value, Text).label(name)


def _own_type(name: str) -> Any:
    return Integer() if name in _NUMBERS else Text()


def find_shape(connection: Connection) -> Shape | None:
    """Look what is there; None when there is no `agent_message` at all.

    Raises:
        TeamError: `STORE_UNREADABLE` for a table that is not the one of seed 003.
    """
    inspector = inspect(connection)
    names = set(inspector.get_table_names())
    if MESSAGES not in names:
        return None
    found = {item["name"]: item["type"] for item in inspector.get_columns(MESSAGES)}
    types = {name: kind for name, kind in found.items() if name in COLUMNS}
    missing = [name for name in _REQUIRED if name not in types]
    if missing:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"table {MESSAGES} has no column {missing[0]}",
            "It is not the agent_message table of the orchestrator; name another database.",
        )
    return Shape(
        messages=table(MESSAGES, *(column(name, _own_type(name)) for name in types)),
        types=types,
        others=tuple(name for name in found if name not in COLUMNS),
        has_ours=set(OURS.tables) <= names,
        text_only=connection.dialect.name == "sqlite",
        place="" if _is_key(inspector, "message_id") else _place(connection, found),
    )


def _is_key(inspector: Inspector, name: str) -> bool:
    """Whether no two rows can have the same value in this column."""
    indexes = [index for index in inspector.get_indexes(MESSAGES) if not index.get("dialect_options")]
    keys = [
        inspector.get_pk_constraint(MESSAGES)["constrained_columns"],
        *(constraint["column_names"] for constraint in inspector.get_unique_constraints(MESSAGES)),
        *(index["column_names"] for index in indexes if index["unique"]),
    ]
    return [name] in keys


def _place(connection: Connection, columns: Collection[str]) -> str:
    """The system column that tells rows apart; empty where there is none that is free."""
    if connection.dialect.name != "sqlite":
        return "ctid"
    names = [name for name in ("rowid", "_rowid_", "oid") if name not in {column.lower() for column in columns}]
    for name in names[:1]:
        try:
            connection.execute(select(literal_column(name)).select_from(table(MESSAGES)).limit(1))
        except OperationalError:
            return ""
        return name
    return ""


def find_inbox(connection: Connection, agent: str) -> TableClause | None:
    """The agent's own table `{agent}_inbox` as seed 003's delivery code writes to it (step 2, method 1), if any."""
    name, inspector = f"{agent}_inbox", inspect(connection)
    if name.lower() in OURS.tables or not inspector.has_table(name):
        return None
    has = {item["name"] for item in inspector.get_columns(name)}
    return table(name, column("message_id"), column("payload")) if {"message_id", "payload"} <= has else None


def our_tables(connection: Connection) -> set[str]:
    """Which of our tables are there."""
    return set(OURS.tables) & set(inspect(connection).get_table_names())


def create_ours(connection: Connection) -> None:
    """Make our own tables and the index for waiting messages; what is there stays as it is."""
    OURS.create_all(connection, checkfirst=True)
    _index_waiting(connection)
    if connection.execute(select(STATE.c.id)).first() is None:
        empty = {"id": 1, "arrivals": 0, "audit_seq": 0, "audit_hash": "", "changed_at": ""}
        connection.execute(insert(STATE), empty)
    if connection.execute(select(SETTINGS.c.key).where(SETTINGS.c.key == VERSION_KEY)).first() is None:
        connection.execute(insert(SETTINGS), {"key": VERSION_KEY, "value": str(VERSION)})


def check_version(text: str | None) -> None:
    """Refuse tables that a later team-console made: what they mean is not known here.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    if text is None or (text.isdecimal() and int(text) <= VERSION):
        return
    what = f"the team's tables are of version {text}, this team-console knows version {VERSION}"
    raise TeamError(Code.STORE_UNREADABLE, what, "Update team-console on this machine.", newer=True)


def _index_waiting(connection: Connection) -> None:
    """Only its owner may index a table; without the index everything works, if slower."""
    connection.exec_driver_sql("SAVEPOINT waiting")
    try:
        connection.exec_driver_sql(f"CREATE INDEX IF NOT EXISTS team_console_waiting ON {MESSAGES} (recipient, status)")
    except ProgrammingError:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT waiting")
    connection.exec_driver_sql("RELEASE SAVEPOINT waiting")
