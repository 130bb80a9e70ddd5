"""What a PostgreSQL server says of its tables, keys, triggers and rules, and what its errors are about."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping
from functools import lru_cache

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import TransactionStatus
from team_console.store.backends.sql.connection import (
    Column,
    Connection,
    Meddler,
    Relation,
    sql_name,
)
from team_console.store.backends.sql.schema import OUR_TABLES

_TABLES = """
SELECT relname::text, has_table_privilege(pg_class.oid, 'SELECT')
FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace
WHERE relkind IN ('r', 'p') AND relpersistence <> 't' AND nspname <> 'pg_catalog' AND pg_table_is_visible(pg_class.oid)
AND relname::text IN
"""
_COLUMNS = """
WITH RECURSIVE found AS (
    SELECT attrelid, attnum, attname, attcollation, atttypid AS kind, atttypmod AS form, attnotnull AS is_required,
    atthasdef OR attidentity <> '' OR attgenerated <> '' AS has_default
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relname::text = :table AND relkind IN ('r', 'p', 'f', 'v', 'm') AND pg_table_is_visible(pg_class.oid)
    AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT attrelid, attnum, attname, attcollation, typbasetype, typtypmod, is_required OR typnotnull,
    has_default OR typdefault IS NOT NULL
    FROM found JOIN pg_type ON pg_type.oid = kind WHERE typtype = 'd'
)
SELECT attname::text, format_type(kind, form), EXISTS (
    SELECT FROM pg_index
    WHERE indrelid = attrelid AND indkey[0] = attnum AND indnkeyatts = 1 AND indisunique AND indisvalid
    AND indpred IS NULL
), is_required, has_default, ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = kind),
EXISTS (SELECT FROM pg_collation WHERE oid = attcollation AND NOT collisdeterministic)
FROM found JOIN pg_type ON pg_type.oid = kind WHERE typtype <> 'd' ORDER BY attnum
"""
"""A domain is the type that it was made of: what is written is cast to that, and the domain still has its say."""

_OUR_TABLE_NAMES = ", ".join(f"'{name}'" for name in sorted(OUR_TABLES))
# `relkind`: r is a table, p one in partitions, v a view, m a materialized view, f a table of another server.
_RELATION = f"""
SELECT relname::text, relkind::text, (
    SELECT min(source.relname::text) FROM pg_rewrite JOIN pg_depend ON pg_depend.objid = pg_rewrite.oid
    JOIN pg_class AS source ON source.oid = pg_depend.refobjid
    WHERE pg_rewrite.ev_class = pg_class.oid AND source.oid <> pg_class.oid
), row_security_active(pg_class.oid) OR EXISTS (
    SELECT FROM pg_class AS ours WHERE ours.relname IN ({_OUR_TABLE_NAMES}) AND ours.relkind = 'r'
    AND pg_table_is_visible(ours.oid) AND row_security_active(ours.oid)
), (
    SELECT min(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = pg_class.oid AND relkind = 'r'
), relkind = 'r' AND has_table_privilege(pg_class.oid, 'SELECT'), (
    WITH teams AS (
        SELECT one.relname, home.nspname, pg_table_is_visible(one.oid) AS is_used
        FROM pg_class AS one JOIN pg_namespace AS home ON home.oid = one.relnamespace
        WHERE one.relname IN (pg_class.relname, {_OUR_TABLE_NAMES})
        AND one.relkind IN ('r', 'p') AND home.nspname = ANY (current_schemas(false))
    )
    SELECT min(used.nspname || '.' || used.relname || ' and not ' || other.nspname || '.' || other.relname)
    FROM teams AS used JOIN teams AS other USING (relname)
    WHERE used.is_used AND NOT other.is_used AND EXISTS (SELECT FROM teams WHERE is_used AND nspname <> used.nspname)
)
FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace
WHERE lower(relname::text) = :name AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relpersistence <> 't'
AND nspname <> 'pg_catalog' AND pg_table_is_visible(pg_class.oid)
ORDER BY relname::text = :name DESC LIMIT 1
"""
"""Gives name, kind, table behind a view, whether rows are hidden, table that inherits, whether a row has a place, and
which tables are mixed (see `Relation`).
"""
_ROW_PLACE = "(({0}.ctid::text::point)[0]::bigint * 65536 + ({0}.ctid::text::point)[1]::bigint)"
"""Block and place in it of a row: rows are put behind each other, a changed one behind all."""
_MEDDLERS = """
WITH places AS (
    SELECT to_regclass(:table)::oid AS place
    UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass(:table)
)
SELECT DISTINCT 'trigger', tgname::text FROM pg_trigger JOIN places ON tgrelid = place
WHERE NOT tgisinternal AND tgtype & CAST(:bit AS integer) <> 0
UNION ALL
SELECT 'rule', rulename::text FROM pg_rewrite WHERE ev_class = to_regclass(:table) AND ev_type::text = :letter
ORDER BY 2
"""
_EVENTS = {"INSERT": (4, "3"), "UPDATE": (16, "2"), "DELETE": (8, "4")}
"""Event -> its bit in `pg_trigger.tgtype` and its letter in `pg_rewrite.ev_type`."""
_NOT_ABOUT_A_ROW = ("08", "0A", "25", "28", "3D", "40", "42", "53", "54", "55", "57", "58", "F0", "XX")
"""How the SQLSTATE of an error begins that says nothing of the row."""
_LOST_STATES = ("08", "57P01", "57P02", "57P03", "28", "3D", "53300")
"""How the SQLSTATE of an error begins that says that the server is not there for us: gone, shutting down, full."""


_SQL_PARTS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|::|:(?P<name>[A-Za-z_]\w*)|%""")
"""What has to be told apart: a text or a quoted name, which hold no parameter; a cast; a parameter; a `%`."""
SELECT_PID = "SELECT pg_backend_pid()"
"""Another process answers than the one that was connected to where a pooler stands between: each transaction may have
another session then, in which nothing is left, neither a prepared statement nor a setting."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it tells of errors that we tell of, and to stderr


class LenientText(Loader):
    """Reads texts of a database that does not look at them: bytes that are not UTF-8 stop nothing, as in SQLite."""

    def load(self, data: Buffer) -> str:
        """Return the text."""
        return bytes(data).decode("utf-8", "replace")


class PostgresConnection(Connection):
    """See `Connection`."""

    driver: psycopg.Connection
    kept_in: list[PostgresConnection]
    """Where it is kept between two uses: of the process that opened it."""
    error = psycopg.Error
    is_strict = True
    blob = "BYTEA"

    @property
    def is_idle(self) -> bool:
        """From the driver; a connection that was lost is not, either."""
        return self.driver.info.transaction_status == TransactionStatus.IDLE

    def answers(self) -> bool:
        """Return whether the server answers a statement; only so a cut line, or a server that went, is noticed."""
        try:
            return bool(self.scalar("SELECT 1"))
        except psycopg.Error:
            return False

    def tables(self, names: Collection[str]) -> Mapping[str, bool]:
        """See `Connection.tables`."""
        return dict(self.rows_among(_TABLES, [*names]))

    def columns(self, table: str) -> list[Column]:
        """See `Connection.columns`."""
        found = self.rows(_COLUMNS, {"table": table})
        return [
            Column(name, kind, is_key, is_required, has_default, frozenset(words) or None, ignores_case)
            for name, kind, is_key, is_required, has_default, words, ignores_case in found
        ]

    def refuses_row(self, error: Exception) -> bool:
        """See `Connection.refuses_row`: whatever is not about the server, the session, or the statement itself."""
        # guard: policy-refuses-the-row
        if is_policy_refusal(error):
            return True
        return not str(getattr(error, "sqlstate", None) or "08").startswith(_NOT_ABOUT_A_ROW)

    def check_at_once(self) -> None:
        """See `Connection.check_at_once`; Django's foreign keys wait for the commit. Each statement then says itself
        which table refuses what.
        """
        self.change("SET CONSTRAINTS ALL IMMEDIATE")

    def relation(self, name: str) -> Relation | None:
        """See `Connection.relation`."""
        found = self.first(_RELATION, {"name": name})
        if found is None:
            return None
        spelled, kind, source, hides_rows, inheriting, has_row_place, mixed_tables = found
        return Relation(
            spelled,
            None if kind in ("r", "p") else source or "",
            hides_rows,
            inheriting,
            _ROW_PLACE.format(sql_name(spelled)) if has_row_place else "",
            mixed_tables or "",
        )

    def indexes(self, table: str) -> frozenset[str]:
        """See `Connection.indexes`."""
        wanted = """
            SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE indrelid = to_regclass(:table) AND indisvalid
        """
        return frozenset(name for (name,) in self.rows(wanted, {"table": table}))

    def meddlers(self, table: str, event: str) -> list[Meddler]:
        """See `Connection.meddlers`: triggers of the table and of its partitions, and rules."""
        bit, letter = _EVENTS[event]
        found = self.rows(_MEDDLERS, {"table": table, "bit": bit, "letter": letter})
        return [Meddler(kind, name) for kind, name in found]

    def _for_driver(self, statement: str) -> str:
        return _for_psycopg(statement)


@lru_cache(maxsize=256)
def _for_psycopg(statement: str) -> str:
    """Return the statement with its parameters as `%(name)s`, and every other `%` doubled."""
    return _SQL_PARTS.sub(
        lambda part: f"%({part['name']})s" if part["name"] else part[0].replace("%", "%%"),
        statement,
    )


def is_policy_refusal(error: Exception) -> bool:
    """Return whether row security refused the row: by its SQLSTATE alone it could be the want of a right, too."""
    # Diagnostics hold no code of their own for it, and the words are those of the server's language.
    return isinstance(error, psycopg.Error) and error.diag.source_function == "ExecWithCheckOptions"


def milliseconds(wait: float) -> int:
    """Return seconds as the server counts a lock's timeout; 0 would be for ever."""
    return max(1, int(wait * 1000))


def is_lost(state: str | None) -> bool:
    """Return whether an error with this SQLSTATE says that the server is not there for us; without one nobody
    answered.
    """
    return state is None or state.startswith(_LOST_STATES)
