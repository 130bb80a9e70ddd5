"""Given paths: places that a user names, made absolute and looked at; what the system refuses has its reason.

`pathlib` raises for a closed folder, a name that is too long, a current folder that is gone and a `~name` nobody has.
"""

from __future__ import annotations

import os
from pathlib import Path

from team_console.store.model.errors import Code, TeamError


def absolute(given: str) -> Path:
    """The place as an absolute path; `~name` stays as it is where no user has this name.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for an empty text, as from a script whose variable is not set, which would mean the
            current folder; also when the place counts from a current folder that is gone.
    """
    if not given:
        raise TeamError(Code.TEAM_NOT_FOUND, "the location is empty", "Name a place; a dot is the current folder.")
    try:
        return Path(os.path.expanduser(given)).absolute()
    except OSError as error:
        text = f"the current folder cannot be told: {error.strerror}"
        raise TeamError(
            Code.TEAM_NOT_FOUND, text, "Change to a folder that is there, or give absolute paths."
        ) from error


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
