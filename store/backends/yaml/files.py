"""Whole-file steps made of disk calls: write a new file, append or take it back, cut, move aside."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterable
from pathlib import Path

from team_console.store.backends.yaml.disk import Disk, Stat

PRIVATE = 0o600
"""Mode of files we create where no older one says otherwise."""

NOT_PLAIN = frozenset({errno.ELOOP, errno.EINVAL, errno.EISDIR, errno.ENXIO})
"""What opening a link, a folder, a pipe or a device in a plain file's place is answered with."""
FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Why we may not write: permissions, or a mount for reading only."""

_BLOCK = 1 << 20
"""Bytes of one system call. For a call of many megabytes Linux takes pages of two megabytes, and in a virtual machine
those are the ones its host has to find first: 42 MB took 9 to 110 ms in one call, in blocks 12 to 15 every time.
What is in whole blocks goes on its way to the disk at once, so that a sync of those 42 MB takes 5 ms and not 16."""


def shared_mode(queue: Stat | None) -> int:
    """Mode of the other files of a team: private, unless its queue is for a group to write."""
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
            _write(disk, fd, (data,) if isinstance(data, bytes) else data, 0)
            disk.sync(fd)
            written = disk.stat_of(fd)
        finally:
            disk.close(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(path)
        raise
    return written


def append(disk: Disk, path: Path, data: bytes | bytearray, *, mode: int) -> None:
    """Append `data`, durable, with the name of a file that was empty. On an error the file is as long as before.

    Raises:
        OutcomeUnknown: The file could not be cut back after an error.
        OSError: What the system said.
    """
    fd = disk.open_append(path, mode)
    try:
        before = disk.stat_of(fd).size
        try:
            _write(disk, fd, (data,), before)
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


def set_aside(disk: Disk, path: Path, torn: bytes, size: int, *, stamp: str) -> Path:
    """Move what is `torn` at the end of `path` to a file beside it, named in the result, then cut `path` to `size`."""
    aside = path.with_name(f"{path.name}.torn-{stamp}")
    if disk.stat(aside) is None:
        write_new(disk, aside, torn)
        disk.sync_folder(aside.parent)
    cut(disk, path, size)
    return aside


class OutcomeUnknown(OSError):
    """An append failed and could not be taken back, so a part of it may be there."""


def _write(disk: Disk, fd: int, pieces: Iterable[bytes | bytearray | memoryview], place: int) -> None:
    """Write all of it, from `place` of the file on."""
    begun = place
    for piece in pieces:
        view = memoryview(piece)
        while view:
            size = disk.write(fd, view[:_BLOCK])
            view, place = view[size:], place + size
            whole = place - place % _BLOCK
            if whole > begun:
                disk.begin_sync(fd, begun, whole - begun)
                begun = whole


def _take_back(disk: Disk, fd: int, size: int, cause: BaseException) -> None:
    try:
        disk.truncate(fd, size)
        disk.sync(fd)
    except OSError as error:
        raise OutcomeUnknown(error.errno, error.strerror, error.filename) from cause
