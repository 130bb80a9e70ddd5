"""A SQLite database as files: opening it to write or only to look, telling its versions apart, who has it locked.

Nothing here opens the database's own files beside SQLite while it may be written: closing any descriptor of a file
drops the locks that SQLite holds on it in this process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import stat
import struct
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from team_console.store.contract.team import LockHolder
from team_console.store.model.errors import Code, TeamError

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

    Without a log the file is read as it is. With one, its index is only read; when that is missing, because the last
    writer died and the index with it, a copy of both is read instead.
    """
    log = Path(f"{path}-wal")
    if _size(log) == 0:
        return _connect(path, "mode=ro&immutable=1", *_LOOKING, timeout=1.0)
    try:
        return _connect(path, "mode=ro&readonly_shm=1", *_LOOKING, "schema_version", timeout=1.0)
    except sqlite3.OperationalError as error:
        if "unable to open" not in str(error) or _size(path) == 0:
            raise
    return _open_copy(path, log)


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


def _open_copy(path: Path, log: Path) -> sqlite3.Connection:
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, f"{copy}-wal")
        source = sqlite3.connect(copy)
        memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            source.backup(memory)
        except BaseException:
            memory.close()
            raise
        finally:
            source.close()
    return memory


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
