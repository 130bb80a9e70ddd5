"""Hooks that are put into a client's settings: for which events, and how long the client waits for each."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from team_console.console.clients import claude_code, codex
from team_console.console.clients.commands import PROGRAM

A_DAY = 86_400
_USUAL = 60
_EVENTS: Mapping[str, Sequence[str]] = {
    claude_code.CLIENT: (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse"),
        *("PostToolUseFailure", "Stop", "SubagentStart", "SubagentStop", "TeammateIdle", "SessionEnd"),
    ),
    codex.CLIENT: ("SessionStart", "UserPromptSubmit", "PermissionRequest", "PostToolUse", "Stop"),
}
"""Events of each client from which something follows."""
_SECONDS = {"PermissionRequest": A_DAY, "SessionEnd": 5}
"""Seconds for events that take another time than usual: a human may take a day."""
_WAKING = frozenset({claude_code.CLIENT})
"""Clients whose idle session a hook can wake."""


def hook_entries(client: str, command: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Event -> entries for the client's settings.

    Args:
        command: The words that call the hook, environment assignments before it included.
    """
    entries = {event: [_entry(event, client, command)] for event in _EVENTS[client]}
    if client in _WAKING:
        wake = {"type": "command", "command": _line([*command, "--wake"]), "asyncRewake": True, "timeout": 7 * A_DAY}
        entries["Stop"].append({"hooks": [wake]})
    return entries


def hook_command(program: Sequence[str], *, name: str = "", location: str = "") -> list[str]:
    """The words that call the hook for a member of a team; without a name the client's environment says who it is."""
    identity = [f"TEAM_CONSOLE_AS={name}", f"TEAM_CONSOLE_TEAM={location}"] if name else []
    return [*identity, *program, "hook"]


def member_of(command: object) -> str | None:
    """The member for whom a command calls our hook; None for a command of anybody else."""
    if not isinstance(command, str) or "TEAM_CONSOLE_AS=" not in command or "hook" not in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    names = [word.partition("=")[2] for word in words if word.startswith("TEAM_CONSOLE_AS=")]
    is_ours = "hook" in words and any(word.endswith((PROGRAM, "team_console.console")) for word in words)
    return names[0] if names and is_ours else None


def _entry(event: str, client: str, command: Sequence[str]) -> dict[str, Any]:
    seconds = _SECONDS.get(event, _USUAL)
    words = [*command, "--timeout", str(seconds)] if event == "PermissionRequest" else list(command)
    named = [*words, "--client", client] if client == codex.CLIENT else words
    return {"hooks": [{"type": "command", "command": _line(named), "timeout": seconds}]}


def _line(words: Sequence[str]) -> str:
    """A line for a shell; assignments before the command keep their equals sign outside of quotes."""
    parts = []
    for word in words:
        name, equals, value = word.partition("=")
        is_assignment = bool(equals) and name.startswith("TEAM_CONSOLE_")
        parts.append(f"{name}={shlex.quote(value)}" if is_assignment else shlex.quote(word))
    return " ".join(parts)
