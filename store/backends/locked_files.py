"""Locked files: whether a process holds one, found out without waiting. Imports nothing that costs a start anything."""

from __future__ import annotations

import fcntl
import os

SAFE = os.O_CLOEXEC | os.O_NOFOLLOW
"""Flags for every file here: not passed on to children, and no link is followed."""


def open_folder(path: str | os.PathLike[str]) -> int:
    """A descriptor of a folder that is no link. Raises `OSError`."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | SAFE)


def is_locked(folder: int, file: str) -> bool | None:
    """Whether a process holds the lock on `file` in the folder with this descriptor; None when it cannot be opened.

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
