"""SQLite: many processes of one machine on one file, a write-ahead log, synced commits."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.sql import ColumnElement, Select
from team_console.store.backends.presence_folder import PresenceFolder
from team_console.store.backends.sql.engines import sqlite_file
from team_console.store.backends.sql.engines.dialect import Dialect, Fetched, Mode, Progress
from team_console.store.backends.sql.tables import CREATE_MESSAGES, NOTES, Shape
from team_console.store.contract.locked import locked_error
from team_console.store.contract.presence import Attendance, Presence
from team_console.store.contract.team import LockHolder, WatchHint, WatchState
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem

LOOK_SECONDS = 0.05
"""How often a watcher looks at the files."""
_CHUNK = 1000
_TURN_SECONDS = 0.004
"""How often a waiting writer asks again. SQLite's own waiting sleeps ever longer, so that the latest comer wins."""
_COMMIT_WAIT_MS = 5000
"""Without the log a commit waits for readers."""
_REFUSALS = (
    ("readonly", Code.READ_ONLY, "Reading works; writing needs permission on the file and its folder."),
    ("database is locked", Code.STORE_LOCKED, "Another program holds the database; try again."),
    ("not a database", Code.STORE_UNREADABLE, "Name another file, or restore a copy of this one."),
    ("malformed", Code.STORE_UNREADABLE, "Stop all writers, then restore a copy or run: sqlite3 FILE .recover"),
    ("unable to open", Code.STORE_UNREADABLE, "Check that the file exists and may be read."),
    ("is full", Code.STORE_FAILED, "Free some space and try again; nothing was changed."),
    ("disk i/o", Code.STORE_FAILED, "Check the disk, and whether the file was cut or replaced."),
    ("no such", Code.STORE_UNREADABLE, "The database is not what it was when it was opened; look at the file."),
)


