"""Names of sessions that joined by `join --all`: one file for each, so that every event knows whose it is at no cost.

Only what `session_files` imports is imported, for every event of such a session passes through here.
"""

from __future__ import annotations

import os

from team_console.console.agents.session_files import SessionFiles, is_session_id, own_folder

EACH = "*"
"""Stands for the name in the command of a hook that is every session's: each acts under a name of its own."""
RUNNING = "running-"
"""Begins the marks of sessions that ran when they joined: they read the user's settings anew, and no plugin."""


def names() -> SessionFiles:
    """Where the files are: beside those of sessions."""
    return SessionFiles(own_folder("named"))


def name_of(session: str) -> str | None:
    """The name of a session, empty for one that was left out; None for one that has none yet."""
    is_in_plugin = "CLAUDE_PLUGIN_ROOT" in os.environ
    if not is_session_id(session) or (is_in_plugin and names().names(RUNNING + session)):
        return ""  # where it is marked, its hook in the user's settings answers
    known = names().read(session)
    return None if known is None else str(known.get("name", ""))


def forget_name(session: str) -> None:
    """The session is over: another may have its name."""
    names().remove(session)
    names().remove(RUNNING + session)
