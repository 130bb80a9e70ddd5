"""PostgreSQL: teams on several machines; a table lock for writers, row locks for claims, LISTEN/NOTIFY for watchers.

A writer holds `agent_message` in SHARE ROW EXCLUSIVE mode: readers go on, every other writer waits, programs that know
nothing of team-console included. Claims hold it in ROW EXCLUSIVE mode, as any update does, and lock the rows they took.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import AsyncConnection, Error
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from team_console.store.backends.locations import cover, passwords_in, redact
from team_console.store.backends.sql.connection import Address, Column, Connection, for_psycopg
from team_console.store.backends.sql.schema import MESSAGES, NOTES, Dialect, Fetched, Mode, Progress, Shape
from team_console.store.contract.team import (
    OUTCOME_UNKNOWN,
    SERVER_READ_ONLY,
    UNKNOWN,
    Attendance,
    LockHolder,
    Presence,
    WatchHint,
    WatchState,
    is_presence_name,
    locked_error,
)
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError

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


# Presence on a server: one row for each process that is present, renewed again and again, by the server's clock.

BEAT_SECONDS = 0.5
"""How often a row is renewed."""
LATE_SECONDS = 2.0
"""Age of a row from which it is not known whether its process lives: three beats may be missed."""
GONE_SECONDS = 30.0
"""Age from which it counts as gone: a network or a process that stands still for a while ends no request."""
_FORGET_SECONDS = 3600
_TABLE = "team_console_presence"
_CREATE = f"""
CREATE TABLE IF NOT EXISTS {_TABLE}
(presence TEXT NOT NULL, name TEXT NOT NULL, seen_at TIMESTAMPTZ NOT NULL, PRIMARY KEY (presence, name))
"""
_BEAT = f"""
INSERT INTO {_TABLE} (presence, name, seen_at) VALUES (:presence, :name, clock_timestamp())
ON CONFLICT (presence, name) DO UPDATE SET seen_at = excluded.seen_at
"""
_LEAVE = f"DELETE FROM {_TABLE} WHERE presence = :presence AND name = :name"
_SWEEP = f"DELETE FROM {_TABLE} WHERE seen_at < clock_timestamp() - make_interval(secs => {_FORGET_SECONDS})"
_THERE = f"SELECT to_regclass('{_TABLE}')"
_LOOK = f"""
SELECT name, seen_at > clock_timestamp() - make_interval(secs => {LATE_SECONDS}) FROM {_TABLE}
WHERE presence = :presence AND seen_at > clock_timestamp() - make_interval(secs => {GONE_SECONDS})
"""
_FAILURES = (TeamError, OSError)

Connect = Callable[[], AbstractContextManager[Connection]]


@contextmanager
def announce(connect: Connect, presence: Presence, name: str) -> Iterator[bool]:
    """Be present as long as the block runs; yields whether the first row could be written.

    A console does not wait for the server, so it counts as announced before it is.
    """
    row = {"presence": str(presence), "name": name}
    waits = presence is not Presence.CONSOLE
    if waits and not _begin(connect, row):
        yield False
        return
    over = threading.Event()
    beating = threading.Thread(target=_beat, args=(connect, row, over, not waits), name="presence", daemon=True)
    # guard: presence-heartbeat
    beating.start()
    try:
        yield True
    finally:
        over.set()
        with suppress(*_FAILURES), connect() as connection:
            connection.change(_LEAVE, row)


def attendance(connect: Connect, presence: Presence) -> Attendance:
    """Who is present; unknown while the server cannot be asked."""
    try:
        with connect() as connection:
            if connection.scalar(_THERE) is None:
                return Attendance()
            rows = connection.rows(_LOOK, {"presence": str(presence)})
    except _FAILURES:
        return UNKNOWN
    known = [(name, is_fresh) for name, is_fresh in rows if is_presence_name(name)]
    # guard: stale-presence-row
    return Attendance(
        names=frozenset(name for name, is_fresh in known if is_fresh),
        doubtful=frozenset(name for name, is_fresh in known if not is_fresh),
    )


def _begin(connect: Connect, row: dict[str, str]) -> bool:
    """Make the table where there is none, forget who left long ago, and write the first row."""
    try:
        with connect() as connection:
            if connection.scalar(_THERE) is None:
                connection.run(_CREATE)
            connection.run(_SWEEP)
            connection.change(_BEAT, row)
    except _FAILURES:
        return False
    return True


def _beat(connect: Connect, row: dict[str, str], over: threading.Event, fresh: bool) -> None:
    """Renew the row until it is over; a server that is away is asked again at the next beat."""
    while fresh and not _begin(connect, row) and not over.wait(BEAT_SECONDS):
        pass
    while not over.wait(BEAT_SECONDS):
        with suppress(*_FAILURES), connect() as connection:
            connection.change(_BEAT, row)


# Notices changes in PostgreSQL: LISTEN for what team-console commits, a glance every second for what others do.

CHANNEL = "team_console"
_GLANCE_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0
_LOST = ("08", "57P01", "57P02", "57P03", "28", "3D", "53300")
_GLANCE = f"SELECT count(*), max(xmin::text::bigint), sum(xmin::text::bigint) FROM {MESSAGES}"


async def watch(options: Mapping[str, Any], *, passwords: Iterable[str] = ()) -> AsyncIterator[WatchHint]:
    """Yield a hint at once, after every change, when the server is lost (STALLED, with the reason) and found again.

    `options` are those of a psycopg connection; no reason shows one of the `passwords`. Ends only when it is closed.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            async for hint in _listen(options):
                pause = _FIRST_PAUSE
                yield hint
        except Exception as error:
            if not _is_passing(error):
                raise
            reason = cover(" ".join(str(error).split()), passwords) or type(error).__name__
            what = "no connection to the server" if is_lost(getattr(error, "sqlstate", None)) else "the server refuses"
            yield WatchHint(WatchState.STALLED, f"{what}: {reason}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


async def _listen(options: Mapping[str, Any]) -> AsyncIterator[WatchHint]:
    conninfo = make_conninfo("", **options)
    async with asyncio.timeout(2 * _ANSWER_SECONDS):
        connection = await AsyncConnection.connect(conninfo, autocommit=True)
    try:
        await connection.execute(f"LISTEN {CHANNEL}")
        seen = await _glance(connection)
        yield WatchHint(WatchState.LIVE)
        while True:
            notified = False
            async for _ in connection.notifies(timeout=_GLANCE_SECONDS, stop_after=1):
                notified = True
            now = await _glance(connection)
            if notified or now != seen:
                yield WatchHint(WatchState.LIVE)
            seen = now
    finally:
        await connection.close()


async def _glance(connection: AsyncConnection[Any]) -> object:
    """Also tells whether the server still answers: a connection cut without a word looks like silence."""
    asking = asyncio.ensure_future(connection.execute(_GLANCE))
    answered, _ = await asyncio.wait({asking}, timeout=_ANSWER_SECONDS)
    if not answered:
        # Cancelled on an open connection, the driver would wait for the server to say that it stopped.
        connection.pgconn.finish()
        asking.cancel()
        raise TimeoutError(f"no answer within {_ANSWER_SECONDS:g} s")
    return await (await asking).fetchone()


def is_lost(state: str | None) -> bool:
    """Whether an error with this SQLSTATE says that the server is not there for us; without one nobody answered."""
    return state is None or state.startswith(_LOST)


def _is_passing(error: Exception) -> bool:
    return isinstance(error, (Error, OSError, TimeoutError))


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
                    # guard: read-only-connection-closed
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
        return announce(self.connect, presence, name)

    def attendance(self, presence: Presence) -> Attendance:
        """Rows that were renewed a moment ago."""
        return attendance(self.connect, presence)

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
