"""Disk: the few file system calls the YAML team makes, in one place that a crash simulator can stand in for."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from team_console.store.backends.locked_files import SAFE, kernel_locks, sync_folder
from team_console.store.settings.file_trust import open_quietly

_CALM_SECONDS = 1.0
"""Seconds of waiting for a lock after which a writer looks for it ten times as often."""


class KernelLock:
    """An flock by filelock, with the descriptor for the holder's text."""

    def __init__(self, path: Path, wait: float, mode: int) -> None:
        from filelock import UnixFileLock  # 30 ms, which only a write needs

        self._owner = os.getpid()
        # A soft lock and an flock do not exclude each other, so there is no falling back.
        self._lock = UnixFileLock(path, fallback_to_soft=False, on_acquired=self._borrow, mode=mode)
        # Nobody is in line for a lock that is asked for again and again: whoever has waited long asks more often.
        calm = min(max(0.0, wait), _CALM_SECONDS)
        try:
            self._lock.acquire(timeout=calm, poll_interval=0.01)
        except TimeoutError:
            self._lock.acquire(timeout=max(0.0, wait - calm), poll_interval=0.001)
        self.ino = os.fstat(self._fd).st_ino

    def _borrow(self, fd: int) -> None:
        self._fd = fd

    def write(self, text: bytes) -> None:
        """Replace the first bytes of the file."""
        # After a fork the number may belong to another file.
        if os.getpid() == self._owner:
            os.pwrite(self._fd, text, 0)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()


FileVersion = tuple[int, int, int]
"""What tells one generation of a file from another: inode number, size in bytes, modification time in ns."""

_WINDOW = 1 << 20
LARGEST_FILE = 256 << 20
"""Bytes that are ever read at once; a file of which more would be needed was not made by us."""


class Stat(Struct, frozen=True):
    """What a path names: `kind` is `file`, `folder`, `link` or `other`; `mode` holds the permission bits."""

    kind: str
    dev: int
    ino: int
    size: int
    mtime_ns: int
    mode: int
    links: int
    group: int = -1

    @property
    def mark(self) -> FileVersion:
        """The generation of the file."""
        return self.ino, self.size, self.mtime_ns


class HeldLock(Protocol):
    """A kernel lock that is held."""

    ino: int
    """Inode number of the locked file."""

    def write(self, text: bytes) -> None:
        """Replace the beginning of the lock file's text by one write."""

    def release(self) -> None:
        """Give the lock back; the file stays."""


