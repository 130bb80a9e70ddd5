"""Open files and folders, make them durable, tell whether a process holds their lock. Costs a start nothing."""

from __future__ import annotations

import errno
import fcntl
import os

SAFE = os.O_CLOEXEC | os.O_NOFOLLOW
"""Flags for every file here: not passed on to children, and no link is followed."""


def open_folder(path: str | os.PathLike[str]) -> int:
    """Return a descriptor of a folder that is no link. Raises `OSError`."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | SAFE)


def open_file(path: str | os.PathLike[str], *, folder: int | None = None) -> int:
    """Return a descriptor to read a file that is no link, in the folder with this descriptor; waits for no pipe.

    Raises:
        OSError: It cannot be opened.
    """
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | SAFE, dir_fd=folder)


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


_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def missing_locks(file: str | os.PathLike[str]) -> str:
    """Return why the file system of a file has no locks, as some network mounts; empty when it has them.

    The lock is shared and gone at once, so that nobody is held up.
    """
    try:
        found = open_file(file)
    except OSError:
        return ""
    return _missing_locks(found)


def missing_locks_in(folder: str | os.PathLike[str]) -> str:
    """Return why the file system of a folder has no locks, tried on a file of our own without a name.

    Never on a database itself: closing it would give up the locks that SQLite holds in this process.
    """
    try:
        found = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):  # not on every system
        from tempfile import NamedTemporaryFile  # 5 ms, and only here

        try:
            with NamedTemporaryFile(dir=folder, prefix=".locks-") as file:
                return _missing_locks(os.dup(file.fileno()))
        except OSError:
            return ""
    return _missing_locks(found)


def _missing_locks(file: int) -> str:
    """Try both kinds of locks on an open file, which is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        # guard: missing-locks-told
        return (error.strerror or str(error)) if error.errno in _NO_LOCKS else ""
    finally:
        os.close(file)
    return ""


def kernel_locks() -> list[list[str]] | None:
    """Return the kernel's own list of locks as words; None where there is no such list."""
    try:
        with open("/proc/locks") as file:
            return [line.split() for line in file]
    except OSError:
        return None


def is_locked(folder: int, file: str, *, awake: bool = False) -> bool | None:
    """Return whether a process holds the lock on `file` in the folder with this descriptor; None when it cannot be
    opened.

    The lock is shared and gone at once, so lookers do not disturb each other.

    Args:
        awake: Whether a process that is stopped (`kill -STOP`) counts as none, where this machine says that it is.
    """
    try:
        found = open_file(file, folder=folder)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(found, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        # guard: stopped-console-is-not-there
        return not (awake and _is_holder_stopped(found))
    except OSError:
        return None
    finally:
        os.close(found)
    # guard: lock-ends-with-process
    return False


def _is_holder_stopped(file: int) -> bool:
    """Return whether the process that has an open file locked is stopped; one in another container has no number here.

    Files of several file systems may have one number: then all who hold one have to be.
    """
    number = f":{os.fstat(file).st_ino}"
    holders = [words[4] for words in kernel_locks() or () if words[1] == "FLOCK" and words[5].endswith(number)]
    return bool(holders) and all(map(_is_stopped, holders))


def _is_stopped(pid: str) -> bool:
    """Return whether a process is stopped, as the letter behind its name in brackets says."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] == b"T"
    except OSError:
        return False


_MOUNTS = "/proc/mounts"
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "gpfs", "lustre", "fuse.sshfs", "afs", "ceph"})


def is_on_network(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is on a file system that several machines see, as far as the system tells."""
    try:
        with open(_MOUNTS, errors="surrogateescape") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return False
    place = os.path.realpath(path)
    # The words of a line are device, folder, type; the innermost folder that the file is in counts.
    above = [words for words in mounts if len(words) > 2 and f"{place}/".startswith(f"{words[1].rstrip('/')}/")]
    return bool(above) and max(above, key=lambda words: len(words[1]))[2] in _NETWORK


def open_files() -> list[str]:
    """Return the paths of the files that this process has open; none where the system does not tell."""
    links: list[str] = []
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        return links
    for name in names:
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue  # closed meanwhile
    return links
