"""Files that a plan names, looked up within the project folder: never by a link, never opened, bounded in number.

A plan is a stranger's text. Each folder on the way is opened by itself and never through a link, so that no name leads
out of the project; of what a name means only its kind, size and time are asked, so that no pipe or device is touched.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from team_console.store.views.evidence import MOST_NAMES, FileFact, FileState

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DEEPEST = 40
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


def look_for(folder: str, names: Iterable[str]) -> tuple[FileFact, ...]:
    """What each name is within `folder`, at most `MOST_NAMES` of them; a folder that cannot be opened tells nothing."""
    wanted = list(islice(names, MOST_NAMES))
    try:
        root = os.open(folder, _FOLDER)
    except (OSError, ValueError):
        return tuple(FileFact(name, FileState.UNREADABLE) for name in wanted)
    try:
        return tuple(_look(root, folder, name) for name in wanted)
    finally:
        os.close(root)


def _look(root: int, folder: str, name: str) -> FileFact:
    parts = _within(folder, name)
    if parts is None:
        return FileFact(name, FileState.OUTSIDE)
    try:
        with _last_folder(root, parts[:-1]) as place:
            found = os.stat(parts[-1], dir_fd=place, follow_symlinks=False)
    except OSError as error:
        state = FileState.LINK if error.errno == errno.ELOOP else FileState.UNREADABLE
        return FileFact(name, FileState.MISSING if error.errno in _MISSING else state)
    except ValueError:
        return FileFact(name, FileState.UNREADABLE)
    return FileFact(name, _state(found.st_mode), found.st_size, found.st_mtime)


def _within(folder: str, name: str) -> list[str] | None:
    """The steps from the folder to the name; None when it is elsewhere."""
    base = folder.rstrip("/") + "/"
    if name.startswith(base):
        name = name[len(base) :]
    elif name.startswith(("/", "~")):
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if not parts or ".." in parts or len(parts) > _DEEPEST else parts


@contextmanager
def _last_folder(root: int, parts: list[str]) -> Iterator[int]:
    """The folder that the last step is in; each is opened from the one before it, and none through a link."""
    place = os.dup(root)
    try:
        for part in parts:
            _refuse_link(part, place)
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)


def _refuse_link(part: str, place: int) -> None:
    """A link and a plain file both end an opening with `ENOTDIR`, and are told apart here."""
    if stat.S_ISLNK(os.stat(part, dir_fd=place, follow_symlinks=False).st_mode):
        raise OSError(errno.ELOOP, "a link")


def _state(mode: int) -> FileState:
    if stat.S_ISREG(mode):
        return FileState.FILE
    if stat.S_ISDIR(mode):
        return FileState.FOLDER
    return FileState.LINK if stat.S_ISLNK(mode) else FileState.SPECIAL
