"""`agent_message` as it is found: other programs may have made it with more or fewer columns, and of other types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.statement import quoted
from team_console.store.backends.sql.rows import COLUMNS
from team_console.store.backends.sql.tables import MESSAGES, NOTES, OURS
from team_console.store.model.errors import Code, TeamError

_REQUIRED = ("message_id", "sender", "recipient", "status")
_NUMBERS = ("retry_count", "max_retries")


class Shape(Struct, frozen=True):
    """`agent_message` as it is in this database. What it gives are parts of statements.

    Attributes:
        types: Column name -> its type in the database, of the columns we know.
        others: Columns we do not know.
        has_ours: Whether our own tables are there.
        is_strict: Whether values are read and written as text with a cast (PostgreSQL).
        place: The system column that tells rows apart where several may have one id; empty where the id does.
    """

    types: Mapping[str, str]
    others: tuple[str, ...]
    has_ours: bool
    is_strict: bool
    place: str = ""

    def insertion(self, columns: Iterable[str]) -> str:
        """The statement that adds a row with values for `columns`; those that are not there are left out."""
        names = [name for name in columns if name in self.types]
        return f"INSERT INTO {MESSAGES} ({', '.join(names)}) VALUES ({', '.join(self._bound(name) for name in names)})"

    def change(self, columns: Iterable[str]) -> str:
        """The statement that changes `columns` of the row with `old_id`, and `old_place` where there is a `place`."""
        values = ", ".join(f"{name} = {self._bound(name)}" for name in columns)
        return f"UPDATE {MESSAGES} SET {values} WHERE {self._is_row()}"

    def removal(self) -> str:
        """The statement that deletes that row."""
        return f"DELETE FROM {MESSAGES} WHERE {self._is_row()}"

    def rows(self, condition: str = "", *, notes: bool = True) -> str:
        """The select of all columns of `Row`, in no order; `notes` False: there are none."""
        parts = [self._read(name) for name in COLUMNS]
        place = self._row_place() if self.place else "NULL"
        where = f" WHERE {condition}" if condition else ""
        if not (self.has_ours and notes):
            return f"SELECT {', '.join(parts)}, NULL, {place} FROM {MESSAGES}{where}"
        joined = f"{MESSAGES} LEFT JOIN {NOTES} ON {NOTES}.message_id = {MESSAGES}.message_id"
        return f"SELECT {', '.join(parts)}, {NOTES}.note, {place} FROM {joined}{where}"

    def other_columns(self) -> str:
        """The select of the id and the columns we do not know, as texts where that is needed, of ids that follow."""
        names = [quoted(name) for name in self.others]
        values = [f"CAST({name} AS TEXT)" for name in names] if self.is_strict else names
        return f"SELECT {', '.join(['message_id', *values])} FROM {MESSAGES} WHERE message_id IN"

    def _bound(self, name: str) -> str:
        return f"CAST(:{name} AS {self.types[name]})" if self.is_strict and name not in _NUMBERS else f":{name}"

    def _read(self, name: str) -> str:
        if name not in self.types:
            return "NULL"
        value = f"{MESSAGES}.{name}"
        return f"CAST({value} AS TEXT)" if self.is_strict and name not in _NUMBERS else value

    def _row_place(self) -> str:
        """Where a row is, as text; only for a table with a `place`."""
        return f"CAST({MESSAGES}.{self.place} AS TEXT)"

    def _is_row(self) -> str:
        """That a row is the one of the parameters `old_id` and, where needed, `old_place`."""
        same_id = "message_id = :old_id"
        return f"{same_id} AND {self._row_place()} = :old_place" if self.place else same_id


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
            f"table {MESSAGES} has no column {missing[0]}",
            "It is not the agent_message table of the orchestrator; name another database.",
        )
    return Shape(
        types={name: columns[name].type for name in COLUMNS if name in columns},
        others=tuple(name for name in columns if name not in COLUMNS),
        has_ours=tables.issuperset(OURS),
        is_strict=connection.is_strict,
        place="" if columns["message_id"].is_key else _place(connection, columns),
    )


def _place(connection: Connection, columns: Collection[str]) -> str:
    """The system column that tells rows apart; empty where there is none that is free."""
    if connection.is_strict:
        return "ctid"
    taken = {column.lower() for column in columns}
    free = [name for name in ("rowid", "_rowid_", "oid") if name not in taken]
    if not free:
        return ""
    try:
        connection.first(f"SELECT {free[0]} FROM {MESSAGES} LIMIT 1")
    except connection.error:
        return ""
    return free[0]


def find_inbox(connection: Connection, agent: str) -> str | None:
    """The agent's own table `{agent}_inbox` as seed 003's delivery code writes to it (step 2, method 1), if any.

    Returns:
        Its name as part of a statement.
    """
    name = f"{agent}_inbox"
    if name.lower() in OURS:
        return None
    columns = {column.name for column in connection.columns(name)}
    return quoted(name) if {"message_id", "payload"} <= columns else None
