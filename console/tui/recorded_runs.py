"""Runs on record: what agents' clients said they ran, as the hook left it in private files on this machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from heapq import merge

import msgspec
from team_console.console.clients.run_record import LARGEST, OLD
from team_console.console.clients.session_files import agent_prefix, state_subfolder
from team_console.store.contract.team import Team
from team_console.store.views.evidence import (
    Run,
    Runs,
)

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
