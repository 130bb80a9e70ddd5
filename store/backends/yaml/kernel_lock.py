"""Kernel lock on one file: an flock, which ends with the process that holds it, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import UnixFileLock


class KernelLock:
    """An flock with the descriptor for the holder's text: taken at once where nobody has it, else waited for.

    Waiting is filelock's: loading it takes longer than a write, and nearly always nobody has the lock. Both are the
    same lock of the kernel.
    """

    def __init__(self, path: Path, wait: float, mode: int) -> None:
        self._owner = os.getpid()
        self._waited: UnixFileLock | None = None
        self._fd = _lock_at_once(path)
        if self._fd < 0:
            self._wait(path, wait, mode)
        self.ino = os.fstat(self._fd).st_ino

    def _wait(self, path: Path, wait: float, mode: int) -> None:
        from filelock import UnixFileLock

        # A soft lock and an flock do not exclude each other, so there is no falling back.
        self._waited = UnixFileLock(path, fallback_to_soft=False, on_acquired=self._borrow, mode=mode)
        self._waited.acquire(timeout=max(0.0, wait), poll_interval=0.005)

    def _borrow(self, fd: int) -> None:
        self._fd = fd

    def write(self, text: bytes) -> None:
        """Replace the first bytes of the file."""
        # After a fork the number may belong to another file.
        if os.getpid() == self._owner:
            os.pwrite(self._fd, text, 0)

    def release(self) -> None:
        """Give the lock back."""
        if self._waited is not None:
            self._waited.release()
        elif self._fd in _taken and os.getpid() == self._owner:
            fd, self._fd = self._fd, -1
            _taken.discard(fd)
            os.close(fd)  # which gives it back, since no other process has the descriptor


_taken: set[int] = set()
"""Descriptors of locks that were taken at once."""


def _lock_at_once(path: Path) -> int:
    """The descriptor of the lock at `path`; -1 where it is held, is not there yet, or anything else is the matter."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return -1
    _taken.add(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        now, locked = os.lstat(path), os.fstat(fd)
        if stat.S_ISREG(locked.st_mode) and (now.st_dev, now.st_ino) == (locked.st_dev, locked.st_ino):
            return fd
    except OSError:
        pass
    except BaseException:
        _taken.discard(fd)
        os.close(fd)
        raise
    _taken.discard(fd)
    os.close(fd)
    return -1


def _leave_to_parent() -> None:
    """In a forked child: a lock ends with the process that took it, not with the last child that has its descriptor."""
    for fd in _taken:
        with contextlib.suppress(OSError):
            os.close(fd)
    _taken.clear()


os.register_at_fork(after_in_child=_leave_to_parent)
