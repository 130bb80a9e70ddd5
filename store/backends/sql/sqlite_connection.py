"""A connection to a SQLite file: opened, locked beside what SQLite locks, and asked what its tables and keys are."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sqlite3
import stat
import struct
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from team_console.store.backends.locked_files import kernel_locks, missing_locks_in
from team_console.store.backends.sql.connection import Column, Connection, FileId, Meddler, Relation, Values, sql_name
from team_console.store.contract.snapshot import LockHolder
from team_console.store.model.errors import Code, TeamError

_COLUMNS = """
SELECT name, type, name IN (
    SELECT min(part.name) FROM pragma_index_list(:table) AS keys, pragma_index_info(keys.name) AS part
    WHERE keys."unique" AND NOT keys.partial GROUP BY keys.name HAVING count(*) = 1
) OR (pk = 1 AND (SELECT max(pk) FROM pragma_table_xinfo(:table)) = 1),
"notnull", dflt_value IS NOT NULL OR hidden <> 0 OR (pk = 1 AND lower(type) = 'integer')
FROM pragma_table_xinfo(:table) WHERE hidden <> 1 AND :table IN (SELECT name FROM sqlite_master) ORDER BY cid
"""
"""Gives name, type, whether it is a key, whether it is required, whether it has a default of each column of `:table`.

A key is a unique index of this column alone over all rows, or the primary key, which may have none of its own. SQLite
finds a table whatever the case of its name is; but `bob_inbox` is not the inbox of `BOB`.
"""

_RELATION = """
SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = :name
"""
_HAS_ROWID = """
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :table
AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(:table) WHERE lower(name) = 'rowid')
"""
"""Gives a row where the table has the number `rowid` for each row, and no column that hides it."""
_TABLE_OF_VIEW = re.compile(r'\bFROM\s+"?(?P<name>\w+)', re.IGNORECASE)
"""In the CREATE of a view: the first table that it shows rows of."""
_ON_CONFLICT = re.compile(r"\bON\s+CONFLICT\b", re.IGNORECASE)
"""In the CREATE of a table: a conflict is resolved by the word that follows, as by taking the other row away."""
_CONFLICT_WORDS = re.compile(r"\bOR\s+(?:IGNORE|REPLACE|FAIL)\b|\bON\s+CONFLICT\b", re.IGNORECASE)
"""The same in the CREATE of a trigger, where a statement may say it, too."""
_REFERENCES = """
SELECT child.name, key."from" FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS key
WHERE child.type = 'table' AND lower(key."table") = :table AND key.on_delete IN ('NO ACTION', 'RESTRICT')
"""
_REFERS_TO = """
SELECT key.id, key."table", key."from",
coalesce(key."to", (SELECT name FROM pragma_table_info(key."table") WHERE pk = key.seq + 1))
FROM pragma_foreign_key_list(:table) AS key ORDER BY key.id, key.seq
"""
"""Gives a row for each column of each foreign key of `:table`: key, table it refers to, column, column there.

