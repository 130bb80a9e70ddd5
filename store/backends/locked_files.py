"""Locked files and folders: held by a process or not, made durable. Imports nothing that costs a start anything."""

from __future__ import annotations

import errno
import fcntl
import os

SAFE = os.O_CLOEXEC | os.O_NOFOLLOW
"""Flags for every file here: not passed on to children, and no link is followed."""


def open_folder(path: str | os.PathLike[str]) -> int:
    """Return a descriptor of a folder that is no link. Raises `OSError`."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | SAFE)


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Make names in a folder durable; a file system that refuses it (some network mounts) counts as done.

    Raises:
        OSError: The disk failed.
    """
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(folder)


def is_locked(folder: int, file: str) -> bool | None:
    """Return whether a process holds the lock on `file` in the folder with this descriptor; None when it cannot be
    opened.

    The lock is shared and gone at once, so lookers do not disturb each other.
    """
    try:
        found = os.open(file, os.O_RDONLY | os.O_NONBLOCK | SAFE, dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(found, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(found)
    # guard: lock-ends-with-process
    return False
