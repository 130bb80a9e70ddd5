"""PostgreSQL: teams on several machines; a table lock for writers, LISTEN/NOTIFY for watchers.

A writer holds `agent_message` in SHARE ROW EXCLUSIVE mode: readers go on, every other writer waits, programs that know
nothing of team-console included.

First stands how processes are present (`PresentOnServer`) and how changes are noticed (`listen`), then the team.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from team_console.store.backends.locations import cover, passwords_in, redact
from team_console.store.backends.sql.audit_trail import AuditRow
from team_console.store.backends.sql.connection import Connection
from team_console.store.backends.sql.postgres_connection import (
    SELECT_PID,
    LenientText,
    PostgresConnection,
    is_lost,
    is_policy_refusal,
    milliseconds,
)
from team_console.store.backends.sql.row_reader import LARGE, finished_rows, unfinished_rows
from team_console.store.backends.sql.schema import AUDIT, MESSAGES, POLICY_HINT, TABLE_CHANGED, Shape, find_shape
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.snapshot import OUTCOME_UNKNOWN, SERVER_READ_ONLY, LockHolder, locked_error
from team_console.store.contract.team import (
    UNKNOWN_ATTENDANCE,
    Attendance,
    Presence,
    WatchHint,
    WatchState,
    is_presence_name,
)
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import state_folder
from team_console.store.model.safe import first_of

BEAT_SECONDS = 0.5
"""How often a row is renewed."""
LATE_SECONDS = 2.0
"""Age of a row from which it is not known whether its process lives: three beats may be missed."""
GONE_SECONDS = 30.0
"""Age from which it counts as gone: a network or a process that stands still for a while ends no request."""
_FORGET_SECONDS = 3600
"""Age from which a row is deleted by whoever comes."""
_PRESENT = "team_console_presence"
_CREATE_TABLE = f"""
CREATE TABLE IF NOT EXISTS {_PRESENT}
(presence TEXT NOT NULL, name TEXT NOT NULL, seen_at TIMESTAMPTZ NOT NULL, PRIMARY KEY (presence, name))
"""
_BEAT = f"""
INSERT INTO {_PRESENT} (presence, name, seen_at)
SELECT :presence, :name, clock_timestamp() FROM set_config('synchronous_commit', 'off', true)
ON CONFLICT (presence, name) DO UPDATE SET seen_at = excluded.seen_at
"""
"""Its commit, and no other, waits for no disk and no other server: the next beat renews a row that a crash loses."""
_LEAVE = f"DELETE FROM {_PRESENT} WHERE presence = :presence AND name = :name"
_SWEEP = f"DELETE FROM {_PRESENT} WHERE seen_at < clock_timestamp() - make_interval(secs => {_FORGET_SECONDS})"
_PRESENCE_TABLE = f"SELECT to_regclass('{_PRESENT}')"
_SELECT_PRESENT = f"""
SELECT name, seen_at > clock_timestamp() - make_interval(secs => {LATE_SECONDS}) FROM {_PRESENT}
WHERE presence = :presence AND seen_at > clock_timestamp() - make_interval(secs => {GONE_SECONDS})
"""
_AWAY = (TeamError, OSError)
"""What is raised while the server cannot be asked."""


class PresentOnServer(SqlTeam):
    """A team whose processes are present by a row each; one that is not renewed any more counts as gone."""

    @contextmanager
    def announce(self, presence: Presence, name: str) -> Iterator[bool]:
        """Keep a row with a heartbeat. A console waits for no server, so it counts as announced before it is."""
        row = {"presence": str(presence), "name": name}
        waits = presence is not Presence.CONSOLE
        if self.read_only or (waits and not self._write_first_row(row)):
            yield False
            return
        over = threading.Event()
        beating = threading.Thread(target=self._beat, args=(row, over, not waits), name="presence", daemon=True)
        # guard: presence-heartbeat
        beating.start()
        try:
            yield True
        finally:
            over.set()
            with suppress(*_AWAY), self.connect() as connection:
                connection.change(_LEAVE, row)

    def attendance(self, presence: Presence) -> Attendance:
        """Return whose row was renewed a moment ago; unknown while the server cannot be asked."""
        try:
            with self.connect() as connection:
                if connection.scalar(_PRESENCE_TABLE) is None:
                    return Attendance()
                rows = connection.rows(_SELECT_PRESENT, {"presence": str(presence)})
        except _AWAY:
            return UNKNOWN_ATTENDANCE
        known = [(name, is_fresh) for name, is_fresh in rows if is_presence_name(name)]
        # guard: stale-presence-row
        return Attendance(
            names=frozenset(name for name, is_fresh in known if is_fresh),
            doubtful=frozenset(name for name, is_fresh in known if not is_fresh),
        )

    def _write_first_row(self, row: dict[str, str]) -> bool:
        """Make the table where there is none, forget who left long ago, and write the first row."""
        try:
            with self.connect() as connection:
                if connection.scalar(_PRESENCE_TABLE) is None:
                    connection.change(_CREATE_TABLE)
                connection.change(_SWEEP)
                connection.change(_BEAT, row)
        except _AWAY:
            return False
        return True

    def _beat(self, row: dict[str, str], over: threading.Event, begins: bool) -> None:
        """Renew the row until it is over; a server that is away is asked again at the next beat.

        Args:
            begins: Whether the first row is still to be written.
        """
        while begins and not self._write_first_row(row) and not over.wait(BEAT_SECONDS):
            pass
        while not over.wait(BEAT_SECONDS):
            with suppress(*_AWAY), self.connect() as connection:
                connection.change(_BEAT, row)


CHANNEL = "team_console"
"""Where a commit is told of to those who LISTEN."""
_GLANCE_SECONDS = 1.0
"""How often a watcher looks whether other programs changed the table."""
_ANSWER_SECONDS = 5.0
"""How long it waits for the answer; then the server counts as away."""


async def listen(conninfo: str, look: Callable[[], Shape | None]) -> AsyncIterator[WatchHint]:
    """Yield a hint at once and after every change, until the server is lost; `look` tells what the table is.

    Behind a pooler, and at a replica that only reads, nobody is notified: there the glances have to do.
    """
    async with asyncio.timeout(2 * _ANSWER_SECONDS):
        connection = await AsyncConnection.connect(conninfo, autocommit=True)
    try:
        asked = await connection.execute(f"{SELECT_PID}, pg_is_in_recovery()")
        pid, is_replica = await asked.fetchone() or (0, False)
        if pid != connection.info.backend_pid:
            connection.prepare_threshold = None
        else:
            await connection.execute(f"SET lock_timeout = {milliseconds(_ANSWER_SECONDS / 2)}")
            # guard: no-listening-where-nobody-notifies
            if not is_replica:
                await connection.execute(f"LISTEN {CHANNEL}")
        glance = _glance_statement(await asyncio.to_thread(look))
        seen = await _ask_server(connection, glance)
        yield WatchHint(WatchState.LIVE)
        while True:
            notified = False
            async for _ in connection.notifies(timeout=_GLANCE_SECONDS, stop_after=1):
                notified = True
            now = await _ask_server(connection, glance)
            if notified or now != seen:
                yield WatchHint(WatchState.LIVE)
            seen = now
    finally:
        await connection.close()


async def _ask_server(connection: AsyncConnection[Any], glance: str) -> object:
    """Return the first row of a glance; raises where no answer comes, since a cut connection looks like silence."""
    asking = asyncio.ensure_future(connection.execute(glance))
    answered, _ = await asyncio.wait({asking}, timeout=_ANSWER_SECONDS)
    if not answered:
        # Cancelled on an open connection, the driver would wait for the server to say that it stopped.
        connection.pgconn.finish()
        asking.cancel()
        raise TimeoutError(f"no answer within {_ANSWER_SECONDS:g} s")
    return await (await asking).fetchone()


def _glance_statement(shape: Shape | None) -> str:
    """Return the statement whose answer changes with the table: with any row of a small one, with a live row of a large
    one and with the newest finished one. An index finds those, so that finished rows cost no watcher anything.
    """
    every = "count(*), max(xmin::text::bigint), sum(xmin::text::bigint)"
    whole = f"SELECT ROW({every})::text FROM {MESSAGES}"
    # guard: over-rows-cost-no-watcher
    if shape is not None:
        has_age = "created_at" in shape.types
        newest = f"(SELECT max(created_at) FROM {MESSAGES} WHERE {finished_rows(shape)})" if has_age else "NULL"
        in_part = f"SELECT ROW({every}, {newest})::text FROM {MESSAGES} WHERE {unfinished_rows(shape)}"
        return f"SELECT CASE WHEN EXISTS (SELECT FROM {MESSAGES} OFFSET {LARGE}) THEN ({in_part}) ELSE ({whole}) END"
    return whole


_FIRST_RECONNECT_SECONDS, _LONGEST_RECONNECT_SECONDS = 0.25, 5.0
_FULL_WORDS = ("too many clients", "too many connections", "connection slots", "no more connections allowed")
"""What a server says that has no connection left, or its pooler."""
_CONNECT = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A cut connection is noticed within ten seconds, whatever the system's own defaults are."""
_PLAIN_DATES = "SET LOCAL datestyle = ISO"
"""Whatever the database's own setting is: moments are read as texts."""
_HOLDER = f"""
SELECT a.pid, coalesce(host(a.client_addr), 'the server'), a.xact_start, a.application_name
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.relation = to_regclass('{MESSAGES}') AND l.granted AND l.pid <> pg_backend_pid()
  AND l.mode IN ('ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
ORDER BY a.xact_start LIMIT 1
"""
_READ_ONLY, _LOCK_TIMEOUT = "25006", "55P03"
_REFUSALS = {
    _LOCK_TIMEOUT: (Code.STORE_LOCKED, "Try again."),
    _READ_ONLY: (Code.READ_ONLY, "Reading works. Write once the server takes writes again."),
    "42501": (Code.READ_ONLY, "Ask for the rights to write; reading works without."),
    **dict.fromkeys(TABLE_CHANGED, (Code.STORE_UNREADABLE, "The tables are not what they were when they were opened.")),
    "53100": (Code.STORE_FAILED, "Free some space on the server and try again; nothing was changed."),
    "40P01": (Code.STORE_FAILED, "Another program waited for this one; try again."),
}


