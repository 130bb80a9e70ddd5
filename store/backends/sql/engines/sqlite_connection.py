"""A connection to a SQLite file, and what tables and columns are in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from team_console.store.backends.sql.engines.connection import Column, Connection

_COLUMNS = """
SELECT name, type, name IN (
    SELECT min(part.name) FROM pragma_index_list(:table) AS keys, pragma_index_info(keys.name) AS part
    WHERE keys."unique" AND NOT keys.partial GROUP BY keys.name HAVING count(*) = 1
) OR (pk = 1 AND (SELECT max(pk) FROM pragma_table_xinfo(:table)) = 1)
FROM pragma_table_xinfo(:table) WHERE hidden <> 1 AND :table IN (SELECT name FROM sqlite_master) ORDER BY cid
"""
"""A key is a unique index of this column alone over all rows, or the primary key, which may have none of its own.

SQLite finds a table whatever the case of its name is; but `bob_inbox` is not the inbox of `BOB`.
"""


class SqliteConnection(Connection):
    """See `Connection`. The driver understands `:name` by itself."""

    error = sqlite3.Error
    is_strict = False
    blob = "BLOB"

    @property
    def is_idle(self) -> bool:
        """From the driver."""
        return not self.driver.in_transaction

    def tables(self, names: Collection[str]) -> set[str]:
        """See `Connection.tables`."""
        found = self.rows_among("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN", [*names])
        return {name for (name,) in found}

    def columns(self, table: str) -> list[Column]:
        """See `Connection.columns`."""
        return [Column(name, kind, bool(is_key)) for name, kind, is_key in self.rows(_COLUMNS, {"table": table})]