Where the key names no columns there, it refers to the primary key (`coalesce`).
"""


class _KeyColumn(NamedTuple):
    """One column of a foreign key: where it refers to and what it is called on either side."""

    parent: str
    column: str
    column_there: str


class SqliteConnection(Connection):
    """See `Connection`. The driver understands `:name` by itself.

    A table or a trigger may say what becomes of a conflict (`ON CONFLICT REPLACE`); a new row would silently take
    another away then. `relation` notes it of the table it was asked for last, and statements on that table avoid it.

    Attributes:
        has_read_lock: Whether it looks with a lock of `READ_LOCKS`.
        refused_write: Why it can only look although its team may be written; None where that is not so.
    """

    error = sqlite3.Error
    is_strict = False
    blob = "BLOB"
    has_read_lock = False
    refused_write: sqlite3.Error | None = None
    _resolving_table = ""
    """The table that resolves conflicts by itself; empty where the one that was asked for last does not."""
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

    def check_references(self, table: str, rows: Sequence[Values]) -> None:
        """See `Connection.check_references`; Django's foreign keys wait for the commit, which does not say which row.

        Raises:
            sqlite3.IntegrityError: Naming the table that lacks a row.
        """
        ids = [row.get("message_id", row.get("old_id")) for row in rows]
        for key in self._foreign_keys(table):
            if rows[0].keys().isdisjoint(part.column for part in key):
                continue  # SQLite, too, looks only at what is written
            parent, columns = sql_name(key[0].parent), [f"{table}.{sql_name(part.column)}" for part in key]
            given = " AND ".join(f"{column} IS NOT NULL" for column in columns)
            pairs = zip(key, columns, strict=True)
            same = " AND ".join(f"there.{sql_name(part.column_there)} = {column}" for part, column in pairs)
            lost = f"{given} AND NOT EXISTS (SELECT 1 FROM {parent} AS there WHERE {same})"
            # guard: reference-looked-at-before-the-commit
            if self.rows_among(f"SELECT 1 FROM {table} WHERE {lost} AND {table}.message_id IN", ids):
                raise sqlite3.IntegrityError(f"{', '.join(columns)} must be in {parent}")

    def _foreign_keys(self, table: str) -> list[list[_KeyColumn]]:
        """Return the foreign keys of a table, which is named as part of a statement, each as its columns."""
        keys: dict[int, list[_KeyColumn]] = {}
        for number, parent, column, there in self.rows(_REFERS_TO, {"table": table.strip('"').replace('""', '"')}):
            keys.setdefault(number, []).append(_KeyColumn(parent, column, there))
        return list(keys.values())

    def relation(self, name: str) -> Relation | None:
        """See `Connection.relation`."""
        found = self.first(_RELATION, {"name": name})
        if found is None:
            return None
        spelled, kind, created_by = found[0], found[1], str(found[2])
        self._note_resolved_conflicts(name, created_by)
        row_place = self._place_of_rows(spelled)
        if kind == "table":
            return Relation(spelled, row_place=row_place)
        source = _TABLE_OF_VIEW.search(created_by)
        return Relation(spelled, source["name"] if source else "", row_place=row_place)

    def _note_resolved_conflicts(self, table: str, created_by: str) -> None:
        """Keep in mind whether the table, made by this CREATE, or one of its triggers resolves conflicts."""
        # guard: no-row-replaced-by-another
        self._resolving_table = table if _ON_CONFLICT.search(created_by) else ""
        if self._resolving_table:
            wanted = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = :table"
            texts = self.rows(wanted, {"table": table})
            self._has_resolving_trigger = any(_CONFLICT_WORDS.search(str(text)) for (text,) in texts)

    def _for_driver(self, statement: str) -> str:
        """Return the statement so that a conflict ends it, by OR ABORT on the table that resolves conflicts.

        Not where a trigger resolves its own: OR ABORT would hold for what the trigger does, too.
        """
        # guard: conflict-of-a-trigger-is-its-own
        if self._resolving_table and not self._has_resolving_trigger:
            for verb, into in (("INSERT", " INTO "), ("UPDATE", " ")):
                statement = statement.replace(
                    f"{verb}{into}{self._resolving_table} ", f"{verb} OR ABORT{into}{self._resolving_table} "
                )
        return statement

    def change_all(self, statement: str, rows: Sequence[Values]) -> int:
        """See `Connection.change_all`; where a conflict may not end the statement, rows are counted before and after.

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
        """Return `"table".rowid`, the number of a row, or "": a view has none, nor a table that is kept by its key."""
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


_READ_ONLY_PRAGMAS = ("query_only = ON", "temp_store = MEMORY")


class FileVersion(NamedTuple):
    """What tells one state of a file from the next."""

    inode: int
    size: int
    modified_ns: int


def version_of(path: Path) -> FileVersion | None:
    """Return the version of a file; one without content counts as none, as the log that a mere reader makes."""
    found = stat_or_none(path)
    return FileVersion(found.st_ino, found.st_size, found.st_mtime_ns) if found and found.st_size else None


def seconds_since_change(versions: Iterable[FileVersion | None]) -> float:
    """Return the seconds since the last change of these files; file times move in steps of some milliseconds."""
    return (time.time_ns() - max((one.modified_ns for one in versions if one is not None), default=0)) / 1e9


