"""SQLite: many processes of one machine on one file, a write-ahead log, synced commits."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import struct
import threading
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from team_console.store.backends.presence_folder import PresenceFolder
from team_console.store.backends.sql.connection import Column, Connection
from team_console.store.backends.sql.schema import LEFT_ALONE, MESSAGES, NOTES, Dialect, Fetched, Mode, Progress, Shape
from team_console.store.contract.team import (
    OUTCOME_UNKNOWN,
    PROCESS_LOST,
    Attendance,
    LockHolder,
    Presence,
    WatchHint,
    WatchState,
    locked_error,
)
from team_console.store.model.errors import Code, Problem, TeamError

_COLUMNS = """
SELECT name, type, name IN (
    SELECT min(part.name) FROM pragma_index_list(:table) AS keys, pragma_index_info(keys.name) AS part
    WHERE keys."unique" AND NOT keys.partial GROUP BY keys.name HAVING count(*) = 1
) OR (pk = 1 AND (SELECT max(pk) FROM pragma_table_xinfo(:table)) = 1)
FROM pragma_table_xinfo(:table) WHERE hidden <> 1 AND :table IN (SELECT name FROM sqlite_master) ORDER BY cid
"""
"""A key is a unique index of this column alone over all rows, or the primary key, which may have none of its own.

SQLite finds a table whatever the case of its name is; but `bob_inbox` is not the inbox of `BOB`.
"""


class SqliteConnection(Connection):
    """See `Connection`. The driver understands `:name` by itself."""

    error = sqlite3.Error
    is_strict = False
    blob = "BLOB"

    @property
    def is_idle(self) -> bool:
        """From the driver."""
        return not self.driver.in_transaction

    def tables(self, names: Collection[str]) -> set[str]:
        """See `Connection.tables`."""
        found = self.rows_among("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN", [*names])
        return {name for (name,) in found}

    def columns(self, table: str) -> list[Column]:
        """See `Connection.columns`."""
        return [Column(name, kind, bool(is_key)) for name, kind, is_key in self.rows(_COLUMNS, {"table": table})]


# A SQLite database as files: opening it to write or only to look, telling its versions apart, who has it locked.

_PROC_LOCKS = Path("/proc/locks")
_MOUNTS = Path("/proc/mounts")
_WAL_WRITE_BYTE, _RESERVED_BYTE = 120, 0x40000001
_SHARED_BYTES = (0x40000002, 510)
"""Where they start, and how many."""
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "gpfs", "lustre", "fuse.sshfs", "afs", "ceph"})
_LOOKING = ("query_only = ON", "temp_store = MEMORY")
_YOUNG_NS = 100_000_000
_INDEX_HEADER = 96
"""Bytes of the log's index that change with every commit, and not before others can see it."""
Stamp = tuple[int, int, int]
"""Inode, size and time in ns of a file."""


class Version(Struct, frozen=True):
    """What tells one version of a database from the next without opening it: its files, and the end of its log.

    The log is written and synced before the commit can be seen; only its index says when that is.
    """

    database: Stamp | None
    log: Stamp | None
    index: bytes

    @property
    def is_stable(self) -> bool:
        """Whether the next change is bound to look different: file times move in steps of some milliseconds."""
        newest = max((item[2] for item in (self.database, self.log) if item is not None), default=0)
        return time.time_ns() - newest > _YOUNG_NS


