"""SQLite: many processes of one machine on one file, a write-ahead log, synced commits."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from team_console.store.backends.presence_folder import PresenceFolder
from team_console.store.backends.sql.engines import sqlite_file
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.dialect import LEFT_ALONE, Dialect, Fetched, Mode, Progress
from team_console.store.backends.sql.engines.sqlite_connection import SqliteConnection
from team_console.store.backends.sql.shape import Shape
from team_console.store.backends.sql.tables import MESSAGES, NOTES
from team_console.store.contract.locked import locked_error
from team_console.store.contract.presence import Attendance, Presence
from team_console.store.contract.team import OUTCOME_UNKNOWN, PROCESS_LOST, LockHolder, WatchHint
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem

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

    error = sqlite3.Error

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.read_only = read_only or not sqlite_file.can_write(path)
        super().__init__(keeps=0 if self.read_only else 2)
        self.path = path
        self.location = str(path)
        self.root = path
        self.inbox_folder = path.with_name("inbox")
        self._files = sqlite_file.Files(path)
        self._presence = PresenceFolder(path.with_name(f"{path.name}-presence"))
        self._guard = threading.RLock()
        self._reader: Connection | None = None
        self._reader_pid = os.getpid()
        self._readers = 0
        self._identity: tuple[int, int] | None = None
        self._prepared = False
        self._log_path, self._index_path = (path.with_name(f"{path.name}-{kind}") for kind in ("wal", "shm"))
        self._beside: dict[Path, tuple[int, int] | None] = {}
        """Log and index that connections have open, so far as they were used."""
        self._held: int | None = None
        self._lost_index = False

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """As `Dialect.connect`, on the file that is there now: a replaced one is another database."""
        self._follow_file()
        with super().connect() as connection:
            yield connection
            self._note_beside()

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
                    self._reader = self.open()
                    self._readers += 1
                self.begin(self._reader, Mode.READ, wait=0.0, label="")
                yield self._reader
                self._note_beside()
            except sqlite3.Error as error:
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
        """The file, the connection, and its number that SQLite changes with every commit of another connection."""
        if not self.read_only:
            return self._identity, self._readers, connection.scalar("PRAGMA data_version")
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

    def prepare(self, connection: Connection) -> None:
        """Switch to the write-ahead log; a database that cannot have one works without."""
        if self._prepared:
            return
        connection.run("PRAGMA busy_timeout = 1000")
        try:
            connection.run("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            if "locked" in _words(error):
                return
            raise
        self._prepared = True

    def begin(self, connection: Connection, mode: Mode, *, wait: float, label: str) -> None:
        """Writers begin with the write lock: one that is asked for later can fail without waiting."""
        if mode is Mode.READ:
            connection.run("BEGIN")
            return
        deadline = time.monotonic() + wait
        connection.run("PRAGMA busy_timeout = 0")
        while not _began(connection):
            if time.monotonic() >= deadline:
                raise locked_error(self.location, self.holder(), wait)
            time.sleep(_TURN_SECONDS)
        connection.run(f"PRAGMA busy_timeout = {_COMMIT_WAIT_MS}")
        if sqlite_file.identity(self.path) != self._identity:
            raise self._replaced(self.path, "nothing was written")
        if lost := self._lost_beside():
            raise self._replaced(lost, "nothing was written")
        self._note_beside()

    def commit(self, connection: Connection) -> None:
        """Durable when this returns: the log is synced at every commit."""
        connection.run("COMMIT")
        lost = self.path if sqlite_file.identity(self.path) != self._identity else self._lost_beside()
        if lost:
            outcome = "whether the change is in the new file is not known; repeat it with the same id"
            raise self._replaced(lost, outcome, **{OUTCOME_UNKNOWN: True})

    def fetch(
        self, connection: Connection, shape: Shape, *, since: object | None, progress: Progress | None
    ) -> Fetched:
        """Always everything: SQLite does not say which rows changed, and ten thousand are read in some 20 ms."""
        total = connection.scalar(f"SELECT count(*) FROM {MESSAGES}") if progress else 0
        try:
            rows = self._fetch(connection, shape, total, progress)
        except sqlite3.OperationalError as error:
            if "decode to utf-8" not in str(error).lower():
                raise
            rows = self._fetch_broken_text(connection, shape)
        return Fetched(rows, True, len(rows))

    def _fetch(self, connection: Connection, shape: Shape, total: int, progress: Progress | None) -> list[Any]:
        notes = shape.has_ours and connection.first(f"SELECT 1 FROM {NOTES} LIMIT 1") is not None
        rows: list[Any] = []
        for chunk in connection.chunks(_CHUNK, shape.rows(notes=notes)):
            rows += chunk
            if progress is not None and not progress(len(rows), total):
                raise InterruptedError
        return rows

    def by_age(self, moment: str) -> str:
        """As a moment: the two usual spellings of one do not sort as text."""
        return f"julianday({moment})"

    def keeping(self, table: str, *, skip: bool = False) -> str:
        """Nothing: every transaction that writes has the whole database."""
        return ""

    def announce(self, connection: Connection) -> None:
        """Watchers see the commit itself."""

    def holder(self) -> LockHolder | None:
        """From the kernel's list of locks."""
        return sqlite_file.find_holder(self.path)

    def translate(self, error: Exception) -> TeamError:
        """By SQLite's own words; they name no place, so the file is added."""
        words = _words(error)
        for part, code, hint in _REFUSALS:
            if part in words:
                return TeamError(code, f"{self.location}: {error}", hint)
        return TeamError(Code.STORE_FAILED, f"{self.location}: {error}", "Nothing was changed.")

    def problems(self) -> tuple[Problem, ...]:
        """A file that several machines see; an index of the log that was taken away."""
        found = []
        if sqlite_file.is_on_network(self.path):
            text = "the database is on a network file system, where SQLite's locks and log do not work across machines"
            hint = "Move it to a local disk, or the team to PostgreSQL: team-console migrate FROM TO"
            found.append(Problem("NETWORK_FILE_SYSTEM", "warning", self.location, text, hint))
        if self._lost_index:
            text = "it was taken away while this process used it; the database was opened again, nothing was lost"
            hint = "Find out which program removes the files beside a database that is in use."
            found.append(Problem("LOG_INDEX_LOST", "warning", str(self._index_path), text, hint))
        return tuple(found)

    def watch(self) -> AsyncIterator[WatchHint]:
        """By looking at the files."""
        from team_console.store.backends.sql.engines.sqlite_watch import watch

        return watch(self._files)

    def open(self) -> Connection:
        """To write, or only to look."""
        open_file = sqlite_file.open_to_look if self.read_only else sqlite_file.open_to_write
        return SqliteConnection(open_file(self.path))

    def _follow_file(self) -> None:
        """Leave the connections to a file that is no longer there.

        Raises:
            TeamError: `STORE_UNREADABLE` when there is none now.
        """
        found = sqlite_file.identity(self.path)
        with self._guard:
            if found != self._identity or self._reader_pid != os.getpid():
                self._forget()
                self._identity, self._beside = found, {}
                self.generation += 1
            lost = None if found is None else self._lost_beside()
            if lost == self._index_path:
                self._leave_index()
        if found is None:
            raise TeamError(Code.STORE_UNREADABLE, f"{self.location} is gone", "Put the file back.", vanished=True)
        if lost == self._log_path:  # others do not see what is written there, nor does this process what they write
            text = f"{self._log_path} was taken away while this process used it; what is written since is not seen here"
            hint = "Put no hand to a database's log. Start this program again, then look with: team-console check"
            raise TeamError(Code.STORE_UNREADABLE, text, hint, **{PROCESS_LOST: True})

    def _leave_index(self) -> None:
        """Open the database again: an index that others do not share would let this process write over their frames.

        Raises:
            TeamError: `STORE_UNREADABLE` while another thread still uses the old one, which SQLite would share.
        """
        self._forget()
        self.generation += 1
        self._lost_index = True
        if self._index_path in self._beside:
            text = f"{self._index_path} was taken away while this process used it; the database is being opened again"
            raise TeamError(Code.STORE_UNREADABLE, text, "Try again.")

    def _note_beside(self) -> None:
        """Remember the log and its index that a connection made when it was first used."""
        for path in (self._log_path, self._index_path):
            if self._beside.get(path) is None:
                self._beside[path] = sqlite_file.identity(path)

    def _lost_beside(self) -> Path | None:
        """The log, or its index, when the one that connections have open is not the one that is there now.

        SQLite's last connection would write such a log into the file, without the frames of others, and take away what
        is there under its name; the lock keeps it from that to the end of the process.
        """
        self._files.leave_old_index()
        for path in (self._log_path, self._index_path):
            before, now = self._beside.get(path), sqlite_file.identity(path)
            if before is None or before == now:
                continue
            if sqlite_file.has_open(before):
                if self._held is None:
                    self._held = sqlite_file.hold(self.path)
                return path
            self._beside[path] = now
        return None

    def _forget(self) -> None:
        if sqlite_file.identity(self.path) == self._identity:
            self._lost_beside()
        reader, self._reader, self._prepared = self._reader, None, False
        if self._reader_pid != os.getpid():
            LEFT_ALONE.extend([] if reader is None else [reader])
            self._reader_pid = os.getpid()
            return
        if reader is not None:
            reader.close()
        super().close()
        for path, file in list(self._beside.items()):  # another thread compares them once more before it writes
            if file is None or not sqlite_file.has_open(file):
                del self._beside[path]

    def _fetch_broken_text(self, connection: Connection, shape: Shape) -> list[Any]:
        """Texts that are not UTF-8 come with replacement characters instead of stopping everything."""
        connection.driver.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            return self._fetch(connection, shape, 0, None)
        finally:
            connection.driver.text_factory = str

    def _replaced(self, path: Path, outcome: str, **facts: bool) -> TeamError:
        text = f"{path} was replaced by another file; {outcome}"
        hint = "Look which of the two files is the right one, then try again." if path == self.path else "Try again."
        return TeamError(Code.STORE_FAILED, text, hint, **facts)


def _began(connection: Connection) -> bool:
    try:
        connection.run("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if "locked" in _words(error):
            return False
        raise
    return True


def _words(error: Exception) -> str:
    return str(error).lower()
