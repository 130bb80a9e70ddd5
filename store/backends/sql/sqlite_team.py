"""SQLite: many processes of one machine on one file, a write-ahead log, synced commits.

A connection costs 0.1 ms, so each use has one of its own and none stays open: whoever takes away the log or its index
(`-wal`, `-shm`) between two uses takes nothing from us, because SQLite makes the index anew from the log. A connection
whose index went away while it was used shares it with nobody: what it writes goes over the frames of others, and at its
end it would take away their log. So a write looks at its files once it has the lock and before it commits, and a
connection that lost one closes under a lock that keeps SQLite from clearing up.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from team_console.store.backends.locked_files import is_on_network, missing_locks_in, open_files
from team_console.store.backends.presence_folder import PresentInFolder
from team_console.store.backends.sql.audit_trail import AuditRow
from team_console.store.backends.sql.connection import Connection, FileId, no_file
from team_console.store.backends.sql.sqlite_connection import (
    IN_USE,
    IN_USE_AT_FORK,
    LOCK_RETRY_SECONDS,
    READ_LOCKS,
    FileVersion,
    SqliteConnection,
    connect_file,
    error_words,
    file_id,
    lock_holder,
    lock_shared,
    open_read_only,
    seconds_since_change,
    stat_or_none,
    version_of,
)
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.snapshot import NO_LOCKS_HINT, OUTCOME_UNKNOWN, ROWS_HIDDEN, LockHolder, locked_error
from team_console.store.contract.team import WatchHint, WatchState
from team_console.store.model.clock import Clock
from team_console.store.model.errors import Code, Problem, TeamError

_LOOK_SECONDS = 0.05
"""How often a watcher looks at the files."""
_SETTLE_AGES = (0.1, 0.5, 2.0, 10.0)
"""Ages of a change at which it is looked for again: a commit writes its log, syncs it, and only then can be seen."""
_ALONE_SECONDS = 0.2
"""How long a look waits for whoever is alone in the database, as the last who leaves it is for a moment."""
_COMMIT_WAIT_MS = 5000
"""Without the log a commit waits for readers."""
_REFUSALS = (
    ("readonly", Code.READ_ONLY, "Reading works; writing needs permission on the file and its folder."),
    ("database is locked", Code.STORE_LOCKED, "Another program holds the database; try again."),
    ("not a database", Code.STORE_UNREADABLE, "Name another file, or restore a copy of this one."),
    ("malformed", Code.STORE_UNREADABLE, "Stop all writers, then restore a copy or run: sqlite3 FILE .recover"),
    ("unable to open", Code.STORE_UNREADABLE, "Check that it exists, may be read and has a path of at most 500 bytes."),
    ("is full", Code.STORE_FAILED, "Free some space and try again; nothing was changed."),
    ("disk i/o", Code.STORE_FAILED, "Check the disk, whether it is full, and whether the file was cut."),
    ("no such", Code.STORE_UNREADABLE, "The database is not what it was when it was opened; look at the file."),
)
"""Words of SQLite's message -> our code and what the user can do; the first that fits counts."""


