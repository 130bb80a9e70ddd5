"""The quick look at an event: most need nothing, which is found out before anything heavy is imported."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping

from team_console.console.agents.ask_rules import CODEX_QUESTION, EVERY_WORD, rule_for
from team_console.console.agents.session_files import (
    ALLOWED,
    ASKED,
    HANDED,
    LOOK,
    TEAMMATE,
    Data,
    SessionFiles,
    shows_decided,
)
from team_console.store.backends.locked_files import is_locked, open_folder

_MOST_LEDGER = 1 << 20
"""Bytes of new ledger lines that are worth being searched."""
_SERVER_PATIENCE = 5.0
"""Seconds for which a team on a server is not asked again: asking costs a connection."""
Look = dict[str, object]


def marks_of(places: dict[str, str]) -> dict[str, object]:
    """What the files of a store are at the moment; compare for equality only.

    An empty log of a database is none: it comes and goes with whoever looks.
    """
    marks = {name: mark(places[name]) for name in ("queue", "settings", "database", "log") if name in places}
    return {
        name: None if name == "log" and found is not None and not found[1] else found for name, found in marks.items()
    }


def mark(path: str) -> list[int] | None:
    """Which generation of a file is there; None for none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def has_changed(look: Look, now: float) -> bool:
    """Whether something may wait for the agents of the look that did not when it was made."""
    places = look.get("places")
    if not isinstance(places, dict):
        return True
    if not places:
        at = look.get("at")
        return not isinstance(at, float) or not 0 <= now - at < _SERVER_PATIENCE
    if _has_files(places.get("drop")):
        return True
    before, current = look.get("marks"), marks_of(places)
    if before == current:
        return False
    if not isinstance(before, dict) or "queue" not in places or before.get("settings") != current.get("settings"):
        return True
    return not _is_explained(look, places, current["queue"])


def are_settings_same(look: Look) -> bool:
    """Whether the team's settings are those of the look."""
    places, before = look.get("places"), look.get("marks")
    if not isinstance(places, dict) or not places or not isinstance(before, dict):
        return False
    current = marks_of(places)
    return before.get("settings") == current.get("settings") if "queue" in places else before == current


def _is_explained(look: Look, places: dict[str, str], queue: object) -> bool:
    """Whether the ledger tells everything that was written since, and nothing of it concerns the agents."""
    start, names = look.get("ledger"), look.get("names")
    if not isinstance(start, int) or not isinstance(names, list) or not _is_settled(places.get("lock", ""), queue):
        return False
    lines = _new_lines(places.get("ledger", ""), start)
    return lines is not None and not any(_concerns(line, names) for line in lines)


def _is_settled(lock: str, queue: object) -> bool:
    """Whether the last holder of the lock left the queue as it is now."""
    try:
        with open(lock, "rb") as file:
            facts = json.loads(file.read(1024))
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and queue is not None and facts.get("queue") == queue and not facts.get("damaged")


