"""`agent_message` as it is found: other programs may have made it with more or fewer columns, and of other types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.statement import quoted
from team_console.store.backends.sql.rows import COLUMNS
from team_console.store.backends.sql.tables import MESSAGES, NOTES, OURS
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import spellings, word_for

_REQUIRED = ("message_id", "sender", "recipient", "status")
_NUMBERS = ("retry_count", "max_retries")
_UNIQUE = {
    True: f"ALTER TABLE {MESSAGES} ADD PRIMARY KEY (message_id);",
    False: f"CREATE UNIQUE INDEX {MESSAGES}_message_id ON {MESSAGES} (message_id);",
}
"""What makes ids unique, in PostgreSQL and in SQLite, which adds no key to a table that is there."""


class Shape(Struct, frozen=True):
    """`agent_message` as it is in this database. What it gives are parts of statements.

    Attributes:
        types: Column name -> its type in the database, of the columns we know.
        others: Columns we do not know.
        has_ours: Whether our own tables are there.
        hidden: Whether they are there and this role may not read them.
        is_strict: Whether values are read and written as text with a cast (PostgreSQL).
    """

    types: Mapping[str, str]
    others: tuple[str, ...]
    has_ours: bool
    is_strict: bool
    hidden: bool = False

    @property
    def id(self) -> str:
        """The id of a row as text, whatever type other programs gave the column."""
        column = f"{MESSAGES}.message_id"
        is_text = any(word in self.types["message_id"].lower() for word in ("char", "clob", "text"))
        return column if is_text else f"CAST({column} AS TEXT)"

    def insertion(self, columns: Iterable[str]) -> str:
        """The statement that adds a row with values for `columns`; those that are not there are left out."""
        names = [name for name in columns if name in self.types]
        return f"INSERT INTO {MESSAGES} ({', '.join(names)}) VALUES ({', '.join(self._bound(name) for name in names)})"

    def change(self, columns: Iterable[str]) -> str:
        """The statement that changes `columns` of the row with `old_id`."""
        values = ", ".join(f"{name} = {self._bound(name)}" for name in columns)
        return f"UPDATE {MESSAGES} SET {values} WHERE {self.id} = :old_id"

    def removal(self) -> str:
        """The statement that deletes that row."""
        return f"DELETE FROM {MESSAGES} WHERE {self.id} = :old_id"

    def rows(self, condition: str = "", *, notes: bool = True) -> str:
        """The select of all columns of `Row`, in no order; `notes` False: there are none."""
        parts = [self._read(name) for name in COLUMNS]
        where = f" WHERE {condition}" if condition else ""
        if not (self.has_ours and notes):
            return f"SELECT {', '.join(parts)}, NULL FROM {MESSAGES}{where}"
        joined = f"{MESSAGES} LEFT JOIN {NOTES} ON {NOTES}.message_id = {self.id}"
        return f"SELECT {', '.join(parts)}, {NOTES}.note FROM {joined}{where}"

    def other_columns(self) -> str:
        """The select of the id and the columns we do not know, as texts where that is needed, of ids that follow."""
        names = [quoted(name) for name in self.others]
        values = [f"CAST({name} AS TEXT)" for name in names] if self.is_strict else names
        return f"SELECT {', '.join([self.id, *values])} FROM {MESSAGES} WHERE {self.id} IN"

    def _bound(self, name: str) -> str:
        if not self.is_strict or name in _NUMBERS:
            return f":{name}"
        if self.has_bytes(name):
            return f"convert_to(:{name}, 'UTF8')"
        value = f"CAST(:{name} AS timestamptz)" if self._is_local_time(name) else f":{name}"
        return f"CAST({value} AS {self.types[name]})"

    def _read(self, name: str) -> str:
        if name not in self.types:
            return "NULL"
        value = self.id if name == "message_id" else f"{MESSAGES}.{name}"
        if not self.is_strict or name in _NUMBERS or self.has_bytes(name):
            return value
        if self._is_local_time(name):
            zone = f"to_char({value} AT TIME ZONE current_setting('TimeZone'), 'OF')"
            return f"concat_ws(' ', CAST({value} AS TEXT), {zone})"
        return f"CAST({value} AS TEXT)"

    def _is_local_time(self, name: str) -> bool:
        """Whether the column holds the clock of the database's time zone, as `CURRENT_TIMESTAMP` fills it there."""
        kind = self.types.get(name, "")
        return self.is_strict and kind.startswith("timestamp") and kind.endswith("without time zone")

    def has_bytes(self, name: str) -> bool:
        """Whether the column holds bytes by its type, which are no text to a statement."""
        return self.types.get(name) == "bytea"


def find_shape(connection: Connection) -> Shape | None:
    """Look what is there; None when there is no `agent_message` at all.

    Raises:
        TeamError: `STORE_UNREADABLE` for a table that is not the one of seed 003.
    """
    tables = connection.tables([MESSAGES, *OURS])
    if MESSAGES not in tables:
        return None
    columns = {column.name: column for column in connection.columns(MESSAGES)}
    missing = [name for name in _REQUIRED if name not in columns]
    if missing:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"table {MESSAGES} has no column {missing[0]}; it has {', '.join(columns):.300}",
            f"It is another table of that name, or a later form: the one that is read has {', '.join(_REQUIRED)}.",
        )
    if not columns["message_id"].is_key:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"table {MESSAGES} lets several rows have one message_id, so that none of them can be told from the others",
            f"Give rows that share one ids of their own, then run: {_UNIQUE[connection.is_strict]}",
        )
    is_complete = tables.issuperset(OURS)
    hidden = bool(tables.intersection(OURS)) and not connection.may_read([*tables.intersection(OURS)])
    return Shape(
        types={name: columns[name].type for name in COLUMNS if name in columns},
        others=tuple(name for name in columns if name not in COLUMNS),
        has_ours=is_complete and not hidden,
        is_strict=connection.is_strict,
        hidden=hidden,
    )


def find_inbox(connection: Connection, agent: str) -> str | None:
    """The agent's own table `{agent}_inbox` as seed 003's delivery code writes to it (step 2, method 1), if any.

    The name of the agent may be encoded in it.

    Returns:
        Its name as part of a statement.
    """
    for word in dict.fromkeys((word_for(agent, ()), *spellings(agent))):
        name = f"{word}_inbox"
        columns = {column.name for column in connection.columns(name)} if name.lower() not in OURS else set()
        if {"message_id", "payload"} <= columns:
            return quoted(name)
    return None