def open_read_only(path: Path, wait: float) -> sqlite3.Connection:
    """Return a connection that creates, locks and changes nothing, for a short look.

    Without a log the file is read as it is; with one its index is only read, and one that is missing not made.

    Raises:
        TeamError: `STORE_UNREADABLE` for a log without its index, and for a write that was cut short.
    """
    log, journal = Path(f"{path}-wal"), Path(f"{path}-journal")
    # guard: write-cut-short-not-shown
    if _is_empty(log) and not _is_empty(journal):
        try:
            return connect_file(path, "mode=ro", *_READ_ONLY_PRAGMAS, "schema_version", timeout=wait)
        except sqlite3.OperationalError as error:
            if not any(words in str(error) for words in ("readonly", "unable to open")):
                raise
            text = f"{journal} is left of a write that was cut short, and only a writer may undo it"
            raise TeamError(Code.STORE_UNREADABLE, text, "Open the team once with the right to write.") from error
    if _is_empty(log):
        return connect_file(path, "mode=ro&immutable=1", *_READ_ONLY_PRAGMAS, timeout=wait)
    try:
        return connect_file(path, "mode=ro&readonly_shm=1", *_READ_ONLY_PRAGMAS, "schema_version", timeout=wait)
    except sqlite3.OperationalError as error:
        if "unable to open" not in str(error) or _is_empty(path):
            raise
        text = f"{log} has no index beside it, as after a crash of the machine, and only a writer may make one"
        raise TeamError(Code.STORE_UNREADABLE, text, "Open the team once with the right to write.") from error


def connect_file(path: Path, how: str, *pragmas: str, timeout: float) -> sqlite3.Connection:
    """Open a database file; returns a connection that begins no transactions by itself.

    Args:
        how: Parameters of SQLite's URI, as `mode=rw`.
        pragmas: `NAME = VALUE` each, or a mere NAME, by which the file is looked into at once.
        timeout: Seconds to wait for whoever holds the database.

    Raises:
        TeamError: `STORE_UNREADABLE` for a journal that is a pipe.
        sqlite3.Error: What SQLite says.
    """
    _refuse_pipe(Path(f"{path}-journal"))
    uri = f"file:{quote(os.fsencode(path))}?{how}"  # a name need not be UTF-8
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=0)
    # Other programs write texts that are not UTF-8; they come with replacement characters and stop nothing.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    patience = f"busy_timeout = {1e3 * timeout:.0f}"
    try:
        try:
            _set_pragmas(connection, *pragmas, patience)  # first without waiting, which may be in vain
        except sqlite3.OperationalError as error:
            # guard: missing-locks-not-waited-for
            if "locked" not in error_words(error) or missing_locks_in(path.parent):
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
    found = stat_or_none(journal)
    if found is not None and stat.S_ISFIFO(found.st_mode):
        text = f"{journal} is a pipe; a database that is opened beside it would wait for ever"
        raise TeamError(Code.STORE_UNREADABLE, text, "Take it away; SQLite puts no such file there.")


def stat_or_none(path: Path) -> os.stat_result | None:
    """Return the state of `path`; None when nothing is there."""
    try:
        return path.stat()
    except OSError:
        return None


def file_id(path: Path) -> FileId | None:
    """Return which file is at `path`; None when nothing is there."""
    found = stat_or_none(path)
    return None if found is None else FileId(found.st_dev, found.st_ino)


def _is_empty(path: Path) -> bool:
    """Return whether there is no such file, or nothing in it."""
    found = stat_or_none(path)
    return found is None or not found.st_size


def error_words(error: Exception) -> str:
    """Return what SQLite says, in small letters; it has no codes for what we ask."""
    return str(error).lower()


_WAL_WRITE_BYTE, _RESERVED_BYTE = 120, 0x40000001
"""The byte that a writer locks: in the index of the log, and in a database without a log."""
_SHARED_BYTES = (0x40000002, 510)
"""The bytes that every reader locks: where they start, and how many."""
LOCK_RETRY_SECONDS = 0.004
"""How often a waiting writer asks again. SQLite's own waiting sleeps ever longer, so that the latest comer wins."""


def lock_shared(descriptor: int, kind: int = fcntl.F_RDLCK) -> None:
    """Take (or with `F_UNLCK` give back) a reader's lock on the bytes of a database that SQLite locks to be alone.

    The lock belongs to the open file (OFD), not to the process as SQLite's own, so that neither ends the other.

    Raises:
        OSError: `EAGAIN` or `EACCES` while somebody is alone; others where there are no such locks, as on macOS.
    """
    if not hasattr(fcntl, "F_OFD_SETLK"):
        raise OSError(errno.ENOTSUP, "no locks that belong to an open file")
    # `struct flock` of Linux: kind, counted from where, first byte, number of bytes, process (0 for such a lock).
    lock = struct.pack("hhqqi4x", kind, os.SEEK_SET, *_SHARED_BYTES, 0)
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)


