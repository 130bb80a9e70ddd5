"""Files that a request names, looked up within its folder; no link is followed out of it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from team_console.store.views.evidence import (
    MOST_NAMES,
    FileFact,
    FileState,
)

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DEEPEST = 40
"""Folders above a file that is looked up, at most."""
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


def look_for(folder: str, names: Iterable[str]) -> tuple[FileFact, ...]:
    """Look up each name within `folder`, at most `MOST_NAMES`; a folder that cannot be opened gives no facts."""
    wanted = list(islice(names, MOST_NAMES))
    try:
        root = os.open(folder, _OPEN_FOLDER)
    except (OSError, ValueError):
        return tuple(FileFact(name, FileState.UNREADABLE) for name in wanted)
    try:
        return tuple(_look_up(root, folder, name) for name in wanted)
    finally:
        os.close(root)


def _look_up(root: int, folder: str, name: str) -> FileFact:
    """Return what is at `name` within `folder`, whose descriptor is `root`."""
    parts = _steps_within(folder, name)
    if parts is None:
        return FileFact(name, FileState.OUTSIDE)
    try:
        with _last_folder(root, parts[:-1]) as place:
            found = os.stat(parts[-1], dir_fd=place, follow_symlinks=False)
    except OSError as error:
        if error.errno in _MISSING:
            return FileFact(name, FileState.MISSING)
        return FileFact(name, FileState.LINK if error.errno == errno.ELOOP else FileState.UNREADABLE)
    except ValueError:
        return FileFact(name, FileState.UNREADABLE)
    return FileFact(name, _state_of_mode(found.st_mode), found.st_size, found.st_mtime)


def _steps_within(folder: str, name: str) -> list[str] | None:
    """Return the names from the folder down to the file, each in the one before; None when it is elsewhere."""
    base = folder.rstrip("/") + "/"
    if name.startswith(base):
        name = name[len(base) :]
    elif name.startswith(("/", "~")):
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if not parts or ".." in parts or len(parts) > _DEEPEST else parts


@contextmanager
def _last_folder(root: int, parts: list[str]) -> Iterator[int]:
    """Yield a descriptor of the innermost of these folders.

    Each is opened from the one before it and none through a link: another program may exchange one meanwhile.
    """
    place = os.dup(root)
    try:
        for part in parts:
            _refuse_link(part, place)
            inner = os.open(part, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)


def _refuse_link(part: str, place: int) -> None:
    """Raise `OSError` with `ELOOP` for a link: opening one fails with `ENOTDIR`, as opening a plain file does."""
    if stat.S_ISLNK(os.stat(part, dir_fd=place, follow_symlinks=False).st_mode):
        raise OSError(errno.ELOOP, "a link")


def _state_of_mode(mode: int) -> FileState:
    if stat.S_ISREG(mode):
        return FileState.FILE
    if stat.S_ISDIR(mode):
        return FileState.FOLDER
    return FileState.LINK if stat.S_ISLNK(mode) else FileState.SPECIAL
