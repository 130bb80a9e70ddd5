"""Names of sessions that joined by `join --all`: one file for each, so that every event knows whose it is at no cost.

Only what `session_files` imports is imported, for every event of such a session passes through here.
"""

from __future__ import annotations

import json
import os
import re
from itertools import count

from team_console.console.agents.session_files import MOST_DAYS, is_session_id, sessions_folder, sweep_files, whose

EACH = "*"
"""Stands for the name in the command of a hook that is every session's: each acts under a name of its own."""
RUNNING = "running-"
"""Begins the marks of sessions that ran when they joined: they read the user's settings anew, and no plugin."""
_CLAIM = "name-"
_LONGEST = 40


def names_folder() -> str | None:
    """Where the files are: beside those of sessions."""
    base = sessions_folder()
    return os.path.join(os.path.dirname(base), "named") if base is not None else None


def name_of(session: str) -> str | None:
    """The name of a session, empty for one that was left out; None for one that has none yet."""
    folder = names_folder()
    if folder is None or not is_session_id(session):
        return ""
    is_running = os.path.exists(os.path.join(folder, RUNNING + session))
    if "CLAUDE_PLUGIN_ROOT" in os.environ and is_running:  # its hook in the user's settings answers
        return ""
    try:
        with open(os.path.join(folder, session), encoding="utf-8") as file:
            return str(json.load(file)["name"])
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        return ""


def mark_running(session: str) -> None:
    """Let the hooks in the user's settings answer for this session."""
    _write(RUNNING + session, "")


def keep_name(session: str, name: str) -> None:
    """Remember the name of a session; an empty one leaves it out.

    Raises:
        OSError: The files cannot be written.
    """
    _write(session, json.dumps({"name": name}))


def _write(file: str, text: str) -> None:
    folder = names_folder()
    if folder is not None and is_session_id(file):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, file)
        with open(f"{path}.{os.getpid()}.tmp", "w", encoding="utf-8") as opened:
            opened.write(text)
        os.replace(f"{path}.{os.getpid()}.tmp", path)


def claim_name(session: str, location: str, wanted: str, taken: set[str], *, numbered: bool) -> str:
    """A name like the wanted one that neither a member nor another session of the team has.

    Raises:
        OSError: The files cannot be written.
    """
    folder = names_folder() or os.devnull
    sweep_files(folder, MOST_DAYS)
    base = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:_LONGEST] or "session"
    for number in count(1):
        name = base if number == 1 and not numbered else f"{base}-{number}"
        path = os.path.join(folder, f"{_CLAIM}{whose(name, location)}")
        try:
            if name not in taken:
                with open(path, "x", encoding="utf-8") as file:
                    file.write(session)
                return name
        except FileExistsError:
            continue
    return ""


def forget_name(session: str, name: str, location: str) -> None:
    """The session is over: another may have the name."""
    folder = names_folder()
    for file in (session, RUNNING + session, f"{_CLAIM}{whose(name, location)}"):
        try:
            os.unlink(os.path.join(folder or os.devnull, file))
        except OSError:
            continue