_OF_PARENT_PROCESS: list[PostgresConnection] = []
"""Connections of the process that this one was forked from. They are its own: closed here, they would end there."""
_OUTCOME_PAUSE_SECONDS = 0.1
"""Seconds from one try to ask the server for a lost commit to the next."""
_MOST_NAMED = 5


class PostgresTeam(PresentOnServer):
    """One database on a server."""

    error = psycopg.Error

    def __init__(self, address: str, *, read_only: bool, clock: Clock) -> None:
        """Take an address as libpq knows it. Raises `ValueError` for any other text."""
        try:
            options = conninfo_to_dict(address)
        except psycopg.Error:  # whose words may hold a password
            raise ValueError("no address of a database") from None
        # A function, since nobody shows what one holds: the password belongs in no traceback.
        self._connection_string: Callable[..., str] = lambda **own: make_conninfo("", **{**_CONNECT, **own, **options})
        location = redact(address)
        inbox_folder = state_folder() / "inbox" / f"{zlib.crc32(location.encode()):08x}"
        super().__init__(location, None, inbox_folder, read_only=read_only, clock=clock)
        self._passwords = passwords_in(address)
        self._kept_connections: list[PostgresConnection] = []
        self._is_closed = False
        self._pid = os.getpid()

    def take(self) -> PostgresConnection:
        """Return the connection that is kept, or another while that one is in use; what the address says goes before
        ours.
        """
        if self._pid != os.getpid():
            _OF_PARENT_PROCESS.extend(self._kept_connections)
            # guard: connection-per-process
            self._kept_connections, self._pid = [], os.getpid()
        with suppress(IndexError):
            while connection := self._kept_connections.pop():
                # guard: dead-connection-replaced
                if connection.answers():
                    return connection
                connection.close()
        # Whatever the database is in, it converts, or says that it cannot.
        conninfo = self._connection_string(application_name="team-console")
        connection = PostgresConnection(psycopg.connect(conninfo, autocommit=True, client_encoding="UTF8"))
        try:
            self._set_up(connection.driver)
        except psycopg.Error:
            connection.close()
            raise
        connection.kept_in = self._kept_connections
        return connection

    def _set_up(self, driver: psycopg.Connection) -> None:
        """Prepare a new connection: for a pooler between, for reading alone, for a database without an encoding."""
        if driver.execute(SELECT_PID).fetchone() != (driver.info.backend_pid,):
            # guard: nothing-left-with-a-pooled-session
            driver.prepare_threshold = None
        elif self.read_only:
            driver.execute("SET default_transaction_read_only = on")
        # guard: no-encoding-is-read-leniently
        if driver.info.parameter_status("server_encoding") == "SQL_ASCII":
            driver.execute("SET client_encoding TO 'SQL_ASCII'")
            driver.adapters.register_loader("text", LenientText)

    def give_back(self, connection: PostgresConnection) -> None:
        """Keep one for the next who asks: to connect costs more than most transactions."""
        if connection.kept_in is self._kept_connections and not self._kept_connections and connection.is_idle:
            self._kept_connections.append(connection)
        else:
            connection.close()
        # Looked at once it is kept: who closes meanwhile, in another thread, finds either it or what it left.
        # guard: closed-team-keeps-no-connection
        if self._is_closed:
            self.close()

    def close(self) -> None:
        """Close the one that is kept, and keep none any more."""
        self._is_closed = True
        while self._kept_connections and self._pid == os.getpid():
            with suppress(IndexError):
                self._kept_connections.pop().close()

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Lend a connection, as `SqlTeam.connect`. After a refusal to write it is closed, since a session keeps the
        default that it began with; so it is where tables were changed: what is prepared in it is refused to its end.
        """
        with super().connect() as connection:
            try:
                yield connection
            except (psycopg.Error, TeamError) as error:
                state = getattr(error, "sqlstate", None) or getattr(error.__cause__, "sqlstate", None)
                if state in (_READ_ONLY, *TABLE_CHANGED):
                    # guard: outlived-session-closed
                    connection.close()
                raise

    def begin_reading(self, connection: Connection) -> None:
        """See `SqlTeam.begin_reading`; a table that another program keeps to itself is waited for, but not for ever."""
        # guard: look-waits-for-no-lock-for-ever
        patience = f"SET LOCAL lock_timeout = {milliseconds(self.look_wait)}"
        connection.change(f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_PLAIN_DATES}; {patience}")

    @contextmanager
    def _reading(self) -> Iterator[tuple[Connection, Shape]]:
        """Enter a moment of the database, as `SqlTeam._reading`, and name whoever keeps a table locked."""
        with super()._reading() as (connection, shape), self._naming_holder(connection, self.look_wait):
            yield connection, shape

    @contextmanager
    def _naming_holder(self, connection: Connection, wait: float) -> Iterator[None]:
        """Say who keeps the table locked where the block waited for it in vain; what was begun is undone.

        Raises:
            TeamError: `STORE_LOCKED`, with whoever keeps it.
        """
        try:
            yield
        except psycopg.Error as error:
            if error.sqlstate != _LOCK_TIMEOUT:
                raise
            self.roll_back(connection)
            raise locked_error(self.location, self._find_holder(connection), wait) from error

    def begin_writing(self, connection: Connection, *, wait: float, label: str, has_table: bool = True) -> None:
        """Begin a transaction and lock the table, in one round trip: with the time to wait, whatever the role's own
        limit of a statement is, and with who we are for `pg_stat_activity`.

        Where there is no table yet, a lock of ours keeps two from making it at once.
        """
        lock = f"LOCK TABLE {MESSAGES} IN SHARE ROW EXCLUSIVE MODE"
        if not has_table:
            lock = f"SELECT pg_advisory_xact_lock(hashtext('{MESSAGES}'))"
        # Printable ASCII but quote and backslash: it stands as a text in the statement. The server keeps 63 bytes.
        words = re.sub(r"[^\x20-\x26\x28-\x5b\x5d-\x7e]", "?", f"team-console {label}")[:63]
        with self._naming_holder(connection, wait):
            connection.change(
                f"BEGIN ISOLATION LEVEL READ COMMITTED; {_PLAIN_DATES}; "
                f"SET LOCAL lock_timeout = {milliseconds(wait)}; SET LOCAL statement_timeout = 0; "
                f"SET LOCAL application_name = '{words}'; {lock}; SET LOCAL statement_timeout TO DEFAULT",
            )

    def commit(
        self, connection: Connection, line: AuditRow | None = None, ids: Iterable[str] = (), *, wait: float = 0.0
    ) -> None:
        """Commit; durable when this returns, as far as the server's `synchronous_commit` goes.

        If the connection is lost over it, the server is asked on another, never guessed, and the commit never repeated.
        """
        try:
            connection.change("COMMIT")
        except psycopg.Error as error:
            if connection.is_idle:  # the server lives and said no
                raise
            if not self._was_committed(line, ids, time.monotonic() + wait, error):
                text = f"{self.location}: the connection was lost before the commit; nothing was changed"
                raise TeamError(Code.STORE_FAILED, text, "Try again.") from error

    def _was_committed(self, line: AuditRow | None, ids: Iterable[str], end: float, error: Exception) -> bool:
        """Ask the server, until `end`, whether the commit over which the connection was lost was done.

        Raises:
            TeamError: `STORE_FAILED` where nobody can tell (`OUTCOME_UNKNOWN`).
        """
        while line is not None:
            try:
                return self._is_on_record(line)
            except TeamError:
                if time.monotonic() >= end:
                    break
                time.sleep(_OUTCOME_PAUSE_SECONDS)
        text = f"{self.location}: the connection was lost during the commit; whether it was done is not known"
        hint, facts = "Look at the team, or repeat with the same id.", dict[str, Any]({OUTCOME_UNKNOWN: True})
        if named := list(ids):
            text = f"{text}; it was to write {first_of(named, _MOST_NAMED)}"
            hint = f"Look for it once the server is back: team-console show {named[0]}"
            facts["ids"] = named
        raise TeamError(Code.STORE_FAILED, text, hint, **facts) from error

    def _is_on_record(self, line: AuditRow) -> bool:
        """Return whether the audit trail has this line, once whoever still commits has given the table free."""
        with self.connect() as connection:
            # guard: pending-commit-awaited
            self.begin_writing(connection, wait=1.0, label="look for a commit")
            found = connection.scalar(f"SELECT hash FROM {AUDIT} WHERE seq = :seq", {"seq": line.seq})
            # guard: done-commit-not-failed
            # guard: missing-commit-not-done
            return bool(found == line.hash)

    def notify(self, connection: Connection) -> None:
        """Notify watchers, who get it when the commit is done."""
        connection.change(f"SELECT pg_notify('{CHANNEL}', current_schema())")

    def holder(self) -> LockHolder | None:
        """Return the holder of the write lock, from the server's list of locks."""
        try:
            with self.connect() as connection:
                return self._find_holder(connection)
        except TeamError:
            return None

    def translate(self, error: Exception) -> TeamError:
        """Return the user's error by the SQLSTATE of the driver's; without one the server was not reached."""
        state = getattr(error, "sqlstate", None)
        words = self._words_of(error)
        if is_lost(state):
            full = "It has as many connections as it takes (max_connections). End some, or try again."
            away = "Nothing is lost on the server. Check the network, and that it runs; then try again."
            # Who is refused while connecting gets no SQLSTATE, only words.
            hint = full if state == "53300" or any(part in words for part in _FULL_WORDS) else away
            return TeamError(Code.STORE_UNREADABLE, f"{self.location}: {words}", hint)
        code, hint = _REFUSALS.get(str(state), (Code.STORE_FAILED, "Nothing was changed."))
        if is_policy_refusal(error):
            code, hint = Code.NOT_PERMITTED, POLICY_HINT
        facts = {SERVER_READ_ONLY: True} if state == _READ_ONLY and not self.read_only else {}
        return TeamError(code, f"{self.location}: {words}", hint, **facts)

    async def watch(self) -> AsyncIterator[WatchHint]:
        """Watch by notifications over a connection of its own; say why a server is lost, and ask it again."""
        pause = _FIRST_RECONNECT_SECONDS
        while True:
            try:
                async for hint in listen(self._connection_string(application_name="team-console watch"), self._shape):
                    pause = _FIRST_RECONNECT_SECONDS
                    yield hint
            except (psycopg.Error, OSError) as error:
                state = getattr(error, "sqlstate", None)
                what = "no connection to the server" if is_lost(state) else "the server refuses"
                what = "another program keeps the table locked" if state == _LOCK_TIMEOUT else what
                yield WatchHint(WatchState.STALLED, f"{what}: {self._words_of(error)}")
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_RECONNECT_SECONDS)

    def _shape(self) -> Shape | None:
        """Return the table as it is now; None where there is none that can be read."""
        try:
            with self.connect() as connection:
                return find_shape(connection)
        except TeamError:
            return None

    def _words_of(self, error: Exception) -> str:
        """Return the words of the driver on one line, without a password."""
        return cover(" ".join(str(error).split()), self._passwords) or type(error).__name__

    def _find_holder(self, connection: Connection) -> LockHolder | None:
        """Return the session that keeps the table locked to write; None where none does."""
        found = connection.first(_HOLDER)
        if found is None:
            return None
        pid, host, since, name = found
        action = str(name).removeprefix("team-console ")
        return LockHolder(pid, host, to_text(since) if since else "", action, True)
