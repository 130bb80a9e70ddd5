"""SQLite: many processes of one machine on one file, a write-ahead log, synced commits.

A connection costs 0.1 ms, so each use has one of its own and none stays open: whoever takes away the log or its index
(`-wal`, `-shm`) between two uses takes nothing from us, because SQLite makes the index anew from the log. A connection
whose index went away while it was used shares it with nobody: what it writes goes over the frames of others, and at its
end it would take away their log. So a write looks at its files once it has the lock and before it commits, and a
connection that lost one closes under a lock that keeps SQLite from clearing up.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sqlite3
import struct
import threading
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from team_console.store.backends.locked_files import is_on_network, kernel_locks, missing_locks_in, open_files
from team_console.store.backends.presence_folder import PresentInFolder
from team_console.store.backends.sql.connection import Column, Connection, Meddler, Relation, Values, no_file, sql_name
from team_console.store.backends.sql.history import AuditRow
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.lock_holder import LockHolder, locked_error
from team_console.store.contract.problem_codes import NO_LOCKS_HINT, OUTCOME_UNKNOWN, ROWS_HIDDEN
from team_console.store.contract.team import WatchHint, WatchState
from team_console.store.model.clock import Clock
from team_console.store.model.errors import Code, Problem, TeamError

_COLUMNS = """
SELECT name, type, name IN (
    SELECT min(part.name) FROM pragma_index_list(:table) AS keys, pragma_index_info(keys.name) AS part
    WHERE keys."unique" AND NOT keys.partial GROUP BY keys.name HAVING count(*) = 1
) OR (pk = 1 AND (SELECT max(pk) FROM pragma_table_xinfo(:table)) = 1),
"notnull", dflt_value IS NOT NULL OR hidden <> 0 OR (pk = 1 AND lower(type) = 'integer')
FROM pragma_table_xinfo(:table) WHERE hidden <> 1 AND :table IN (SELECT name FROM sqlite_master) ORDER BY cid
"""
"""A key is a unique index of this column alone over all rows, or the primary key, which may have none of its own.

