"""Obstacles: what stands in the place of a file or folder of the team and cannot be it is moved aside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from team_console.store.backends.yaml.disk import LARGEST_FILE, Disk, Stat
from team_console.store.model.problem import Problem

if TYPE_CHECKING:
    from team_console.store.backends.yaml.writing.locked_team import LockedTeam

ASIDE = ".aside-"
"""Between a file's name and the moment, in the name of what was moved aside."""


def clear_file(team: LockedTeam, path: Path) -> None:
    """Move aside what is at `path` and is no plain file. Raises `OSError` when it cannot be."""
    found = team.disk.stat(path)
    if found is not None and found.kind != "file":
        move_aside(team, path, _named(found))


def clear_hollow(team: LockedTeam, path: Path) -> None:
    """Move aside a file that claims to be longer than is ever read, and is not.

    Raises:
        OSError: It cannot be moved.
    """
    found = team.disk.stat(path)
    if found is not None and found.size > LARGEST_FILE and team.disk.data_end(path) <= LARGEST_FILE:
        move_aside(team, path, f"a file of {found.size:,} bytes that nobody wrote")


def clear_folder(team: LockedTeam, path: Path) -> None:
    """Move aside what is at `path` and leads to no folder. Raises `OSError` when it cannot be."""
    found = team.disk.stat(path)
    if found is not None and is_no_folder(team.disk, path):
        move_aside(team, path, _named(found))


def is_no_folder(disk: Disk, path: Path) -> bool:
    """Whether there is something at `path` that leads to no folder."""
    found = disk.stat(path)
    return found is not None and found.kind != "folder" and not (found.kind == "link" and os.path.isdir(path))


def move_aside(team: LockedTeam, path: Path, what: str) -> None:
    """Give what is at `path` another name, for a human to look at; it is not opened and no link is followed.

    Raises:
        OSError: It cannot be moved.
    """
    stamp = team.stamp()
    aside, number = path.with_name(f"{path.name}{ASIDE}{stamp}"), 1
    while team.disk.stat(aside) is not None:
        number += 1
        aside = path.with_name(f"{path.name}{ASIDE}{stamp}-{number}")
    team.disk.rename_durably(path, aside)
    text = f"{path.name} was {what} and was moved to {aside.name}"
    team.notices.append(Problem("SET_ASIDE", "warning", path.name, text, "Find out who put it there, and delete it."))


def _named(found: Stat) -> str:
    if found.kind == "file":
        return "a file"
    return "a pipe, socket or device" if found.kind == "other" else f"a {found.kind}"
