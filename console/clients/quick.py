"""The quick look at an event: most need nothing, which is found out before anything heavy is imported."""

from __future__ import annotations

import os
import time
from collections.abc import Collection

from team_console.console.clients.session_files import (
    ALLOWED,
    ASKED,
    HANDED,
    LOOK,
    TEAMMATE,
    Data,
    SessionFiles,
)
from team_console.store.backends.locked_files import is_locked, open_folder

ASKS_BY_TOOL = "request_user_input"
"""A tool by whose use the user is asked, for which no request comes."""
_SERVER_PATIENCE = 5.0
"""Seconds for which a team on a server is not asked again: asking costs a connection."""
Look = dict[str, object]


def marks_of(places: dict[str, str]) -> dict[str, object]:
    """Return the present state of a store's files, to compare for equality only.

    An empty log of a database is none: it comes and goes with whoever looks.
    """
    marks: dict[str, object] = {}
    for name in {"queue", "settings", "database", "log"} & places.keys():
        try:
            found = os.stat(places[name])
        except OSError:
            continue
        if name != "log" or found.st_size:
            marks[name] = [found.st_ino, found.st_size, found.st_mtime_ns]
    return marks


def has_changed(look: Look, now: float) -> bool:
    """Return whether something may wait for the clients of the look that did not when it was made."""
    places, at = look.get("places"), look.get("at")
    if places == {}:
        return not isinstance(at, float) or not 0 <= now - at < _SERVER_PATIENCE
    return not isinstance(places, dict) or _has_files(places.get("drop")) or look.get("marks") != marks_of(places)


def _has_files(folder: object) -> bool:
    """Return whether messages lie there that somebody who cannot lock handed in."""
    try:
        return isinstance(folder, str) and any(name != "rejected" for name in os.listdir(folder))
    except OSError:
        return False


def _anybody(look: Look, prefix: str, *, locked: bool) -> bool | None:
    """Return whether somebody is present, or was and has ended; None when that cannot be told from files."""
    places = look.get("places")
    try:
        folder = open_folder(str(places["presence"])) if isinstance(places, dict) else -1
    except FileNotFoundError:
        return False
    except (OSError, KeyError):
        return None
    try:
        return any(is_locked(folder, name) is locked for name in os.listdir(folder) if name.startswith(prefix))
    finally:
        os.close(folder)


# Quick look at an event: most of them need nothing, and are known as such before anything heavy is imported.

_ALWAYS = frozenset({"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PermissionDenied", "ConfigChange"})
"""Events that always have something to do."""
_AFTER = frozenset({"PostToolUse", "PostToolUseFailure"})
_TEAMMATES = {"SubagentStart": "working", "SubagentStop": "", "TeammateIdle": "idle"}
"""Events of teammates, and what a teammate is known to be doing when they say nothing new."""


def needs_nothing(call: Invocation, files: SessionFiles) -> bool:
    """Return whether nothing follows from this event."""
    data, name = call.data, call.data.get("hook_event_name")
    if not isinstance(name, str) or name in _ALWAYS:
        return not isinstance(name, str)
    if name == "PreToolUse":
        return not files.names(ALLOWED) and not _is_asked_for(call, files)
    if name in _TEAMMATES:
        return not _concerns_teammate(name, data, files) and not files.names(ASKED)
    if name not in _AFTER and name != "PermissionRequest":
        return True
    look = files.read(LOOK)
    if look is None or _anybody(look, "asker-", locked=False):  # one that is gone and took nothing back
        return False
    if name == "PermissionRequest":
        return _asks_nobody(look)
    return not (look.get("urgent") or files.names(HANDED) or files.names(ASKED) or has_changed(look, time.time()))


def teammate_of(data: Data) -> str | None:
    """Return the teammate whose event this is: its name stands in `agent_type`, and in its id with a letter before
    it.

    A subagent has the name of its kind there instead, and an id that does not say it.
    """
    named, kind, thread = data.get("teammate_name"), data.get("agent_type"), data.get("agent_id")
    if isinstance(named, str) and named:
        return named
    if isinstance(kind, str) and isinstance(thread, str) and kind and thread.startswith(f"a{kind}-"):
        return kind
    return None


def _is_asked_for(call: Invocation, files: SessionFiles) -> bool:
    """Return whether a call is one of those that the team wants to be asked for, or a question, while somebody is
    there.
    """
    look = files.read(LOOK)
    if look is not None and _asks_nobody(look):
        return False
    rules = look.get("ask_for") if look is not None else None
    words = list(map(str, rules)) if isinstance(rules, list) else None
    return call.data.get("tool_name") == ASKS_BY_TOOL or call.rule_for(words) != ""


def _asks_nobody(look: Look) -> bool:
    """Return whether a request would wait for nobody."""
    places, before = look.get("places"), look.get("marks")
    if not isinstance(places, dict) or not places or not isinstance(before, dict) or look.get("granted"):
        return False
    current = marks_of(places)
    if (before.get("settings") != current.get("settings")) if "queue" in places else before != current:
        return False
    is_away = look.get("wait") == "present" and _anybody(look, "console-", locked=True) is False
    return is_away or look.get("wait") == "never"


def _concerns_teammate(name: str, data: Data, files: SessionFiles) -> bool:
    teammate = teammate_of(data)
    known = files.read(TEAMMATE + teammate) if teammate is not None else None
    return teammate is not None and (known is None or known.get("doing") != _TEAMMATES[name])


# Invocation of the hook: how it was called, and with which event.

WAKE = 2
"""Exit status by which a waiting hook wakes its session; only `--wake` gives it."""


class Invocation:
    """How the hook was called, and with which event.

    Attributes:
        actor: Whose session it is, empty when nobody said.
        location: The team as it was given, empty for the one of the current folder.
        timeout: Seconds after which the client waits no longer, as text.
        wake: Whether to wait for mail and wake the session.
        held: Rules of calls for which another hook of this session waits for a human in any case.
        holds: Whether the call waits for a human even where none is there, and is refused where none decides.
        waker: Holds the lock of the one process that waits beside the session; None where this is another.
        has_own_name: Whether the session joined with all others, under a name made for it.
        data: The event.
    """

    def __init__(self, options: dict[str, str], data: dict[str, object]) -> None:
        self.actor = options.get("actor") or os.environ.get("TEAM_CONSOLE_AS", "")
        self.location = options.get("team") or os.environ.get("TEAM_CONSOLE_TEAM", "")
        self.client = options.get("client", "")
        self.timeout = options.get("timeout", "")
        self.wake = "wake" in options
        self.waker: int | None = None
        self.has_own_name = False
        self.holds = "hold" in options
        self.held = options.get("held", "").split(",")
        self.data = data

    @property
    def session(self) -> str:
        """The client's own id of its session."""
        session = self.data.get("session_id")
        return session if isinstance(session, str) else ""

    @property
    def attended(self) -> str:
        """Whether somebody is at the client's terminal: `1`; `0` for a run without one, which ends only when its hooks
        have; empty where it does not say."""
        return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED", "")

    def rule_for(self, rules: Collection[str] | None) -> str:
        """Return the rule by which this use of a tool is to be asked for; empty for none.

        Without `rules` all that have a word count.
        """
        # Imported only while somebody is at a console: reading a command costs 10 ms.
        from team_console.console.clients.rules import EVERY_WORD, rule_for

        project = os.environ.get("CLAUDE_PROJECT_DIR") or str(self.data.get("cwd") or os.curdir)
        return rule_for(self.data, EVERY_WORD if rules is None else rules, project=project)