class Files:
    """The files of one database. The index is opened once and kept: to close it would drop SQLite's locks on it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index_path = Path(f"{path}-shm")
        self._index: int | None = None
        self._inode = 0
        self._guard = threading.Lock()

    def version(self) -> Version:
        """What is there now."""
        return Version(_stamp(self._path), _stamp(Path(f"{self._path}-wal")), self._header())

    def leave_old_index(self) -> bool:
        """Close an index that is not there any more; returns whether there is one now."""
        found = _stamp(self._index_path)
        with self._guard:
            if self._index is not None and (found is None or found[0] != self._inode):
                os.close(self._index)
                self._index = None
        return found is not None

    def _header(self) -> bytes:
        if not self.leave_old_index():
            return b""
        with self._guard:
            try:
                if self._index is None:
                    self._index = os.open(self._index_path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
                    self._inode = os.fstat(self._index).st_ino
                return os.pread(self._index, _INDEX_HEADER, 0)
            except OSError:
                return b""


def open_to_write(path: Path) -> sqlite3.Connection:
    """A connection without transactions of its own making, every commit synced."""
    return _connect(path, "mode=rw", "synchronous = FULL", "foreign_keys = ON", timeout=5.0)


def open_to_look(path: Path) -> sqlite3.Connection:
    """A connection that creates, locks and changes nothing, for a short look.

    Without a log the file is read as it is; with one its index is only read, and one that is missing not made.

    Raises:
        TeamError: `STORE_UNREADABLE` for a log without its index.
    """
    log = Path(f"{path}-wal")
    if _size(log) == 0:
        return _connect(path, "mode=ro&immutable=1", *_LOOKING, timeout=1.0)
    try:
        return _connect(path, "mode=ro&readonly_shm=1", *_LOOKING, "schema_version", timeout=1.0)
    except sqlite3.OperationalError as error:
        if "unable to open" not in str(error) or _size(path) == 0:
            raise
        text = f"{log} has no index beside it, as after a crash of the machine, and only a writer may make one"
        raise TeamError(Code.STORE_UNREADABLE, text, "Open the team once with the right to write.") from error


def _connect(path: Path, how: str, *pragmas: str, timeout: float) -> sqlite3.Connection:
    _refuse_pipe(Path(f"{path}-journal"))
    uri = f"file:{quote(os.fsencode(path))}?{how}"  # a name need not be UTF-8
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=timeout)
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_pipe(journal: Path) -> None:
    """SQLite looks whether a dead writer left something in there, and would wait for a writer to a pipe without end.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    try:
        is_pipe = stat.S_ISFIFO(os.stat(journal).st_mode)
    except OSError:
        return
    if is_pipe:
        text = f"{journal} is a pipe; a database that is opened beside it would wait for ever"
        raise TeamError(Code.STORE_UNREADABLE, text, "Take it away; SQLite puts no such file there.")


def can_write(path: Path) -> bool:
    """Whether this process may write the database and the files beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path`, None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def hold(path: Path) -> int:
    """Keep SQLite from closing the database as its last user, in this process too; to close the result would end that.

    A lock of the open file, not of the process, on the bytes that SQLite locks to be alone.
    """
    held = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with suppress(OSError):
        fcntl.fcntl(held, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, *_SHARED_BYTES, 0))
    return held


def has_open(file: tuple[int, int]) -> bool:
    """Whether this process has this file open, by its device and inode; False where nobody can tell."""
    try:
        descriptors = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return False
    return any(_opened(descriptor) == file for descriptor in descriptors)


def _opened(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_on_network(path: Path) -> bool:
    """Whether the file is on a file system that SQLite's log does not work on across machines."""
    try:
        mounts = [line.split() for line in _MOUNTS.read_text().splitlines()]
    except OSError:
        return False
    place = str(path.resolve())
    found = [(mount[1], mount[2]) for mount in mounts if len(mount) > 2 and _is_below(place, mount[1])]
    return bool(found) and max(found, key=lambda entry: len(entry[0]))[1] in _NETWORK


def find_holder(path: Path) -> LockHolder | None:
    """The process that has the byte locked which SQLite locks for writing, from the kernel's own list."""
    try:
        lines = [line.split() for line in _PROC_LOCKS.read_text().splitlines()]
    except OSError:
        return None
    for file, byte in ((Path(f"{path}-shm"), _WAL_WRITE_BYTE), (path, _RESERVED_BYTE)):
        pid = _locker(lines, file, byte)
        if pid is not None:
            return LockHolder(pid or None, "", "", _program(pid), True)
    return None