class Disk:
    """Calls on the operating system that raise `OSError` like those of `os`; descriptors are numbers."""

    def stat(self, path: Path) -> Stat | None:
        """Return the state of `path`, links not followed; None when nothing is there."""
        try:
            return _stat(os.lstat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: Path, start: int = 0, length: int | None = None) -> tuple[bytes, Stat]:
        """Bytes of a regular file from `start`, and what the file was once they had been read.

        Raises:
            OSError: `EFBIG` for more than `LARGEST_FILE` of them, `ENOMEM` for more than there is memory for.
        """
        fd = _refuse_special(open_quietly(path, SAFE), path)
        try:
            return _read_all(fd, path, start, length), _stat(os.fstat(fd))
        finally:
            os.close(fd)

    def find(self, path: Path, needle: bytes) -> int:
        """Return the first position of `needle` in a regular file, -1 without one; in constant memory."""
        # Not by a mapping of the file: that would end the process when somebody cuts the file meanwhile.
        start, before = 0, b""
        while data := self.read(path, start, _WINDOW)[0]:
            window = before + data
            at = window.find(needle)
            if at >= 0:
                return start - len(before) + at
            start, before = start + len(data), window[max(0, len(window) - len(needle) + 1) :]
        return -1

    def names(self, folder: Path) -> list[str]:
        """Return the names in `folder`, sorted; none when it does not exist."""
        try:
            fd = open_quietly(folder, os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            if error.errno != errno.ELOOP:  # a link that leads to itself leads to no folder
                raise
            return []
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    def mkdir(self, folder: Path, mode: int) -> None:
        """Make one folder."""
        os.mkdir(folder, 0o700)
        if mode != 0o700:
            os.chmod(folder, mode)

    def open_new(self, path: Path, mode: int, group: int = -1) -> int:
        """Create a file that must not exist, of that mode and, if we may, of that group; open it for writing."""
        return _create(path, mode, group, os.O_WRONLY)

    def open_append(self, path: Path, mode: int) -> int:
        """Open for appending, creating the file when it is missing."""
        try:
            return _refuse_special(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | SAFE), path)
        except FileNotFoundError:
            return _create(path, mode, -1, os.O_WRONLY | os.O_APPEND)

    def open_existing(self, path: Path) -> int:
        """Open an existing file for writing in place."""
        return _refuse_special(os.open(path, os.O_RDWR | os.O_NONBLOCK | SAFE), path)

    def stat_of(self, fd: int) -> Stat:
        """Return the state of an open file."""
        return _stat(os.fstat(fd))

    def write(self, fd: int, data: memoryview) -> int:
        """Write, perhaps less than asked; returns the number of bytes."""
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        """Cut an open file."""
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        """Make the file's bytes durable."""
        _sync_bytes(fd)

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        os.close(fd)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name that must not exist."""
        os.link(source, target, follow_symlinks=False)

    def rename(self, source: Path, target: Path) -> None:
        """Move a name over another, atomically."""
        os.replace(source, target)

    def exchange(self, path: Path, other: Path) -> bool:
        """Swap two names atomically; False where the system or its file system cannot.

        Unlike a rename it destroys nothing: what a foreign writer put at `path` a moment ago is at `other` then.
        """
        swap = _exchange_call()
        number = errno.ENOSYS if swap is None else swap(os.fsencode(path), os.fsencode(other))
        if number and number not in _REFUSED:
            raise OSError(number, os.strerror(number), str(other))
        return not number

    def unlink(self, path: Path) -> None:
        """Remove a name."""
        os.unlink(path)

    def sync_folder(self, folder: Path) -> None:
        """Make names in `folder` durable; a file system that refuses it (some network mounts) counts as done."""
        sync_folder(folder)

    def lock(self, path: Path, wait: float, mode: int) -> HeldLock:
        """Take the kernel lock on a file that is made with `mode` when it is missing.

        Raises:
            TimeoutError: It is held for longer than `wait` seconds.
        """
        return KernelLock(path, wait, mode)

    def lock_holders(self, path: Path, expected: object) -> list[int] | None:
        """Give the processes with an flock on the file, from the kernel's own list; None where there is no such list.

        The list's device number is not the file's on some file systems, so the `expected` process is enough there.
        """
        found = self.stat(path)
        if found is None:
            return []
        locks = kernel_locks()
        if locks is None:
            return None
        place = f"{os.major(found.dev):02x}:{os.minor(found.dev):02x}:{found.ino}"
        held = [lock[4:6] for lock in locks if len(lock) >= 6 and lock[1] == "FLOCK" and lock[4].isdigit()]
        return [
            int(pid) for pid, file in held if file == place or (file.endswith(f":{found.ino}") and pid == str(expected))
        ]


def _stat(found: os.stat_result) -> Stat:
    """Return what the system says of a file, in the fields that are used here."""
    mode = found.st_mode
    if stat.S_ISREG(mode):
        kind = "file"
    elif stat.S_ISDIR(mode):
        kind = "folder"
    else:
        kind = "other"
    return Stat(
        "link" if stat.S_ISLNK(mode) else kind,
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        stat.S_IMODE(mode),
        found.st_nlink,
        found.st_gid,
    )


def _create(path: Path, mode: int, group: int, flags: int) -> int:
    """Return a new file with exactly these rights, whatever the umask; private until it has them."""
    fd = os.open(path, flags | os.O_CREAT | os.O_EXCL | SAFE, 0o600)
    try:
        if group not in (-1, os.fstat(fd).st_gid):
            with contextlib.suppress(PermissionError):
                os.fchown(fd, -1, group)
        if mode != 0o600:
            # guard: queue-mode-kept
            os.fchmod(fd, mode)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _refuse_special(fd: int, path: Path) -> int:
    """Return the descriptor of a plain file; of anything else it is closed and refused."""
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def _read_all(fd: int, path: Path, start: int, length: int | None) -> bytes:
    """Look before reading: a sparse file claims gigabytes, which would take all memory."""
    wanted = max(0, os.fstat(fd).st_size - start) + 1 if length is None else length
    if wanted > LARGEST_FILE:
        raise OSError(errno.EFBIG, f"{wanted:,} bytes to read, the limit is {LARGEST_FILE:,}", str(path))
    parts: list[bytes] = []
    try:
        while wanted > 0 and (part := os.pread(fd, wanted, start)):
            parts.append(part)
            start += len(part)
            wanted = (1 << 20) if length is None and len(part) >= wanted else wanted - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
    except MemoryError:
        raise OSError(errno.ENOMEM, f"not enough memory to read {wanted:,} bytes", str(path)) from None


def _sync_bytes(fd: int) -> None:
    """Make the bytes of a file durable by fsync; on macOS through the drive's own cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(fd, full)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY):
                raise
    os.fsync(fd)


