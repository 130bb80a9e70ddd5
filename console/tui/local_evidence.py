"""What this machine knows of a request: files that it names, and runs that clients left on record."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from heapq import merge
from itertools import islice

import msgspec
from team_console.console.clients.run_record import LARGEST, OLD
from team_console.console.clients.session_files import agent_prefix, state_subfolder
from team_console.store.contract.team import Team
from team_console.store.views.evidence import (
    MOST_NAMES,
    FileFact,
    FileState,
    Run,
    Runs,
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


_MOST_FILES = 20
"""Files of runs that are read for an agent, the newest."""
_MOST_RUNS = 2_000
"""Runs of an agent that are told, the newest."""
_LATEST = 32_503_680_000.0
"""Seconds up to the year 3000: a later moment is a mistake, and no clock could show it."""


def runs_of(team: Team, agent: str) -> Runs | None:
    """Return the recorded runs of an agent of this team, oldest first; None without a record.

    A session that joined has one from its first event on.
    """
    prefixes = {agent_prefix(agent, place) for place in _places(team)}
    newest = sorted(_run_files(state_subfolder("runs"), prefixes), key=_written_at, reverse=True)[:_MOST_FILES]
    sessions: dict[str, list[Run]] = {}
    for path in sorted(newest, key=lambda path: not path.endswith(OLD)):
        sessions.setdefault(path.removesuffix(OLD), []).extend(_runs_in(path))
    # Lines of one session stay in the order they were written in: a clock that is set back makes no run an older one.
    runs = tuple(merge(*sessions.values(), key=lambda run: run.at))[-_MOST_RUNS:]
    begun = [run.at for run in runs] or [min(_written_at(path), _LATEST) for path in newest]
    return Runs(runs, min(begun)) if begun else None


def _places(team: Team) -> set[str]:
    """Return the locations an agent may know the team by: as opened here, its folder, the project around it."""
    places = {team.location}
    if team.root is not None:
        root = team.root.absolute()
        places |= {str(root), str(root.parent), str(root.parent.parent)}
    return places


def _run_files(base: str, prefixes: set[str]) -> Iterator[str]:
    """Yield the paths of the files whose names begin with one of these prefixes (`agent_prefix`, 8 characters)."""
    try:
        with os.scandir(base) as entries:
            yield from (entry.path for entry in entries if entry.name[:8] in prefixes)
    except OSError:
        return


def _written_at(path: str) -> float:
    """Return when a file was last written; 0 where that cannot be looked up."""
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _runs_in(path: str) -> Iterable[Run]:
    """Yield the runs of one file that is our own and a plain one; a line that cannot be read is left out."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return
        data = file.read(2 * LARGEST)
    for line in data.splitlines():
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            run = msgspec.json.decode(line, type=Run)
            if 0 < run.at < _LATEST:
                yield run