SQLite finds a table whatever the case of its name is; but `bob_inbox` is not the inbox of `BOB`.
"""

_RELATION = """
SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = :name
"""
_HAS_ROWID = """
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :table
AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(:table) WHERE lower(name) = 'rowid')
"""
_TABLE_OF_VIEW = re.compile(r'\bFROM\s+"?(?P<name>\w+)', re.IGNORECASE)
_ON_CONFLICT = re.compile(r"\bON\s+CONFLICT\b", re.IGNORECASE)
"""In the text of a table: a conflict is resolved by what stands behind, as by taking the other row away."""
_CONFLICT_WORDS = re.compile(r"\bOR\s+(?:IGNORE|REPLACE|FAIL)\b|\bON\s+CONFLICT\b", re.IGNORECASE)
"""The same in the text of a trigger."""
_REFERENCES = """
SELECT child.name, key."from" FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS key
WHERE child.type = 'table' AND lower(key."table") = :table AND key.on_delete IN ('NO ACTION', 'RESTRICT')
"""
_REFERS_TO = """
SELECT key.id, key."table", key."from",
coalesce(key."to", (SELECT name FROM pragma_table_info(key."table") WHERE pk = key.seq + 1))
FROM pragma_foreign_key_list(:table) AS key ORDER BY key.id, key.seq
"""


class SqliteConnection(Connection):
    """See `Connection`. The driver understands `:name` by itself.

    Attributes:
        has_read_lock: Whether it looks with a lock of `_READ_LOCKS`.
        refused_write: Why it can only look although its team may be written; None where that is not so.
    """

    error = sqlite3.Error
    is_strict = False
    blob = "BLOB"
    has_read_lock = False
    refused_write: sqlite3.Error | None = None
    _resolving_table = ""
    """The table that was last asked for where it resolves conflicts by itself: a new row would take another away."""
    _has_resolving_trigger = False
    """Whether a trigger of that table resolves conflicts of its own, which it could not where a conflict ends all."""

    @property
    def is_idle(self) -> bool:
        """See `Connection.is_idle`: the driver knows."""
        return not self.driver.in_transaction

    def tables(self, names: Collection[str]) -> Mapping[str, bool]:
        """See `Connection.tables`."""
        found = self.rows_among("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN", [*names])
        return {name: True for (name,) in found}

    def columns(self, table: str) -> list[Column]:
        """See `Connection.columns`."""
        found = self.rows(_COLUMNS, {"table": table})
        return [
            Column(name, kind, is_key=bool(is_key), is_required=bool(is_required), has_default=bool(has_default))
            for name, kind, is_key, is_required, has_default in found
        ]

    def refuses_row(self, error: Exception) -> bool:
        """See `Connection.refuses_row`: constraints, triggers that raise, values of another type."""
        return isinstance(error, (sqlite3.IntegrityError, sqlite3.DataError))

    def check_at_once(self) -> None:
        """See `Connection.check_at_once`: here nobody can, so `references` and `check_references` look."""
        return None

    def check_references(self, table: str, rows: Sequence[Values]) -> None:
        """See `Connection.check_references`; Django's foreign keys wait for the commit, which does not say which row.

        Raises:
            sqlite3.IntegrityError: Naming the table that lacks a row.
        """
        keys: dict[int, list[tuple[str, str, str]]] = {}
        for number, *key in self.rows(_REFERS_TO, {"table": table.strip('"').replace('""', '"')}):
            keys.setdefault(number, []).append((key[0], key[1], key[2]))
        ids = [row.get("message_id", row.get("old_id")) for row in rows]
        for parts in keys.values():
            if rows[0].keys().isdisjoint(column for _, column, _ in parts):
                continue  # SQLite, too, looks only at what is written
            parent, columns = sql_name(parts[0][0]), [f"{table}.{sql_name(column)}" for _, column, _ in parts]
            given = " AND ".join(f"{column} IS NOT NULL" for column in columns)
            pairs = zip(parts, columns, strict=True)
            same = " AND ".join(f"there.{sql_name(there)} = {column}" for (_, _, there), column in pairs)
            lost = f"{given} AND NOT EXISTS (SELECT 1 FROM {parent} AS there WHERE {same})"
            # guard: reference-looked-at-before-the-commit
            if self.rows_among(f"SELECT 1 FROM {table} WHERE {lost} AND {table}.message_id IN", ids):
                raise sqlite3.IntegrityError(f"{', '.join(columns)} must be in {parent}")

    def relation(self, name: str) -> Relation | None:
        """See `Connection.relation`."""
        found = self.first(_RELATION, {"name": name})
        if found is None:
            return None
        # guard: no-row-replaced-by-another
        self._resolving_table = name if _ON_CONFLICT.search(str(found[2])) else ""
        if self._resolving_table:
            wanted = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = :table"
            texts = self.rows(wanted, {"table": name})
            self._has_resolving_trigger = any(_CONFLICT_WORDS.search(str(text)) for (text,) in texts)
        source = _TABLE_OF_VIEW.search(str(found[2])) if found[1] == "view" else None
        behind = source["name"] if source else ""
        return Relation(found[0], None if found[1] == "table" else behind, row_place=self._place_of_rows(found[0]))

    def _for_driver(self, statement: str) -> str:
        """Let a conflict end the statement. Not everywhere: what triggers do would be resolved in this way, too."""
        # guard: conflict-of-a-trigger-is-its-own
        if self._resolving_table and not self._has_resolving_trigger:
            for verb, into in (("INSERT", " INTO "), ("UPDATE", " ")):
                statement = statement.replace(
                    f"{verb}{into}{self._resolving_table} ", f"{verb} OR ABORT{into}{self._resolving_table} "
                )
        return statement

    def change_all(self, statement: str, rows: Sequence[Values]) -> int:
        """See `Connection.change_all`; where a conflict may not end the statement, rows are counted.

        Raises:
            sqlite3.IntegrityError: A new row took another away.
        """
        is_counted = self._has_resolving_trigger and statement.startswith(f"INSERT INTO {self._resolving_table} ")
        count = f"SELECT count(*) FROM {self._resolving_table}"
        before = self.scalar(count) if is_counted else 0
        added = super().change_all(statement, rows)
        # guard: replaced-row-counted
        if is_counted and self.scalar(count) < before + added:
            raise sqlite3.IntegrityError(f"a new row of {self._resolving_table} would take another one away")
        return added

    def _place_of_rows(self, table: str) -> str:
        """Return the number of a row: a view has none, nor has a table that is kept by its key."""
        if self.first(_HAS_ROWID, {"table": table}) is None:
            return ""
        with suppress(self.error):
            self.first(f"SELECT rowid FROM {sql_name(table)} LIMIT 0")
            return f"{sql_name(table)}.rowid"
        return ""

    def references(self, table: str) -> list[tuple[str, str]]:
        """See `Connection.references`."""
        return self.rows(_REFERENCES, {"table": table})

    def indexes(self, table: str) -> frozenset[str]:
        """See `Connection.indexes`."""
        wanted = "SELECT name FROM sqlite_master WHERE type = 'index' AND lower(tbl_name) = :table"
        return frozenset(name for (name,) in self.rows(wanted, {"table": table}))

    def meddlers(self, table: str, event: str) -> list[Meddler]:
        """See `Connection.meddlers`: triggers in whose text the event is named."""
        wanted = """
            SELECT name FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = :table
            AND instr(upper(sql), :event) > 0 ORDER BY name
        """
        return [Meddler("trigger", name) for (name,) in self.rows(wanted, {"table": table, "event": event})]


_WAL_WRITE_BYTE, _RESERVED_BYTE = 120, 0x40000001
"""The byte that a writer locks: in the index of the log, and in a database without a log."""
_SHARED_BYTES = (0x40000002, 510)
"""The bytes that every reader locks: where they start, and how many."""
_READ_ONLY_PRAGMAS = ("query_only = ON", "temp_store = MEMORY")
_LOOK_SECONDS = 0.05
"""How often a watcher looks at the files."""
_SETTLE_AGES = (0.1, 0.5, 2.0, 10.0)
"""Ages of a change at which it is looked for again: a commit writes its log, syncs it, and only then can be seen."""
_LOCK_RETRY_SECONDS = 0.004
"""How often a waiting writer asks again. SQLite's own waiting sleeps ever longer, so that the latest comer wins."""
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
Version = tuple[tuple[int, int, int] | None, ...]
"""Inode, size and time in ns of the database and of its log."""


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
        self._file_with_log: tuple[int, int] | None = None
        self._lock_descriptor: int | None = None

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
        file = _identity(self.path)
        if file is None:
            raise no_file(self.location, self.path)
        self._refuse_forked(file)
        connection = self._open_connection(file)
        _IN_USE.add(connection)
        return connection

    def _open_connection(self, file: tuple[int, int]) -> SqliteConnection:
        """Open the file; only to read where this process may not write, or where a full disk allows nothing else."""
        wait = self.look_wait
        if self.may_not_write:
            # guard: look-keeps-the-log
            has_read_lock = _READ_LOCKS.enter(self.path, file, min(wait, _ALONE_SECONDS))
            try:
                looking = SqliteConnection(_open_read_only(self.path, wait), file)
            except BaseException:
                if has_read_lock:
                    _READ_LOCKS.leave(file)
                raise
            looking.has_read_lock = has_read_lock
            return looking
        try:
            # Every commit synced.
            driver = _connect(self.path, "mode=rw", "synchronous = FULL", "foreign_keys = ON", timeout=wait)
        except sqlite3.OperationalError as error:
            # On a full disk there is no room for the index of the log, which even a reader makes.
            # guard: full-disk-can-be-read
            if "disk i/o" not in _words_of(error):
                raise
            looking = SqliteConnection(_open_read_only(self.path, wait), file)
            looking.refused_write = error
            return looking
        return SqliteConnection(driver, file)

    def give_back(self, connection: Any) -> None:
        """Close it. Where its log was taken away, SQLite must not clear up after itself as the last user.

        It would write that log into the file, without the frames of others, and take away what is there under its name;
        a lock on the bytes that SQLite locks to be alone keeps it from that, to the end of the process.
        """
        # guard: lost-log-not-of-others
        if self._lock_descriptor is None and not self.may_not_write and self._lost_file():
            self._lock_descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            with suppress(OSError):
                _lock_shared(self._lock_descriptor, fcntl.F_RDLCK)
        connection.close()
        _IN_USE.discard(connection)
        if connection.has_read_lock:
            _READ_LOCKS.leave(connection.file)

    def used_bytes(self) -> int:
        """See `Team.used_bytes`: pages that are free for what comes next hold nothing."""
        with self.connect() as connection:
            pages = int(connection.scalar("PRAGMA page_count")) - int(connection.scalar("PRAGMA freelist_count"))
            return pages * int(connection.scalar("PRAGMA page_size"))

    def mark(self) -> object | None:
        """Return the version of the files, once a change of them has settled."""
        found = self._version()
        return found if _seconds_since_change(found) > _SETTLE_AGES[-1] else None

    def mode_beside(self) -> int | None:
        """See `PresentInFolder`: a row that is renewed would wake everybody who watches the file."""
        found = _stat(self.path)
        return None if found is None else found.st_mode & 0o777

    def places(self) -> Mapping[str, str]:
        """Return the file, its log and the folder of who is there."""
        path = os.path.abspath(self.path)
        return {"database": path, "log": f"{path}-wal", "presence": f"{path}-presence"}

    def prepare(self, connection: Connection) -> None:
        """Switch to the write-ahead log; a database that cannot have one works without."""
        if self._file_with_log == connection.file:
            return
        connection.change("PRAGMA busy_timeout = 1000")
        try:
            connection.change("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            if "locked" in _words_of(error):
                return
            raise
        self._file_with_log = connection.file

    def begin_reading(self, connection: Connection) -> None:
        """See `SqlTeam.begin_reading`."""
        connection.change("BEGIN")

    def begin_writing(self, connection: Connection, *, wait: float, label: str) -> None:
        """Begin with the write lock: one that is asked for later can fail without waiting."""
        if isinstance(connection, SqliteConnection) and connection.refused_write is not None:
            raise connection.refused_write
        deadline = time.monotonic() + wait
        connection.change("PRAGMA busy_timeout = 0")
        is_first = True
        while not _try_to_begin(connection):
            if is_first and (why := missing_locks_in(self._folder())):
                raise _no_locks_error(self.location, why)
            is_first = False
            if time.monotonic() >= deadline:
                raise locked_error(self.location, self.holder(), wait)
            time.sleep(_LOCK_RETRY_SECONDS)
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
        locks = kernel_locks() or []
        for file, byte in ((Path(f"{self.path}-shm"), _WAL_WRITE_BYTE), (self.path, _RESERVED_BYTE)):
            pid = _lock_owner(locks, file, byte)
            if pid is not None:
                return LockHolder(pid or None, "", "", _program_name(pid), True)
        return None

    def _folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.path))

    def translate(self, error: Exception) -> TeamError:
        """Return the user's error by SQLite's own words; they name no place, so the file is added."""
        words = _words_of(error)
        # SQLite takes a lock that the file system does not have for one that somebody holds.
        why = missing_locks_in(self._folder()) if "locked" in words else ""
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
        file = _stat(self.path)
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
        settles, since = list[float](), 0.0
        while True:
            now = self._version()
            # guard: file-from-the-future-looked-at-again
            passed = max(_seconds_since_change(now), time.monotonic() - since)
            if now != seen:
                seen, since = now, time.monotonic()
                settles = [seconds for seconds in _SETTLE_AGES if seconds > _seconds_since_change(now)]
                yield WatchHint(WatchState.LIVE)
            elif settles and passed > settles[0]:
                del settles[0]
                yield WatchHint(WatchState.LIVE)
            elif (notes := self.session_notes()) != noted:
                noted = notes
                yield WatchHint(WatchState.LIVE, beside=True, notes=True)
            await asyncio.sleep(_LOOK_SECONDS)

    def _version(self) -> Version:
        """Return the present version; a log without frames, which a mere reader makes, counts as none."""
        path = self.path
        files = _stat(path), _stat(path.with_name(f"{path.name}-wal"))
        return tuple((one.st_ino, one.st_size, one.st_mtime_ns) if one and one.st_size else None for one in files)

    def _lost_file(self) -> str:
        """Return the log, or its index, that this process has open and somebody took away; empty for none."""
        real = os.path.realpath(self.path)
        taken = {f"{real}-{kind} (deleted)" for kind in ("wal", "shm")}
        return next((link.removesuffix(" (deleted)") for link in open_files() if link in taken), "")

    def _refuse_forked(self, file: tuple[int, int] | None) -> None:
        """Refuse a database that another thread, or the very transaction, used when this process was forked.

        Raises:
            TeamError: `STORE_FAILED`.
        """
        # guard: database-in-use-not-forked
        if file in _INHERITED:
            text = f"{self.location} was in use when this process was forked, so it cannot be used here"
            hint = "Start processes by other means (multiprocessing: spawn), or while no thread uses the team."
            raise TeamError(Code.STORE_FAILED, text, hint)

    def _refuse_lost_file(self, connection: Connection, outcome: str, **facts: bool) -> None:
        """Refuse to write into files that others do not see.

        Raises:
            TeamError: `STORE_FAILED`.
        """
        # guard: lost-log-refused
        lost = self.location if _identity(self.path) != connection.file else self._lost_file()
        if lost:
            text = f"{lost} was replaced by another file; {outcome}"
            hint = "Look which of the two files is the right one, then try again."
            raise TeamError(Code.STORE_FAILED, text, hint if lost == self.location else "Try again.", **facts)


