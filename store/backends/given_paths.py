"""Given paths: places that a user names, made absolute and looked at; what the system refuses has its reason.

`pathlib` raises for a closed folder, a name that is too long, a current folder that is gone and a `~name` nobody has.
"""

from __future__ import annotations

import os
from pathlib import Path

from team_console.store.model.errors import Code, TeamError


def absolute(given: str) -> Path:
    """The place as an absolute path without `..`; `~name` stays as it is where no user has this name.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for an empty text, as from a script whose variable is not set, which would mean the
            current folder; also when the place counts from a current folder that is gone.
    """
    if not given:
        raise TeamError(Code.TEAM_NOT_FOUND, "the location is empty", "Name a place; a dot is the current folder.")
    try:
        return _without_ways_up(Path(os.path.expanduser(given)).absolute())
    except OSError as error:
        text = f"the current folder cannot be told: {error.strerror}"
        raise TeamError(
            Code.TEAM_NOT_FOUND, text, "Change to a folder that is there, or give absolute paths."
        ) from error


def _without_ways_up(path: Path) -> Path:
    """The same place: one that is kept must not lead through a folder that has nothing to do with it and goes away.

    A link is left as it is, but for `link/..`, which is not the folder that the link is in.
    """
    place = Path(path.anchor)
    for part in path.parts[1:]:
        if part != "..":
            place /= part
        elif os.path.islink(place):
            place = Path(os.path.realpath(place)).parent
        else:
            place = place.parent
    return place


def unseen(*paths: Path) -> str | None:
    """Why the system does not say whether something is at one of these paths, as without rights; None when it does."""
    for path in paths:
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return error.strerror
    return None