class SqliteTeam(PresentInFolder, SqlTeam):
    """One database file."""

    error = sqlite3.Error

    def __init__(self, path: Path, *, read_only: bool, clock: Clock) -> None:
        super().__init__(
            str(path),
            path,
            path.with_name("inbox"),
            read_only=read_only,
            clock=clock,
        )
        self._given_path = path
        self.keep_presence_in(self.path.with_name(f"{self.path.name}-presence"))
        self._file_in_wal_mode: FileId | None = None
        self._lock_to_the_end: int | None = None

    @property
    def path(self) -> Path:
        """The file itself: its log lies beside it, not beside a link to it, which may lead elsewhere by now."""
        # guard: link-to-a-database-followed
        real = os.path.realpath(self._given_path)
        return Path(real)

    @property
    def may_not_write(self) -> bool:
        """See `SqlTeam.may_not_write`: a disk that has errors is made read-only under those who use it."""
        # guard: rights-asked-for-at-each-use
        may_write = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK | os.X_OK)
        return self.read_only or (not may_write and os.path.exists(self.path))

    def take(self) -> Connection:
        """Return a new connection to the file that is there now."""
        file = file_id(self.path)
        if file is None:
            raise no_file(self.location, self.path)
        self._refuse_forked(file)
        connection = self._open_connection(file)
        IN_USE.add(connection)
        return connection

    def _open_connection(self, file: FileId) -> SqliteConnection:
        """Open the file; only to read where this process may not write, or where a full disk allows nothing else."""
        wait = self.look_wait
        if self.may_not_write:
            # guard: look-keeps-the-log
            has_read_lock = READ_LOCKS.enter(self.path, file, min(wait, _ALONE_SECONDS))
            try:
                looking = SqliteConnection(open_read_only(self.path, wait), file)
            except BaseException:
                if has_read_lock:
                    READ_LOCKS.leave(file)
                raise
            looking.has_read_lock = has_read_lock
            return looking
        try:
            # Every commit synced.
            driver = connect_file(self.path, "mode=rw", "synchronous = FULL", "foreign_keys = ON", timeout=wait)
        except sqlite3.OperationalError as error:
            # On a full disk there is no room for the index of the log, which even a reader makes.
            # guard: full-disk-can-be-read
            if "disk i/o" not in error_words(error):
                raise
            looking = SqliteConnection(open_read_only(self.path, wait), file)
            looking.refused_write = error
            return looking
        return SqliteConnection(driver, file)

    def give_back(self, connection: Any) -> None:
        """Close it. Where its log was taken away, SQLite must not clear up after itself as the last user.

        It would write that log into the file, without the frames of others, and take away what is there under its name;
        a lock on the bytes that SQLite locks to be alone keeps it from that, to the end of the process.
        """
        # guard: lost-log-not-of-others
        if self._lock_to_the_end is None and not self.may_not_write and self._lost_file():
            self._lock_to_the_end = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            with suppress(OSError):
                lock_shared(self._lock_to_the_end)
        connection.close()
        IN_USE.discard(connection)
        if connection.has_read_lock:
            READ_LOCKS.leave(connection.file)

    def used_bytes(self) -> int:
        """See `Team.used_bytes`: pages that are free for what comes next hold nothing."""
        with self.connect() as connection:
            pages = int(connection.scalar("PRAGMA page_count")) - int(connection.scalar("PRAGMA freelist_count"))
            return pages * int(connection.scalar("PRAGMA page_size"))

    def mark(self) -> object | None:
        """Return the version of the files, once a change of them has settled."""
        found = self._versions()
        return found if seconds_since_change(found) > _SETTLE_AGES[-1] else None

    def mode_beside(self) -> int | None:
        """See `PresentInFolder`: a row that is renewed would wake everybody who watches the file."""
        found = stat_or_none(self.path)
        return None if found is None else found.st_mode & 0o777

    def places(self) -> Mapping[str, str]:
        """Return the file, its log and the folder of who is there."""
        path = str(self.path)
        return {"database": path, "log": f"{path}-wal", "presence": f"{path}-presence"}

    def prepare(self, connection: Connection) -> None:
        """Switch to the write-ahead log; a database that cannot have one works without."""
        if self._file_in_wal_mode == connection.file:
            return
        connection.change("PRAGMA busy_timeout = 1000")
        try:
            connection.change("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            if "locked" in error_words(error):
                return
            raise
        self._file_in_wal_mode = connection.file

    def begin_reading(self, connection: Connection) -> None:
        """See `SqlTeam.begin_reading`."""
        connection.change("BEGIN")

    def begin_writing(self, connection: Connection, *, wait: float, label: str, has_table: bool = True) -> None:
        """Begin with the write lock: one that is asked for later can fail without waiting."""
        if isinstance(connection, SqliteConnection) and connection.refused_write is not None:
            raise connection.refused_write
        deadline = time.monotonic() + wait
        connection.change("PRAGMA busy_timeout = 0")
        is_first = True
        while not _try_to_begin(connection):
            if is_first and (why := missing_locks_in(self.path.parent)):
                raise _no_locks_error(self.location, why)
            is_first = False
            if time.monotonic() >= deadline:
                raise locked_error(self.location, self.holder(), wait)
            time.sleep(LOCK_RETRY_SECONDS)
        connection.change(f"PRAGMA busy_timeout = {_COMMIT_WAIT_MS}")
        self._refuse_lost_file(connection, "nothing was written")

    def commit(
        self, connection: Connection, line: AuditRow | None = None, ids: Iterable[str] = (), *, wait: float = 0.0
    ) -> None:
        """Commit; durable when this returns, since the log is synced at every commit."""
        self._refuse_forked(connection.file)
        self._refuse_lost_file(connection, "nothing was written")
        connection.change("COMMIT")
        outcome = "whether the change is in the new file is not known; repeat it with the same id"
        self._refuse_lost_file(connection, outcome, **{OUTCOME_UNKNOWN: True})

    def holder(self) -> LockHolder | None:
        """Return the process that has the byte locked which SQLite locks for writing, from the kernel's own list."""
        return lock_holder(self.path)

    def translate(self, error: Exception) -> TeamError:
        """Return the user's error by SQLite's own words; they name no place, so the file is added."""
        words = error_words(error)
        # SQLite takes a lock that the file system does not have for one that somebody holds.
        why = missing_locks_in(self.path.parent) if "locked" in words else ""
        if why:
            return _no_locks_error(self.location, why)
        for part, code, hint in _REFUSALS:
            if part in words:
                return TeamError(code, f"{self.location}: {error}", hint)
        return TeamError(Code.STORE_FAILED, f"{self.location}: {error}", "Nothing was changed.")

    def problems(self) -> tuple[Problem, ...]:
        """Return a file that several machines see or that has several names, and a folder of who is there that is
        none.
        """
        found = list(self.presence.problems())
        if is_on_network(self.path):
            text = "the database is on a network file system, where SQLite's locks and log do not work across machines"
            hint = "Move it to a local disk, or the team to PostgreSQL: team-console migrate FROM TO"
            found.append(Problem("NETWORK_FILE_SYSTEM", "warning", self.location, text, hint))
        file = stat_or_none(self.path)
        # guard: other-name-of-a-database-told
        if file is not None and file.st_nlink > 1:
            text = "the file has another name (a hard link): what is written by that one may be hidden here"
            hint = "Use one name, or a symbolic link; a copy is made with: sqlite3 FILE .backup COPY"
            found.append(Problem(ROWS_HIDDEN, "warning", self.location, text, hint))
        return tuple(found)

    async def watch(self) -> AsyncIterator[WatchHint]:
        """Watch by looking at the files a few times a second."""
        import asyncio  # 20 ms, which only who waits or watches needs

        seen: object = None
        noted: object = self.session_notes()
        ages_to_come, seen_at = list[float](), 0.0
        while True:
            now = self._versions()
            # A time of a file may lie in the future; then what has passed here since it was seen counts.
            # guard: file-from-the-future-looked-at-again
            age = max(seconds_since_change(now), time.monotonic() - seen_at)
            if now != seen:
                seen, seen_at = now, time.monotonic()
                ages_to_come = [seconds for seconds in _SETTLE_AGES if seconds > seconds_since_change(now)]
                yield WatchHint(WatchState.LIVE)
            elif ages_to_come and age > ages_to_come[0]:
                del ages_to_come[0]
                yield WatchHint(WatchState.LIVE)
            elif (notes := self.session_notes()) != noted:
                noted = notes
                yield WatchHint(WatchState.LIVE, beside=True, notes=True)
            await asyncio.sleep(_LOOK_SECONDS)

    def _versions(self) -> tuple[FileVersion | None, FileVersion | None]:
        """Return the present version of the database and of its log."""
        path = self.path
        return version_of(path), version_of(path.with_name(f"{path.name}-wal"))

    def _lost_file(self) -> str:
        """Return the log, or its index, that this process has open and somebody took away; empty for none."""
        # Linux shows a file that has no name any more by the name it had, and this word.
        taken = {f"{self.path}-{kind} (deleted)" for kind in ("wal", "shm")}
        return next((link.removesuffix(" (deleted)") for link in open_files() if link in taken), "")

    def _refuse_forked(self, file: FileId | None) -> None:
        """Refuse a database that a thread, or this very transaction, used when this process was forked.

        Raises:
            TeamError: `STORE_FAILED`.
        """
        # guard: database-in-use-not-forked
        if file in IN_USE_AT_FORK:
            text = f"{self.location} was in use when this process was forked, so it cannot be used here"
            hint = "Start processes by other means (multiprocessing: spawn), or while no thread uses the team."
            raise TeamError(Code.STORE_FAILED, text, hint)

    def _refuse_lost_file(self, connection: Connection, outcome: str, **facts: bool) -> None:
        """Refuse to write into files that others do not see, because the database, its log or its index was replaced.

        Args:
            outcome: What became of the change, for the user.
            facts: What the error is to say of it to programs.

        Raises:
            TeamError: `STORE_FAILED`.
        """
        # guard: lost-log-refused
        lost = self.location if file_id(self.path) != connection.file else self._lost_file()
        if lost:
            text = f"{lost} was replaced by another file; {outcome}"
            hint = "Look which of the two files is the right one, then try again."
            raise TeamError(Code.STORE_FAILED, text, hint if lost == self.location else "Try again.", **facts)


def _try_to_begin(connection: Connection) -> bool:
    """Begin a transaction that has the write lock; returns False where another has it."""
    try:
        connection.change("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if "locked" in error_words(error):
            return False
        raise
    return True


def _no_locks_error(location: str, why: str) -> TeamError:
    """Return the error for a file system without locks; `why` is what the system says."""
    text = f"{location} is on a file system without locks ({why}): no other program holds it, and nobody can use it"
    return TeamError(Code.STORE_FAILED, text, NO_LOCKS_HINT)