def _lock_shared(descriptor: int, kind: int) -> None:
    """Take or give back a lock on the bytes of a database that SQLite locks to be alone.

    Raises:
        OSError: `EAGAIN` or `EACCES` while somebody is alone; others where there are no such locks, as on macOS.
    """
    if not hasattr(fcntl, "F_OFD_SETLK"):
        raise OSError(errno.ENOTSUP, "no locks that belong to an open file")
    lock = struct.pack("hhqqi4x", kind, os.SEEK_SET, *_SHARED_BYTES, 0)
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)


class _ReadLocks:
    """Keeps others from being alone in a database while this process looks at it without changing anything.

    Whoever leaves it as the last one writes the log into the file and takes log and index away: a look at the same
    moment found a log without its index, or pages of two moments. A lock keeps it from that, as any reader's does.
    Descriptors are never closed: that would take away the locks that SQLite has on the file for this process.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._files: dict[tuple[int, int], tuple[int, int]] = {}
        """Device and inode -> descriptor, and how many look."""

    def forget(self) -> None:
        """Begin anew in a process that was forked: its descriptors have their locks together with the other's."""
        self._guard = threading.Lock()
        self._files = {}

    def enter(self, path: Path, file: tuple[int, int], wait: float) -> bool:
        """Begin a look; whether there is one more to `leave`. Where somebody stays alone, it is one without a lock."""
        deadline = time.monotonic() + wait
        while True:
            with self._guard:
                try:
                    return self._enter(path, file)
                except OSError as error:
                    if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() >= deadline:
                        return False
            time.sleep(_LOCK_RETRY_SECONDS)

    def _enter(self, path: Path, file: tuple[int, int]) -> bool:
        """Lock the file, or count one more reader; return False where another file has taken its name by now."""
        descriptor, count = self._files.get(file, (-1, 0))
        if descriptor < 0:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            found = os.fstat(descriptor)
            self._files[found.st_dev, found.st_ino] = descriptor, 0
            if (found.st_dev, found.st_ino) != file:  # replaced at this moment; the connection is of either
                return False
        if not count:
            _lock_shared(descriptor, fcntl.F_RDLCK)
        self._files[file] = descriptor, count + 1
        return True

    def leave(self, file: tuple[int, int]) -> None:
        """End a look that had the lock."""
        with self._guard:
            descriptor, count = self._files.get(file, (-1, 0))
            if count == 1:
                with suppress(OSError):
                    _lock_shared(descriptor, fcntl.F_UNLCK)
            if count:
                self._files[file] = descriptor, count - 1


