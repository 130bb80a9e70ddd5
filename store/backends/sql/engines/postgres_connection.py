"""A connection to a PostgreSQL server, and what tables and columns can be seen on it."""

from __future__ import annotations

from collections.abc import Collection

import psycopg
from psycopg.pq import TransactionStatus
from team_console.store.backends.sql.engines.connection import Column, Connection
from team_console.store.backends.sql.engines.statement import for_psycopg

_TABLES = """
SELECT relname::text FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace
WHERE relkind IN ('r', 'p') AND relpersistence <> 't' AND nspname <> 'pg_catalog' AND pg_table_is_visible(pg_class.oid)
AND relname::text IN
"""
_COLUMNS = """
SELECT attname::text, format_type(atttypid, atttypmod), EXISTS (
    SELECT FROM pg_index
    WHERE indrelid = attrelid AND indkey[0] = attnum AND indnkeyatts = 1 AND indisunique AND indisvalid
    AND indpred IS NULL
)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relname::text = :table AND relkind IN ('r', 'p', 'f', 'v', 'm') AND pg_table_is_visible(pg_class.oid)
AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


class PostgresConnection(Connection):
    """See `Connection`."""

    driver: psycopg.Connection
    error = psycopg.Error
    is_strict = True
    blob = "BYTEA"

    @property
    def is_idle(self) -> bool:
        """From the driver; a connection that was lost is not, either."""
        return self.driver.info.transaction_status == TransactionStatus.IDLE

    def answers(self) -> bool:
        """Asked with a statement: a line that was cut, or a server that went, is only noticed that way."""
        try:
            return bool(self.scalar("SELECT 1"))
        except psycopg.Error:
            return False

    def tables(self, names: Collection[str]) -> set[str]:
        """See `Connection.tables`."""
        return {name for (name,) in self.rows_among(_TABLES, [*names])}

    def may_read(self, names: Collection[str]) -> bool:
        """See `Connection.may_read`."""
        return all(self.scalar("SELECT has_table_privilege(:name, 'SELECT')", {"name": name}) for name in names)

    def columns(self, table: str) -> list[Column]:
        """See `Connection.columns`."""
        return [Column(*row) for row in self.rows(_COLUMNS, {"table": table})]

    def _spelt(self, statement: str) -> str:
        return for_psycopg(statement)
