"""Obstacles: what stands in the place of a file or folder of the team and cannot be it is moved aside."""

from __future__ import annotations

import os
from pathlib import Path

from team_console.store.backends.yaml.disk import LARGEST_FILE, Disk, Stat
from team_console.store.model.problem import Problem

ASIDE = ".aside-"
"""Between a file's name and the moment, in the name of what was moved aside."""


def clear_file(disk: Disk, path: Path, *, stamp: str) -> list[Problem]:
    """Move aside what is at `path` and is no plain file; what was moved. Raises `OSError` when it cannot be."""
    found = disk.stat(path)
    if found is None or found.kind == "file":
        return []
    return [move_aside(disk, path, _named(found), stamp=stamp)]


def clear_hollow(disk: Disk, path: Path, *, stamp: str) -> list[Problem]:
    """Move aside a file that claims to be longer than is ever read, and is not; what was moved.

    Raises:
        OSError: It cannot be moved.
    """
    found = disk.stat(path)
    if found is None or found.size <= LARGEST_FILE or disk.data_end(path) > LARGEST_FILE:
        return []
    return [move_aside(disk, path, f"a file of {found.size:,} bytes that nobody wrote", stamp=stamp)]


def clear_folder(disk: Disk, path: Path, *, stamp: str) -> list[Problem]:
    """Move aside what is at `path` and leads to no folder; what was moved. Raises `OSError` when it cannot be."""
    found = disk.stat(path)
    return (
        [move_aside(disk, path, _named(found), stamp=stamp)] if found is not None and is_no_folder(disk, path) else []
    )


def is_no_folder(disk: Disk, path: Path) -> bool:
    """Whether there is something at `path` that leads to no folder."""
    found = disk.stat(path)
    return found is not None and found.kind != "folder" and not (found.kind == "link" and os.path.isdir(path))


def move_aside(disk: Disk, path: Path, what: str, *, stamp: str) -> Problem:
    """Give what is at `path` another name, for a human to look at; it is not opened and no link is followed.

    Raises:
        OSError: It cannot be moved.
    """
    aside, number = path.with_name(f"{path.name}{ASIDE}{stamp}"), 1
    while disk.stat(aside) is not None:
        number += 1
        aside = path.with_name(f"{path.name}{ASIDE}{stamp}-{number}")
    disk.rename(path, aside)
    disk.sync_folder(path.parent)
    text = f"{path.name} was {what} and was moved to {aside.name}"
    return Problem("SET_ASIDE", "warning", path.name, text, "Find out who put it there, and delete it.")


def _named(found: Stat) -> str:
    if found.kind == "file":
        return "a file"
    return "a pipe, socket or device" if found.kind == "other" else f"a {found.kind}"