_READ_LOCKS = _ReadLocks()
_IN_USE: set[SqliteConnection] = set()
"""The connections of all threads. In a forked process they stay open: to close one there takes away the others' log."""
_INHERITED: set[tuple[int, int]] = set()
"""The databases that were in use when this process was forked: SQLite takes the other's locks on them for ours."""


def _begin_after_fork() -> None:
    _READ_LOCKS.forget()
    _INHERITED.update(connection.file for connection in _IN_USE if connection.file is not None)


os.register_at_fork(after_in_child=_begin_after_fork)


def _open_read_only(path: Path, wait: float) -> sqlite3.Connection:
    """Return a connection that creates, locks and changes nothing, for a short look.

    Without a log the file is read as it is; with one its index is only read, and one that is missing not made.

    Raises:
        TeamError: `STORE_UNREADABLE` for a log without its index, and for a write that was cut short.
    """
    log, journal = Path(f"{path}-wal"), Path(f"{path}-journal")
    # guard: write-cut-short-not-shown
    if _is_empty(log) and not _is_empty(journal):
        try:
            return _connect(path, "mode=ro", *_READ_ONLY_PRAGMAS, "schema_version", timeout=wait)
        except sqlite3.OperationalError as error:
            if not any(words in str(error) for words in ("readonly", "unable to open")):
                raise
            text = f"{journal} is left of a write that was cut short, and only a writer may undo it"
            raise TeamError(Code.STORE_UNREADABLE, text, "Open the team once with the right to write.") from error
    if _is_empty(log):
        return _connect(path, "mode=ro&immutable=1", *_READ_ONLY_PRAGMAS, timeout=wait)
    try:
        return _connect(path, "mode=ro&readonly_shm=1", *_READ_ONLY_PRAGMAS, "schema_version", timeout=wait)
    except sqlite3.OperationalError as error:
        if "unable to open" not in str(error) or _is_empty(path):
            raise
        text = f"{log} has no index beside it, as after a crash of the machine, and only a writer may make one"
        raise TeamError(Code.STORE_UNREADABLE, text, "Open the team once with the right to write.") from error


