"""Look at the team, left by an event for the next ones: the marks of its files, and what followed from them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from team_console.console.clients.session_files import (
    LOOK,
    SessionFiles,
    checksum_of,
    member_folder,
)

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from typing import Any, NotRequired, TypedDict

    from team_console.console.clients.invocation import Invocation

    Marks = dict[str, list[int]]
    """Kind of a team's file (`Team.places`) -> its inode, size and time of change in nanoseconds."""

    class Look(TypedDict):
        """What the last event that opened the team left: the marks of its files, and what followed from them."""

        version: int
        """`LOOK_VERSION` of the program that wrote it"""
        places: dict[str, str]
        """kind of file -> its path, as `Team.places`; empty for a team on a server"""
        marks: Marks
        at: float
        """when the marks were taken, in seconds of the system's clock"""
        urgent: bool
        """whether urgent mail waits for the session"""
        mail: bool
        """whether any mail waits for it"""
        handed: bool
        """whether an earlier session was handed mail and did not show that it had read it"""
        granted: bool
        """whether a grant may answer what the session asks"""
        wait: str
        """setting `wait_for_human` of the team: `always`, `present` or `never`"""
        ask_for: list[str]
        """rules of calls that the team wants to be asked for"""
        client: str
        """the name of the client; what follows are facts of its class"""
        shows_title: bool
        needs_waker: bool
        """whether only a process of ours can wake its sessions"""
        asks_by_tool: str
        attended_variable: str
        project_variable: str
        words: NotRequired[str]
        """what the model is told when a session starts; only in the look that a member's sessions share"""
        by: NotRequired[list[str]]
        """`caller_facts` of who made these words"""


_SERVER_PATIENCE = 5.0
"""Seconds for which a team on a server is not asked again: asking costs a connection."""
_TICK_OF_FILES = 0.01
"""Seconds within which two changes of a file may bear the same time."""
LOOK_VERSION = 2
"""Version of the keys that a look has; a look of another version counts as none."""


def marks_of(places: Mapping[str, str]) -> Marks:
    """Return the present state of a store's files, to compare for equality only.

    An empty log of a database is none: it comes and goes with whoever looks.
    """
    marks: Marks = {}
    for name in {"queue", "settings", "database", "log"} & places.keys():
        try:
            found = os.stat(places[name])
        except OSError:
            continue
        if name != "log" or found.st_size:
            marks[name] = [found.st_ino, found.st_size, found.st_mtime_ns]
    return marks


def settled_marks(places: Mapping[str, str]) -> Marks:
    """Return the marks once no change can come that would bear the time of the last one."""
    for _ in range(3):
        marks = marks_of(places)
        if _are_settled(marks, time.time()):
            break
        time.sleep(_TICK_OF_FILES)
    return marks


def _are_settled(marks: Marks, at: float) -> bool:
    """Return whether a change that comes after `at` shows in the marks: it bears another time than these do.

    A time without a fraction may be of a file system that counts whole seconds, or two of them.
    """
    for _, _, time_ns in marks.values():
        tick = _TICK_OF_FILES if time_ns % 10**9 else 2.0
        if time_ns / 1e9 > at - tick:
            return False
    return True


def has_changed(look: Look) -> bool:
    """Return whether something may wait for the clients of the look that did not when it was made."""
    places, at = look["places"], look["at"]
    if not places:
        return not 0 <= time.time() - at < _SERVER_PATIENCE
    if _has_files(places.get("drop", "")):
        return True
    # guard: unsettled-marks-not-trusted
    return not _are_settled(look["marks"], at) or look["marks"] != marks_of(places)


def _has_files(folder: str) -> bool:
    """Return whether messages lie there that somebody who cannot lock handed in."""
    try:
        return any(name != "rejected" for name in os.listdir(folder))
    except OSError:
        return False


def look_of(call: Invocation, files: SessionFiles) -> Look | None:
    """Return the look at the team that an event before left: of this session, else of any of its member."""
    look: Any = files.read(LOOK) or member_files(call).read(look_name(call))
    return look if look is not None and look.get("version") == LOOK_VERSION else None


def member_files(call: Invocation) -> SessionFiles:
    """Return the files that all sessions of a member share."""
    return SessionFiles(member_folder(call.actor, call.location))


def look_name(call: Invocation) -> str:
    """Return the name of the look of one kind of client."""
    return f"{LOOK}-{checksum_of(call.client):08x}"


def caller_facts() -> list[str]:
    """Return by which program this is called, and where a shell finds one: commands in instructions rest on it."""
    return [sys.argv[0], os.environ.get("PATH", "")]
