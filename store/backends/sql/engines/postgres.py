"""PostgreSQL: teams on several machines; a table lock for writers, row locks for claims, LISTEN/NOTIFY for watchers.

A writer holds `agent_message` in SHARE ROW EXCLUSIVE mode: readers go on, every other writer waits, programs that know
nothing of team-console included. Claims hold it in ROW EXCLUSIVE mode, as any update does, and lock the rows they took.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from team_console.store.backends.redact import cover, passwords_in, redact
from team_console.store.backends.sql.engines import postgres_presence
from team_console.store.backends.sql.engines.address import Address
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.dialect import Dialect, Fetched, Mode, Progress
from team_console.store.backends.sql.engines.postgres_connection import PostgresConnection
from team_console.store.backends.sql.engines.postgres_watch import CHANNEL, is_lost, watch
from team_console.store.backends.sql.shape import Shape
from team_console.store.backends.sql.tables import MESSAGES, NOTES
from team_console.store.contract.locked import locked_error
from team_console.store.contract.presence import Attendance, Presence
from team_console.store.contract.team import OUTCOME_UNKNOWN, SERVER_READ_ONLY, LockHolder, WatchHint
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError

_CONNECT = {
    **{"connect_timeout": 5, "keepalives": 1, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3},
    **{"tcp_user_timeout": 10_000},
}
"""A cut connection is noticed within ten seconds, whatever the system's own defaults are."""
_CHUNK = 1000
_PLAIN_DATES = "SET LOCAL datestyle = ISO"
"""Whatever the database's own setting is: moments are read as texts."""
_HOLDER = f"""
SELECT a.pid, coalesce(host(a.client_addr), 'the server'), a.xact_start, a.application_name
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.relation = to_regclass('{MESSAGES}') AND l.granted AND l.pid <> pg_backend_pid()
  AND l.mode IN ('ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
ORDER BY a.xact_start LIMIT 1
"""
_HORIZON = f"""
SELECT pg_postmaster_start_time()::text, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, count(*) FROM {MESSAGES}
"""
_READ_ONLY = "25006"
_REFUSALS = {
    "55P03": (Code.STORE_LOCKED, "Try again."),
    _READ_ONLY: (Code.READ_ONLY, "Reading works. Write once the server takes writes again."),
    "42501": (Code.READ_ONLY, "Ask for the rights to write; reading works without."),
    "42P01": (Code.STORE_UNREADABLE, "The tables are not what they were when they were opened."),
    "42703": (Code.STORE_UNREADABLE, "The tables are not what they were when they were opened."),
    "53100": (Code.STORE_FAILED, "Free some space on the server and try again; nothing was changed."),
    "40P01": (Code.STORE_FAILED, "Another program locked the rows the other way round; try again."),
}