class _LockedFile(NamedTuple):
    """A descriptor on a database, and how many looks it is locked for; without one it is open and not locked."""

    descriptor: int
    looks: int


class _ReadLocks:
    """Keeps others from being alone in a database while this process looks at it without changing anything.

    Whoever leaves it as the last one writes the log into the file and takes log and index away: a look at the same
    moment found a log without its index, or pages of two moments. A lock keeps it from that, as any reader's does.
    Descriptors are never closed: that would take away the locks that SQLite has on the file for this process.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._files: dict[FileId, _LockedFile] = {}

    def forget(self) -> None:
        """Begin anew in a process that was forked: its descriptors have their locks together with the other's."""
        self._guard = threading.Lock()
        self._files = {}

    def enter(self, path: Path, file: FileId, wait: float) -> bool:
        """Begin a look, waiting at most `wait` seconds; returns whether it has the lock, so that it must `leave`.

        Where somebody stays alone in the database, or another file took its name, it is a look without a lock.
        """
        deadline = time.monotonic() + wait
        while True:
            with self._guard:
                try:
                    return self._enter(path, file)
                except OSError as error:
                    if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() >= deadline:
                        return False
            time.sleep(LOCK_RETRY_SECONDS)

    def _enter(self, path: Path, file: FileId) -> bool:
        """Lock the file, or count one more look; returns False where another file has taken its name by now.

        Raises:
            OSError: It cannot be opened or locked.
        """
        if file not in self._files:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            found = os.fstat(descriptor)
            opened = FileId(found.st_dev, found.st_ino)
            self._files[opened] = _LockedFile(descriptor, looks=0)
            if opened != file:  # replaced at this moment; the connection is of either
                return False
        known = self._files[file]
        if not known.looks:
            lock_shared(known.descriptor)
        self._files[file] = known._replace(looks=known.looks + 1)
        return True

    def leave(self, file: FileId) -> None:
        """End a look that had the lock; the last one gives it back."""
        with self._guard:
            known = self._files.get(file)
            if known is None or not known.looks:
                return  # forgotten by a fork
            if known.looks == 1:
                with suppress(OSError):
                    lock_shared(known.descriptor, fcntl.F_UNLCK)
            self._files[file] = known._replace(looks=known.looks - 1)


READ_LOCKS = _ReadLocks()
IN_USE: set[SqliteConnection] = set()
"""The connections of all threads. In a forked process they stay open: to close one there takes away the others' log."""
IN_USE_AT_FORK: set[FileId] = set()
"""The databases that were in use when this process was forked: SQLite takes the other's locks on them for ours."""


def _begin_after_fork() -> None:
    """Note, in a process that was just forked, what must not be used there."""
    READ_LOCKS.forget()
    IN_USE_AT_FORK.update(connection.file for connection in IN_USE if connection.file is not None)


os.register_at_fork(after_in_child=_begin_after_fork)


def lock_holder(database: Path) -> LockHolder | None:
    """Return the process that holds the write lock, by the kernel's own list; None where nobody does, or unknown."""
    locks = kernel_locks() or []
    for file, byte in ((Path(f"{database}-shm"), _WAL_WRITE_BYTE), (database, _RESERVED_BYTE)):
        pid = _lock_owner(locks, file, byte)
        if pid is not None:
            return LockHolder(pid or None, "", "", _program_name(pid), True)
    return None


def _lock_owner(locks: list[list[str]], file: Path, byte: int) -> int | None:
    """Return the process that has a byte of a file locked to write; 0 for one in another container, None for nobody.

    Args:
        locks: Lines of `/proc/locks` as words: `1: POSIX ADVISORY WRITE PID MAJOR:MINOR:INODE FIRST LAST`; in the
            line of one who waits an arrow stands before the kind.
    """
    found = file_id(file)
    if found is None:
        return None
    for words in locks:
        if len(words) < 8:
            continue
        _, kind, _, mode, pid, place, first, last = words[:8]
        if (kind, mode) == ("POSIX", "WRITE") and place.endswith(f":{found.inode}"):
            end = byte if last == "EOF" else int(last)
            if int(first) <= byte <= end:
                return max(0, int(pid))
    return None


def _program_name(pid: int) -> str:
    """Return the name of the program that runs as this process; empty where the system does not tell."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