# Whole-file steps made of disk calls: write a new file, append or take it back, cut, move aside.

PRIVATE = 0o600
"""Mode of files we create where no older one says otherwise."""

NOT_PLAIN = frozenset({errno.ELOOP, errno.EINVAL, errno.EISDIR, errno.ENXIO})
"""What opening a link, a folder, a pipe or a device in a plain file's place is answered with."""
FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Why we may not write: permissions, or a mount for reading only."""


def size_of(disk: Disk, path: Path) -> int:
    """Return the size of what is at `path` in bytes; 0 when nothing is there."""
    found = disk.stat(path)
    return found.size if found is not None else 0


def shared_mode(queue: Stat | None) -> int:
    """Return the mode of the other files of a team: private, unless its queue is for a group to write."""
    return 0o660 if queue is not None and queue.mode & 0o020 else PRIVATE


def write_new(
    disk: Disk, path: Path, data: bytes | Iterable[bytes | memoryview], *, mode: int = PRIVATE, group: int = -1
) -> Stat:
    """Create `path` with `data`, or several pieces of it, durable. On an error nothing is left behind.

    Raises:
        OSError: What the system said; `FileExistsError` when something is at `path`.
    """
    fd = disk.open_new(path, mode, group)
    try:
        try:
            _write(disk, fd, (data,) if isinstance(data, bytes) else data)
            disk.sync(fd)
            written = disk.stat_of(fd)
        finally:
            disk.close(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(path)
        raise
    return written


def rename_durably(disk: Disk, source: Path, target: Path) -> None:
    """Move a name over another in one folder, and make that durable."""
    disk.rename(source, target)
    # Without it a power cut can take the new name back although the file's bytes are durable.
    disk.sync_folder(target.parent)


def append(disk: Disk, path: Path, data: bytes | bytearray, *, mode: int) -> None:
    """Append `data`, durable, with the name of a file that was empty. On an error the file is as long as before.

    Raises:
        PartialAppendError: The file could not be cut back after an error.
        OSError: What the system said.
    """
    fd = disk.open_append(path, mode)
    try:
        before = disk.stat_of(fd).size
        try:
            _write(disk, fd, (data,))
            disk.sync(fd)
            if before == 0:
                disk.sync_folder(path.parent)
        except BaseException as error:
            _take_back(disk, fd, before, error)
            raise
    finally:
        disk.close(fd)


def cut(disk: Disk, path: Path, size: int) -> None:
    """Cut `path` to `size` bytes, durable."""
    fd = disk.open_existing(path)
    try:
        disk.truncate(fd, size)
        disk.sync(fd)
    finally:
        disk.close(fd)


class PartialAppendError(OSError):
    """An append failed and could not be taken back, so a part of it may be there."""


def _write(disk: Disk, fd: int, pieces: Iterable[bytes | bytearray | memoryview]) -> None:
    """Write all of the pieces."""
    for piece in pieces:
        view = memoryview(piece)
        while view:  # the system may take less than it is given
            view = view[disk.write(fd, view) :]


def _take_back(disk: Disk, fd: int, size: int, cause: BaseException) -> None:
    """Cut off what was appended in part; where that fails, say that it may be there."""
    try:
        disk.truncate(fd, size)
        disk.sync(fd)
    except OSError as error:
        raise PartialAppendError(error.errno, error.strerror, error.filename) from cause


# Swap two names in one step: the exchanging rename of Linux, which Python has no call for.

_EXCHANGE = 2
_AT_FDCWD = -100
_REFUSED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EXDEV})


@cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    """Return the call of the C library that swaps two names, as a function that gives its error number; None without
    one.
    """
    import ctypes  # 5 ms, which only a write needs

    libc = ctypes.CDLL(None, use_errno=True) if os.uname().sysname == "Linux" else None
    if libc is None or not hasattr(libc, "renameat2"):
        return None
    kinds = ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
    libc.renameat2.argtypes = kinds

    def swap(one: bytes, two: bytes) -> int:
        done: int = libc.renameat2(_AT_FDCWD, one, _AT_FDCWD, two, _EXCHANGE)
        return ctypes.get_errno() if done else 0

    return swap