def _connect(path: Path, how: str, *pragmas: str, timeout: float) -> sqlite3.Connection:
    """Return a connection without transactions of its own making."""
    _refuse_pipe(Path(f"{path}-journal"))
    uri = f"file:{quote(os.fsencode(path))}?{how}"  # a name need not be UTF-8
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=0)
    # Other programs write texts that are not UTF-8; they come with replacement characters and stop nothing.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    patience = f"busy_timeout = {1e3 * timeout:.0f}"
    try:
        try:
            _set_pragmas(connection, *pragmas, patience)
        except sqlite3.OperationalError as error:
            # guard: missing-locks-not-waited-for
            if "locked" not in _words_of(error) or missing_locks_in(path.parent):
                raise
            _set_pragmas(connection, patience, *pragmas)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_pragmas(connection: sqlite3.Connection, *pragmas: str) -> None:
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")


def _refuse_pipe(journal: Path) -> None:
    """Refuse a journal that is a pipe: SQLite looks there for what a dead writer left, and would wait for ever.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    if journal.is_fifo():
        text = f"{journal} is a pipe; a database that is opened beside it would wait for ever"
        raise TeamError(Code.STORE_UNREADABLE, text, "Take it away; SQLite puts no such file there.")


def _lock_owner(locks: list[list[str]], file: Path, byte: int) -> int | None:
    found = _identity(file)
    place = f":{found[1]}" if found is not None else "nowhere"
    for lock in locks:
        if len(lock) >= 8 and (lock[1], lock[3]) == ("POSIX", "WRITE") and lock[5].endswith(place):
            end = byte if lock[7] == "EOF" else int(lock[7])
            if int(lock[6]) <= byte <= end:
                return max(0, int(lock[4]))
    return None


def _program_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _stat(path: Path) -> os.stat_result | None:
    """Return the state of `path`; None when nothing is there."""
    try:
        return path.stat()
    except OSError:
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at `path`."""
    found = _stat(path)
    return None if found is None else (found.st_dev, found.st_ino)


def _is_empty(path: Path) -> bool:
    found = _stat(path)
    return found is None or not found.st_size


def _seconds_since_change(version: Version) -> float:
    """Return the seconds since the last change; file times move in steps of some milliseconds."""
    return (time.time_ns() - max((item[2] for item in version if item is not None), default=0)) / 1e9


def _try_to_begin(connection: Connection) -> bool:
    try:
        connection.change("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if "locked" in _words_of(error):
            return False
        raise
    return True


def _no_locks_error(location: str, why: str) -> TeamError:
    text = f"{location} is on a file system without locks ({why}): no other program holds it, and nobody can use it"
    return TeamError(Code.STORE_FAILED, text, NO_LOCKS_HINT)


def _words_of(error: Exception) -> str:
    return str(error).lower()
