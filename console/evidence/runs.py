"""Runs on record: what agents' clients said they ran, as the hook left it in private files on this machine."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator

from team_console.console.clients.quick.ran import LARGEST, runs_folder, whose
from team_console.store.contract.team import Team
from team_console.store.views.evidence import Run, Runs

_MOST_FILES = 20
_MOST_RUNS = 2_000
_LATEST = 32_503_680_000.0
"""The year 3000; a later moment is none, and no clock can show it."""


def runs_of(team: Team, agent: str) -> Runs | None:
    """What is on record of an agent of this team, oldest first; None when nothing is."""
    base = runs_folder()
    if base is None:
        return None
    begins = {whose(agent, place) for place in _places(team)}
    names = sorted(_records(base, begins), key=_changed, reverse=True)[:_MOST_FILES]
    runs = sorted((run for path in names for run in _read(path)), key=lambda run: run.at)[-_MOST_RUNS:]
    return Runs(tuple(runs), runs[0].at) if runs else None


def _places(team: Team) -> set[str]:
    """Where an agent may have been told that the team is: as it is opened here, its folder, the project around it."""
    places = {team.location}
    if team.root is not None:
        root = team.root.absolute()
        places |= {str(root), str(root.parent), str(root.parent.parent)}
    return places


def _records(base: str, begins: set[str]) -> Iterator[str]:
    try:
        with os.scandir(base) as entries:
            yield from (entry.path for entry in entries if entry.name[:8] in begins)
    except OSError:
        return


def _changed(path: str) -> float:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _read(path: str) -> Iterable[Run]:
    """The runs of one file that is our own and a plain one; a line that cannot be read is left out."""
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
        run = _run(line)
        if run is not None:
            yield run


def _run(line: bytes) -> Run | None:
    try:
        facts = json.loads(line)
        at = float(facts["at"])
        if not 0 < at < _LATEST:
            return None
        status, ok = facts.get("exit"), facts.get("ok")
        return Run(
            at,
            str(facts.get("tool") or ""),
            str(facts.get("subject") or ""),
            status if type(status) is int else None,
            ok if isinstance(ok, bool) else None,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