def _new_lines(ledger: str, start: int) -> list[bytes] | None:
    """The lines that were appended since; None when that cannot be told."""
    try:
        with open(ledger, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            if not 0 <= end - start <= _MOST_LEDGER:
                return None
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return None
    return data.split(b"\n")[:-1] if data.endswith(b"\n") or not data else None


def _concerns(line: bytes, names: list[object]) -> bool:
    """Whether a line may give one of these agents something to read, or who is there may be another.

    A name that is not ASCII may be spelt in several ways.
    """
    if any(not name.isascii() or f'"{name}"'.encode() in line for name in (*map(str, names), "all")):
        return True
    try:
        facts = json.loads(line)
    except ValueError:
        return True
    changes = facts.get("changes", []) if isinstance(facts, dict) else None
    return not isinstance(changes, list) or any(_may_wake(change) for change in changes)


def _may_wake(change: object) -> bool:
    """Whether a change of a record may let it wait again, or for somebody else; a record is named by its id alone."""
    keys = change[1] if isinstance(change, list) and len(change) > 1 else None
    return not isinstance(keys, dict) or keys.get("status") == "pending" or any(key in keys for key in _ADDRESSES)


_ADDRESSES = ("to", "to_agents", "recipient", "to_agent", "lease_until")


def _has_files(folder: object) -> bool:
    """Whether messages lie there that somebody who cannot lock handed in."""
    try:
        return isinstance(folder, str) and any(name != "rejected" for name in os.listdir(folder))
    except OSError:
        return False


def is_console_open(look: Look) -> bool | None:
    """Whether a human is there; None when that cannot be told from files."""
    return _anybody(look, "console-", locked=True)


def is_asker_gone(look: Look) -> bool:
    """Whether somebody who asked has ended without taking back what was asked."""
    return bool(_anybody(look, "asker-", locked=False))


def _anybody(look: Look, prefix: str, *, locked: bool) -> bool | None:
    places = look.get("places")
    path = places.get("presence") if isinstance(places, dict) else None
    if not isinstance(path, str):
        return None
    try:
        folder = open_folder(path)
    except FileNotFoundError:
        return False
    except OSError:
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


def needs_nothing(call: Invocation, files: SessionFiles | None) -> bool:
    """Whether nothing follows from this event."""
    data = call.data
    name = data.get("hook_event_name")
    if not isinstance(name, str) or name in _ALWAYS:
        return not isinstance(name, str)
    if name == "PreToolUse" and files is not None:
        return not files.names(ALLOWED) and not _is_asked_for(call, files)
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


def _is_asked_for(call: Invocation, files: SessionFiles) -> bool:
    """Whether a call is one of those that the team wants to be asked for, or a question, while somebody is there."""
    look = files.read(LOOK)
    if look is not None and _asks_nobody(look):
        return False
    rules = look.get("ask_for") if look is not None else None
    words = list(map(str, rules)) if isinstance(rules, list) else EVERY_WORD
    return call.data.get("tool_name") == CODEX_QUESTION or call.rule_for(words) != ""


def _asks_nobody(look: Look) -> bool:
    """Whether a request would wait for nobody."""
    if not are_settings_same(look) or look.get("granted"):
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
        has_rules: Whether the client's settings hold what a rule of its own can say.
        holds: Whether the call waits for a human even where none is there, and is refused where none decides.
        has_own_name: Whether the session joined with all others, under a name made for it.
        data: The event.
    """

    def __init__(self, options: dict[str, str], data: dict[str, object]) -> None:
        self.actor = options.get("actor") or os.environ.get("TEAM_CONSOLE_AS", "")
        self.location = options.get("team") or os.environ.get("TEAM_CONSOLE_TEAM", "")
        self.client = options.get("client", "")
        self.timeout = options.get("timeout", "")
        self.wake = "wake" in options
        self.has_rules = "has_rules" in options
        self.has_own_name = False
        self.holds = "hold" in options
        self.data = data

    @property
    def session(self) -> str:
        """The client's own id of its session."""
        session = self.data.get("session_id")
        return session if isinstance(session, str) else ""

    @property
    def is_unattended(self) -> bool:
        """Whether the session is a run without a terminal (`claude -p`): it ends only when its hooks have."""
        return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0"

    @property
    def is_attended(self) -> bool:
        """Whether the client says that somebody is at its terminal; where it says nothing, nobody may be."""
        return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "1"

    def rule_for(
        self, rules: Collection[str], given: Mapping[str, object] | None = None, *, is_native: bool | None = None
    ) -> str:
        """The rule by which this use of a tool, or one with another input, is to be asked for; empty for none."""
        project = os.environ.get("CLAUDE_PROJECT_DIR") or str(self.data.get("cwd") or os.curdir)
        data = self.data if given is None else {**self.data, "tool_input": dict(given)}
        return rule_for(data, rules, project=project, is_native=self.has_rules if is_native is None else is_native)
