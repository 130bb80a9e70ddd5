"""Folders of the user: home, also where the system knows none, as for a user id without an account."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """Return the user's folder; `/`, as in most containers, where neither `HOME` nor an account names an absolute
    one.

    `Path.home` raises there, and what is kept at home is nothing that anybody should fail without.
    """
    found = os.path.expanduser("~")
    return Path(found if os.path.isabs(found) else "/")


def state_folder() -> Path:
    """Return `XDG_STATE_HOME/team-console`, by default below `~/.local/state`."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base and os.path.isabs(base) else home() / ".local" / "state") / "team-console"
