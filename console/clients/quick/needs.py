"""Quick look at an event: most of them need nothing, and are known as such before anything heavy is imported.

Whatever is not certain is left to `hook`, which looks at the store itself.
"""

from __future__ import annotations

import time

from team_console.console.clients.quick.changes import (
    Look,
    are_settings_same,
    has_changed,
    is_asker_gone,
    is_console_open,
)
from team_console.console.clients.quick.proof import Data, shows_decided
from team_console.console.clients.quick.session_files import ALLOWED, ASKED, HANDED, LOOK, TEAMMATE, SessionFiles

_ALWAYS = frozenset({"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PermissionDenied"})
"""Events that always have something to do."""
_AFTER = frozenset({"PostToolUse", "PostToolUseFailure"})
_TEAMMATES = {"SubagentStart": "working", "SubagentStop": "", "TeammateIdle": "idle"}
"""Events of teammates, and what a teammate is known to be doing when they say nothing new."""


def needs_nothing(data: Data, files: SessionFiles | None) -> bool:
    """Whether nothing follows from this event."""
    name = data.get("hook_event_name")
    if not isinstance(name, str) or name in _ALWAYS:
        return not isinstance(name, str)
    if name == "PreToolUse":
        return files is None or not files.names(ALLOWED)
    if name in _TEAMMATES:
        return not _concerns_teammate(name, data, files) and not _ends_request(data, files)
    if name not in _AFTER and name != "PermissionRequest":
        return True
    look = files.read(LOOK) if files is not None else None
    if files is None or look is None or is_asker_gone(look):
        return False
    return _asks_nobody(look) if name == "PermissionRequest" else _brings_nothing(data, files, look)


def teammate_of(data: Data) -> str | None:
    """The teammate whose event this is: its name stands in `agent_type`, and in its id with a letter before it.

    A subagent has the name of its kind there instead, and an id that does not say it.
    """
    named, kind, thread = data.get("teammate_name"), data.get("agent_type"), data.get("agent_id")
    if isinstance(named, str) and named:
        return named
    if isinstance(kind, str) and isinstance(thread, str) and kind and thread.startswith(f"a{kind}-"):
        return kind
    return None


def _asks_nobody(look: Look) -> bool:
    """Whether a request would wait for nobody."""
    if not are_settings_same(look):
        return False
    return look.get("wait") == "never" or (look.get("wait") == "present" and is_console_open(look) is False)


def _brings_nothing(data: Data, files: SessionFiles, look: Look) -> bool:
    if look.get("urgent") or _shows_reading(data, files) or _ends_request(data, files):
        return False
    return not has_changed(look, time.time())


def _shows_reading(data: Data, files: SessionFiles) -> bool:
    """Whether mail was handed to the thread that now goes on."""
    known = [files.read(name) or {} for name in files.names(HANDED)]
    return any(facts.get("thread", "") == data.get("agent_id", "") for facts in known)


def _concerns_teammate(name: str, data: Data, files: SessionFiles | None) -> bool:
    teammate = teammate_of(data)
    if teammate is None:
        return False
    known = files.read(TEAMMATE + teammate) if files is not None else None
    return known is None or known.get("doing") != _TEAMMATES[name]


def _ends_request(data: Data, files: SessionFiles | None) -> bool:
    """Whether a request waits that this event shows to be decided."""
    names = files.names(ASKED) if files is not None else []
    return any(shows_decided(data, files.read(name) or {}) for name in names) if files is not None else False
