"""Settings files of Claude Code. Facts are those of 2.1, seen with the program."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from team_console import __version__
from team_console.console.clients.client_files import ClientFiles, Running
from team_console.console.clients.client_process import is_alive
from team_console.console.clients.event import EventName
from team_console.console.clients.place import Joining, Place, json_place, own_file
from team_console.console.clients.rules import native_rules
from team_console.console.clients.running import claude_home, claude_sessions
from team_console.console.clients.session_files import EACH, RUNNING, names
from team_console.console.clients.settings_part import A_DAY, HOLD, SERVER, HookLines, shell_line
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home, state_folder

_HOOKS = {"project": ".claude/settings.json", "local": ".claude/settings.local.json", "user": "settings.json"}
_LINES = HookLines(
    tuple(event for event in EventName if event != EventName.INTERRUPT),  # its own record tells of that
    wakers=(EventName.SESSION_START, EventName.PROMPT),
    waker_condition='[ "$CLAUDE_CODE_SESSION_ATTENDED" = 0 ] || ',
    says_asking=True,
)
_ALLOW_RULE = f"mcp__{SERVER}__*"
"""The rule that spares the user a question for each of our tools."""
_PATHS = {
    "project": "These files name this machine's paths: keep them out of a shared repository (--local: the hooks).",
    "local": ".mcp.json names this machine's paths and is the project's: keep it out of a shared repository.",
}
_SIGN = "permissions, plans and questions are answered in one console."
"""Stands in the plugin of every version."""
_ABOUT = {
    "name": SERVER,
    "version": __version__,
    "description": f"The human's seat in a team of AI agents: {_SIGN}",
    "license": "MIT",
}
"""The plugin by which sessions join that start later."""
_PLUGIN = f"skills/{SERVER}"


class ClaudeFiles(ClientFiles):
    """The files of Claude Code."""

    name = "claude"
    scopes = ("project", "local", "user")
    asks = True

    def places(self, scope: str, joining: Joining) -> list[Place]:
        """Return its settings, the file of its servers, and the script of what is held."""
        folder = claude_home() if scope == "user" else joining.project
        # The other file of the user stands beside the folder, unless that is configured.
        is_beside = scope == "user" and not os.environ.get("CLAUDE_CONFIG_DIR")
        base, servers = home() if is_beside else folder, ".claude.json" if scope == "user" else ".mcp.json"
        held = _held(joining)
        ours: dict[str, Any] = {"hooks": _LINES.entries(joining.command, held=joining.hold, quiet=joining.quiet)}
        ours["hooks"]["PreToolUse"] += _LINES.holding(held.path, native_rules(joining.hold))
        if joining.has_server:
            ours |= {"permissions": {"allow": [_ALLOW_RULE]}, "enabledMcpjsonServers": [SERVER]}
        return [
            json_place(folder / _HOOKS[scope], folder, joining.name, ours),
            json_place(base / servers, base, joining.name, joining.servers(), is_optional=True),
            *([held] if joining.hold or joining.leaves else []),
        ]

    def every_session(self, joining: Joining) -> list[Place]:
        """Return the plugin for sessions that start later, and hooks in the user's settings for those that run.

        It reads a plugin when a session starts, and the settings while it runs, too; the hooks there start no process
        for a session that is not marked.

        Raises:
            TeamError: `NOT_PERMITTED` where the user has a skill of that name.
        """
        folder = claude_home()
        others = {entry.name for entry in _entries(folder / _PLUGIN)} - {".claude-plugin", "hooks"}
        if others and not joining.leaves:
            text = f"{folder / _PLUGIN}: a skill of your own has this name"
            raise TeamError(Code.NOT_PERMITTED, text, "Rename its folder, then join again; nothing was written.")
        marks = f'{shlex.quote(names().folder)}/{RUNNING}"$CLAUDE_CODE_SESSION_ID"'
        running = {"hooks": _LINES.entries(joining.command, condition=f"[ ! -e {marks} ] || ")}
        hooks = {"hooks": _LINES.entries(joining.command)}
        return [
            _plugin_file(folder, ".claude-plugin/plugin.json", _ABOUT, _SIGN),
            _plugin_file(folder, "hooks/hooks.json", hooks, f"TEAM_CONSOLE_AS={shlex.quote(EACH)}"),
            json_place(folder / _HOOKS["user"], folder, EACH, running),
        ]

    def can_hold(self, rules: Sequence[str]) -> bool:
        """Return whether rules of its own say what is to be held."""
        return bool(native_rules(rules))

    def words(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        where = "on this machine" if scope == "user" else "in this folder"
        more = "; the MCP tools need a new session" if joining.has_server else ""
        return [
            f"Sessions of Claude Code {where} are {joining.name} from now on, those that run within 3 seconds{more}.",
            "While a console is open you get its permissions, plans and questions, beside its own dialog, and what you",
            "ask for (below) also in auto mode. You do not get what its rules and its check let pass.",
            "With no console open a session does what it would do without us, headless runs included.",
            *([_PATHS[scope]] if scope in _PATHS else []),
        ]

    def running(self) -> Iterator[Running]:
        """Yield the sessions of which it keeps a record, and whose process is there."""
        for facts in claude_sessions():
            pid, session = facts.get("pid"), facts.get("sessionId")
            if isinstance(session, str) and pid and is_alive(pid):
                folder, name, doing = (str(facts.get(key) or "") for key in ("cwd", "name", "status"))
                yield Running(session, "claude-code", folder, name, doing, joins_at_once=True)


def _held(joining: Joining) -> Place:
    """Return the script by which calls are held."""
    path = state_folder() / "joined" / f"{HOLD}{joining.name}"
    line = f"exec env {shell_line([*joining.command, '--hold', '--timeout', str(A_DAY)])}\n"
    return own_file(path, state_folder(), line, "TEAM_CONSOLE_AS=")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


def _plugin_file(folder: Path, name: str, content: dict[str, Any], sign: str) -> Place:
    return own_file(folder / _PLUGIN / name, folder, f"{json.dumps(content, indent=2)}\n", json.dumps(sign)[1:-1])