class Sqlite(Dialect):
    """One database file."""

    name = "sqlite"

    def __init__(self, path: Path, *, read_only: bool) -> None:
        super().__init__()
        self.path = path
        self.location = str(path)
        self.root = path
        self.read_only = read_only or not sqlite_file.can_write(path)
        self._files = sqlite_file.Files(path)
        self._presence = PresenceFolder(path.with_name(f"{path.name}-presence"))
        self._guard = threading.RLock()
        self._reader: Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._prepared = False
        pool: Any = {"poolclass": NullPool} if self.read_only else {"poolclass": QueuePool, "max_overflow": 40}
        self.engine = create_engine("sqlite://", creator=self._open, **pool)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """As `Dialect.connect`, on the file that is there now: a replaced one is another database."""
        self._follow_file()
        with super().connect() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One connection is kept for reading: only the same one can tell whether others have committed since."""
        if self.read_only:
            with super().reading() as connection:
                yield connection
            return
        with self._guard:
            self._follow_file()
            try:
                if self._reader is None:
                    self._reader = self.engine.connect()
                self.begin(self._reader, Mode.READ, wait=0.0, label="")
                yield self._reader
            except DBAPIError as error:
                self._forget()
                raise self.translate(error) from error
            finally:
                if self._reader is not None:
                    self.roll_back(self._reader)

    def close(self) -> None:
        """Close all connections."""
        with self._guard:
            self._forget()

    def mark(self, connection: Connection) -> object | None:
        """The file, and the number that SQLite changes with every commit of another connection."""
        if not self.read_only:
            return self._identity, connection.exec_driver_sql("PRAGMA data_version").scalar()
        found = self._files.version()
        return found if found.is_stable else None

    def present(self, presence: Presence, name: str) -> AbstractContextManager[bool]:
        """A locked file beside the database: a row that is renewed would wake everybody who watches the file."""
        try:
            mode = os.stat(self.path).st_mode & 0o777
        except OSError:
            return nullcontext(False)
        return self._presence.announce(presence, name, mode=mode)

    def attendance(self, presence: Presence) -> Attendance:
        """Whose file is locked."""
        return self._presence.attendance(presence)

    def places(self) -> Mapping[str, str]:
        """The file, its log and the folder of who is there."""
        path = os.path.abspath(self.path)
        return {"database": path, "log": f"{path}-wal", "presence": f"{path}-presence"}

    def in_transaction(self, connection: Connection) -> bool:
        """From the driver."""
        raw: Any = connection.connection.driver_connection
        return bool(raw.in_transaction)

    def prepare(self, connection: Connection) -> None:
        """Switch to the write-ahead log; a database that cannot have one works without."""
        if self._prepared:
            return
        connection.exec_driver_sql("PRAGMA busy_timeout = 1000")
        try:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        except DBAPIError as error:
            if "locked" in _words(error):
                return
            raise
        self._prepared = True

    def begin(self, connection: Connection, mode: Mode, *, wait: float, label: str) -> None:
        """Writers begin with the write lock: one that is asked for later can fail without waiting."""
        if mode is Mode.READ:
            connection.exec_driver_sql("BEGIN")
            return
        deadline = time.monotonic() + wait
        connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        while not _began(connection):
            if time.monotonic() >= deadline:
                raise locked_error(self.location, self.holder(), wait)
            time.sleep(_TURN_SECONDS)
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {_COMMIT_WAIT_MS}")
        if sqlite_file.identity(self.path) != self._identity:
            raise self._replaced("nothing was written")

    def commit(self, connection: Connection) -> None:
        """Durable when this returns: the log is synced at every commit."""
        connection.exec_driver_sql("COMMIT")
        if sqlite_file.identity(self.path) != self._identity:
            raise self._replaced("whether the change is in the new file is not known; repeat it with the same id")

    def fetch(
        self, connection: Connection, shape: Shape, *, since: object | None, progress: Progress | None
    ) -> Fetched:
        """Always everything: SQLite does not say which rows changed, and ten thousand are read in some 20 ms."""
        total = connection.execute(select(func.count()).select_from(shape.messages)).scalar_one() if progress else 0
        try:
            rows = self._fetch(connection, shape, total, progress)
        except sqlite3.OperationalError as error:
            if "decode to utf-8" not in str(error).lower():
                raise DBAPIError("", None, error) from error
            rows = self._fetch_broken_text(connection, shape)
        return Fetched(rows, True, len(rows))

    def _fetch(self, connection: Connection, shape: Shape, total: int, progress: Progress | None) -> list[Any]:
        """From the driver's own cursor: plain tuples cost half of what rows with names do."""
        notes = shape.has_ours and connection.execute(select(NOTES.c.message_id).limit(1)).first() is not None
        cursor: Any = connection.execute(shape.select_rows(notes=notes)).cursor
        rows: list[Any] = []
        while chunk := cursor.fetchmany(_CHUNK):
            rows += chunk
            if progress is not None and not progress(len(rows), total):
                raise InterruptedError
        cursor.close()
        return rows

    def by_age(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """As a moment: the two usual spellings of one do not sort as text."""
        return func.julianday(value)

    def lock_rows(self, statement: Select[Any], shape: Shape, *, skip: bool) -> Select[Any]:
        """Every transaction that writes has the whole database."""
        return statement

    def announce(self, connection: Connection) -> None:
        """Watchers see the commit itself."""

    def holder(self) -> LockHolder | None:
        """From the kernel's list of locks."""
        return sqlite_file.find_holder(self.path)

    def translate(self, error: DBAPIError) -> TeamError:
        """By SQLite's own words; they name no place, so the file is added."""
        words = _words(error)
        for part, code, hint in _REFUSALS:
            if part in words:
                return TeamError(code, f"{self.location}: {error.orig}", hint)
        return TeamError(Code.STORE_FAILED, f"{self.location}: {error.orig}", "Nothing was changed.")

    def problems(self) -> tuple[Problem, ...]:
        """A file that several machines see."""
        if not sqlite_file.is_on_network(self.path):
            return ()
        text = "the database is on a network file system, where SQLite's locks and log do not work across machines"
        hint = "Move it to a local disk, or the team to PostgreSQL: team-console migrate FROM TO"
        return (Problem("NETWORK_FILE_SYSTEM", "warning", self.location, text, hint),)

    async def watch(self) -> AsyncIterator[WatchHint]:
        """Look at the files a few times a second, and once more when a change is no longer fresh."""
        seen: sqlite_file.Version | None = None
        unsure = False
        while True:
            now = self._files.version()
            if now != seen or (unsure and now.is_stable):
                unsure = not now.is_stable
                seen = now
                yield WatchHint(WatchState.LIVE)
            await asyncio.sleep(LOOK_SECONDS)

    def _open(self) -> sqlite3.Connection:
        return sqlite_file.open_to_look(self.path) if self.read_only else sqlite_file.open_to_write(self.path)

    def _follow_file(self) -> None:
        """Leave the connections to a file that is no longer there.

        Raises:
            TeamError: `STORE_UNREADABLE` when there is none now.
        """
        found = sqlite_file.identity(self.path)
        with self._guard:
            if found != self._identity or self._pid != os.getpid():
                self._forget()
                self._identity = found
                self.generation += 1
        if found is None:
            raise TeamError(Code.STORE_UNREADABLE, f"{self.location} is gone", "Put the file back.", vanished=True)

    def _forget(self) -> None:
        reader, self._reader, self._prepared = self._reader, None, False
        same_process = self._pid == os.getpid()
        if reader is not None and same_process:
            reader.close()
        self._pid = os.getpid()
        self.dispose(close=same_process)

    def _fetch_broken_text(self, connection: Connection, shape: Shape) -> list[Any]:
        """Texts that are not UTF-8 come with replacement characters instead of stopping everything."""
        raw: Any = connection.connection.driver_connection
        raw.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            return self._fetch(connection, shape, 0, None)
        finally:
            raw.text_factory = str

    def _replaced(self, outcome: str) -> TeamError:
        text = f"{self.location} was replaced by another file; {outcome}"
        return TeamError(Code.STORE_FAILED, text, "Look which of the two files is the right one, then try again.")


def create_sqlite(path: Path) -> None:
    """Make a new database file with the table of seed 003; the file must not exist, or be empty.

    Raises:
        TeamError: `STORE_FAILED` when it cannot be made.
    """
    try:
        path.touch(mode=0o600, exist_ok=True)
        connection = sqlite_file.open_to_write(path)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(CREATE_MESSAGES.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        finally:
            connection.close()
    except (OSError, sqlite3.Error) as error:
        raise TeamError(Code.STORE_FAILED, f"{path}: {error}", "Choose another place.") from error


def _began(connection: Connection) -> bool:
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except DBAPIError as error:
        if "locked" in _words(error):
            return False
        raise
    return True


def _words(error: DBAPIError) -> str:
    return str(error.orig).lower()