class Postgres(Dialect):
    """One database on a server."""

    root = None
    error = psycopg.Error

    def __init__(self, address: Address, *, read_only: bool) -> None:
        super().__init__()
        self.address = address
        self.location = redact(address.spelt)
        state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
        self.inbox_folder = state / "team-console" / "inbox" / f"{zlib.crc32(self.location.encode()):08x}"
        self._passwords = passwords_in(address.spelt)
        self.read_only = read_only

    def open(self) -> Connection:
        """What the address says goes before our own settings."""
        options: dict[str, str | int] = {**_CONNECT, "application_name": "team-console"}
        if self.read_only:
            options["options"] = "-c default_transaction_read_only=on"
        conninfo = make_conninfo("", **{**options, **self.address.options})
        return PostgresConnection(psycopg.connect(conninfo, autocommit=True))

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """As `Dialect.connect`; after a refusal to write a new one: a session keeps the default that it began with."""
        with super().connect() as connection:
            try:
                yield connection
            except (psycopg.Error, TeamError) as error:
                if getattr(error, "sqlstate", None) == _READ_ONLY or _is_read_only(error):
                    connection.close()
                raise

    def begin(self, connection: Connection, mode: Mode, *, wait: float, label: str) -> None:
        """One round trip: the transaction, how long to wait, who we are for `pg_stat_activity`, the table."""
        if mode is Mode.READ:
            connection.run(f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_PLAIN_DATES}")
            return
        lock = "SHARE ROW EXCLUSIVE" if mode is Mode.WRITE else "ROW EXCLUSIVE"
        words = re.sub(r"[^\x20-\x26\x28-\x5b\x5d-\x7e]", "?", f"team-console {label}")[:63]
        try:
            connection.run(
                f"BEGIN ISOLATION LEVEL READ COMMITTED; {_PLAIN_DATES}; "
                f"SET LOCAL lock_timeout = {max(1, int(wait * 1000))}; "
                f"SET LOCAL application_name = '{words}'; LOCK TABLE {MESSAGES} IN {lock} MODE",
            )
        except psycopg.Error as error:
            if error.sqlstate != "55P03":
                raise
            self.roll_back(connection)
            raise locked_error(self.location, self._holder(connection), wait) from error

    def commit(self, connection: Connection) -> None:
        """Durable when this returns, as far as the server's `synchronous_commit` goes."""
        try:
            connection.run("COMMIT")
        except psycopg.Error as error:
            if connection.is_idle:  # the server lives and said no
                raise
            text = f"{self.location}: the connection was lost during the commit; whether it was done is not known"
            hint = "Look at the team, or repeat with the same id."
            raise TeamError(Code.STORE_FAILED, text, hint, **{OUTCOME_UNKNOWN: True}) from error

    def fetch(
        self, connection: Connection, shape: Shape, *, since: object | None, progress: Progress | None
    ) -> Fetched:
        """Only rows written by transactions that were not over when the watermark was taken.

        A watermark says nothing about a server that was started since: it may be a replica or a restored copy.
        """
        ((started, horizon, count),) = connection.rows(_HORIZON)
        condition, values = "", {}
        match since:
            case (before, int(seen)) if before == started:
                condition, values = _changed(shape), {"since": str(seen % 2**32)}
        rows: list[Any] = []
        for chunk in connection.chunks(_CHUNK, shape.rows(condition), values):
            rows += chunk
            if progress is not None and not condition and not progress(len(rows), count):
                raise InterruptedError
        return Fetched(rows, not condition, count, (started, horizon))

    def by_age(self, moment: str) -> str:
        """The column itself is a timestamp."""
        return moment

    def keeping(self, table: str, *, skip: bool = False) -> str:
        """FOR UPDATE, with SKIP LOCKED where several workers share one inbox."""
        return f" FOR UPDATE OF {table}{' SKIP LOCKED' if skip else ''}"

    def announce(self, connection: Connection) -> None:
        """NOTIFY; watchers get it when the commit is done."""
        connection.run(f"SELECT pg_notify('{CHANNEL}', current_schema())")

    def holder(self) -> LockHolder | None:
        """From the server's list of locks."""
        try:
            with self.connect() as connection:
                return self._holder(connection)
        except TeamError:
            return None

    def translate(self, error: Exception) -> TeamError:
        """By SQLSTATE; without one the server was not reached."""
        state = getattr(error, "sqlstate", None)
        words = cover(" ".join(str(error).split()), self._passwords) or type(error).__name__
        if is_lost(state):
            full = "It has as many connections as it takes (max_connections). End some, or try again."
            away = "Nothing is lost on the server. Check the network, and that it runs; then try again."
            hint = full if state == "53300" else away
            return TeamError(Code.STORE_UNREADABLE, f"{self.location}: {words}", hint)
        code, hint = _REFUSALS.get(str(state), (Code.STORE_FAILED, "Nothing was changed."))
        facts = {SERVER_READ_ONLY: True} if state == _READ_ONLY and not self.read_only else {}
        return TeamError(code, f"{self.location}: {words}", hint, **facts)

    def watch(self) -> AsyncIterator[WatchHint]:
        """Notifications over a connection of its own."""
        options = {**self.address.options, **_CONNECT, "application_name": "team-console watch"}
        return watch(options, passwords=self._passwords)

    def present(self, presence: Presence, name: str) -> AbstractContextManager[bool]:
        """A row with a heartbeat."""
        return postgres_presence.announce(self.connect, presence, name)

    def attendance(self, presence: Presence) -> Attendance:
        """Rows that were renewed a moment ago."""
        return postgres_presence.attendance(self.connect, presence)

    def _holder(self, connection: Connection) -> LockHolder | None:
        found = connection.first(_HOLDER)
        if found is None:
            return None
        pid, host, since, name = found
        action = str(name).removeprefix("team-console ")
        return LockHolder(pid, host, to_text(since) if since else "", action, True)


def _is_read_only(error: Exception) -> bool:
    return isinstance(error, TeamError) and bool(error.facts.get(SERVER_READ_ONLY))


def _changed(shape: Shape) -> str:
    """Compared by age, which is right across the wrap of transaction numbers."""
    tables = [MESSAGES, NOTES] if shape.has_ours else [MESSAGES]
    return " OR ".join(f"age({name}.xmin) <= age(CAST(:since AS xid))" for name in tables)