def _locker(lines: list[list[str]], file: Path, byte: int) -> int | None:
    found = _stamp(file)
    if found is None:
        return None
    for line in lines:
        if len(line) < 8 or line[1] != "POSIX" or line[3] != "WRITE" or not line[5].endswith(f":{found[0]}"):
            continue
        end = byte if line[7] == "EOF" else int(line[7])
        if int(line[6]) <= byte <= end:
            return max(0, int(line[4]))
    return None


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _is_below(place: str, mount: str) -> bool:
    return mount == "/" or place == mount or place.startswith(mount + "/")


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _size(path: Path) -> int:
    found = _stamp(path)
    return 0 if found is None else found[1]


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
        self.read_only = read_only or not can_write(path)
        super().__init__(keeps=0 if self.read_only else 2)
        self.path = path
        self.location = str(path)
        self.root = path
        self.inbox_folder = path.with_name("inbox")
        self._files = Files(path)
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
            # guard: version-per-connection
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
        if identity(self.path) != self._identity:
            raise self._replaced(self.path, "nothing was written")
        if lost := self._lost_beside():
            raise self._replaced(lost, "nothing was written")
        self._note_beside()

    def commit(self, connection: Connection) -> None:
        """Durable when this returns: the log is synced at every commit."""
        connection.run("COMMIT")
        lost = self.path if identity(self.path) != self._identity else self._lost_beside()
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
        return find_holder(self.path)

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
        if is_on_network(self.path):
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

        return watch(self._files)

    def open(self) -> Connection:
        """To write, or only to look."""
        open_file = open_to_look if self.read_only else open_to_write
        return SqliteConnection(open_file(self.path))

    def _follow_file(self) -> None:
        """Leave the connections to a file that is no longer there.

        Raises:
            TeamError: `STORE_UNREADABLE` when there is none now.
        """
        found = identity(self.path)
        with self._guard:
            if found != self._identity or self._reader_pid != os.getpid():
                self._forget()
                self._identity, self._beside = found, {}
                self.generation += 1
            lost = None if found is None else self._lost_beside()
            # guard: lost-wal-index-refused
            if lost == self._index_path:
                self._leave_index()
        if found is None:
            raise TeamError(Code.STORE_UNREADABLE, f"{self.location} is gone", "Put the file back.", vanished=True)
        # guard: lost-wal-refused
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
                self._beside[path] = identity(path)

    def _lost_beside(self) -> Path | None:
        """The log, or its index, when the one that connections have open is not the one that is there now.

        SQLite's last connection would write such a log into the file, without the frames of others, and take away what
        is there under its name; the lock keeps it from that to the end of the process.
        """
        self._files.leave_old_index()
        for path in (self._log_path, self._index_path):
            before, now = self._beside.get(path), identity(path)
            if before is None or before == now:
                continue
            if has_open(before):
                # guard: lost-wal-not-of-others
                if self._held is None:
                    self._held = hold(self.path)
                return path
            self._beside[path] = now
        return None

    def _forget(self) -> None:
        if identity(self.path) == self._identity:
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
            if file is None or not has_open(file):
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


# Notices changes of a SQLite file: a look at the file and its log a few times a second.

LOOK_SECONDS = 0.05


async def watch(files: Files) -> AsyncIterator[WatchHint]:
    """Yield a hint at once, after every change, and once more when a change is no longer fresh."""
    import asyncio  # 20 ms, which only who waits or watches needs

    seen: Version | None = None
    unsure = False
    while True:
        now = files.version()
        if now != seen or (unsure and now.is_stable):
            unsure = not now.is_stable
            seen = now
            yield WatchHint(WatchState.LIVE)
        await asyncio.sleep(LOOK_SECONDS)
