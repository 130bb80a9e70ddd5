"""Claude Code: its files, its events, its replies, its transcript. Facts are those of 2.1, seen with the program."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from team_console.console.clients.client import Client, Running, yes_reply
from team_console.console.clients.client_file import ClientFile, Joining, own_file, read_client_settings, settings_file
from team_console.console.clients.event import Event, EventName, Reply, Wish
from team_console.console.clients.hook_lines import A_DAY, HOLD, HookLines, shell_line
from team_console.console.clients.json_editing import (
    MadePaths,
    NotEditable,
    Settings,
    SettingsPart,
    value_at,
)
from team_console.console.clients.quick_answer import teammate_of
from team_console.console.clients.rules import native_rules
from team_console.console.clients.run_record import EXIT
from team_console.console.clients.session_files import EVERY_SESSION, LEFT_OUT, agent_prefix, checksum_of, name_files
from team_console.console.clients.settings_part import SERVER
from team_console.console.clients.transcript import (
    TranscriptExtract,
    TranscriptRow,
    clean_text,
    items_of,
    texts_of_kind,
    typed_text,
)
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.home import home, state_folder
from team_console.store.protocol.client_answer import SentBack
from team_console.store.protocol.foreign_fields import mapping_in, text_in

NAME = "claude-code"
_LARGEST_RECORD = 1 << 16
"""Bytes that are read of its record of a session."""
_ATTENDED = "CLAUDE_CODE_SESSION_ATTENDED"
_PLUGINS = "CLAUDE_CODE_PLUGIN_DIRS"
_CRITICAL = 120.0
"""Seconds after which it refuses by itself to delete what is critical: home, root, the project."""


_HOOKS = {"project": ".claude/settings.json", "local": ".claude/settings.local.json", "user": "settings.json"}
_LINES = HookLines(
    tuple(event for event in EventName if event != EventName.INTERRUPT),  # its own record tells of that
    wakers=(EventName.SESSION_START, EventName.PROMPT),
    waker_condition=f'[ "${_ATTENDED}" = 0 ] || ',
    says_asking=True,
)
_ALLOW_RULE = f"mcp__{SERVER}__*"
"""The rule that spares the user a question for each of our tools."""
_ASKED = ["permissions", "ask"]
_OLD_LISTS = {3: 4242619935, 8: 1179716963, 11: 701548500, 15: 1724843085, 20: 3786165437}
"""Lists of rules that version 0.5 wrote there, one for each word of `ask_for`: how many rules, and their digest."""
_PATHS = {
    "project": "These files name this machine's paths: keep them out of a shared repository (--local: the hooks).",
    "local": ".mcp.json names this machine's paths and is the project's: keep it out of a shared repository.",
}


class Claude(Client):
    """Claude Code."""

    name = NAME
    word = "claude"
    scopes = ("project", "local", "user")
    asks = True
    note_for_all = "Claude Code has joined in about 3 seconds, each session by a name of its own that its title shows."
    plan_tool = "ExitPlanMode"
    question_tools = ("AskUserQuestion",)
    plan_modes = ("auto", "acceptEdits", "default")
    can_raise_dialog = True
    shows_dialog_beside = True
    shows_title = True
    attended_variable = _ATTENDED
    project_variable = "CLAUDE_PROJECT_DIR"

    def files(self, scope: str, joining: Joining) -> list[ClientFile]:
        """Return its settings, the file of its servers, and the script of what is held."""
        folder = claude_home() if scope == "user" else joining.project
        # The other file of the user stands beside the folder, unless that is configured.
        is_beside = scope == "user" and not os.environ.get("CLAUDE_CONFIG_DIR")
        base, servers = home() if is_beside else folder, ".claude.json" if scope == "user" else ".mcp.json"
        held = _held(joining)
        # What is held waits for a human who is not there yet, however it is written.
        quiet = "" if joining.hold else joining.quiet
        ours = [*_LINES.entries(joining.command, held=joining.hold, quiet=quiet)]
        ours += _LINES.held_entries(held.path, native_rules(joining.hold))
        if joining.has_server:
            ours += [
                SettingsPart(["permissions", "allow"], _ALLOW_RULE),
                SettingsPart(["enabledMcpjsonServers"], SERVER),
            ]
        return [
            settings_file(folder / _HOOKS[scope], folder, joining.name, ours, find_earlier=_old_rules),
            settings_file(base / servers, base, joining.name, joining.servers(), is_optional=True),
            *([held] if joining.hold or joining.leaves else []),
        ]

    def files_for_all(self, joining: Joining) -> list[ClientFile]:
        """Return the user's settings, which it reads while it runs, too; the hooks there start no process for a session
        that was left out.
        """
        mark = f"{shlex.quote(name_files().folder)}/{LEFT_OUT}"
        ours = [*_LINES.entries(joining.command, condition=f'[ -e {mark}"$CLAUDE_CODE_SESSION_ID" ] || ')]
        return [settings_file(claude_home() / _HOOKS["user"], claude_home(), EVERY_SESSION, ours)]

    def can_hold(self, rules: Sequence[str]) -> bool:
        """Return whether rules of its own say what is to be held."""
        return bool(native_rules(rules))

    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
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

    def sessions(self) -> Iterator[Running]:
        """Yield the sessions of which it keeps a record, a small file each."""
        for path in sorted(claude_home().glob("sessions/*.json")):
            with suppress(OSError, ValueError, RecursionError, AttributeError):
                with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                    facts = json.loads(file.read(_LARGEST_RECORD))
                session, pid = facts.get("sessionId"), facts.get("pid")
                folder, name, doing = (str(facts.get(key) or "") for key in ("cwd", "name", "status"))
                if session and isinstance(session, str) and type(pid) is int:
                    yield Running(session, NAME, folder, name, doing, pid)

    def problems(self) -> list[Problem]:
        """Return the plugins that have modules: such a one can let pass what hooks, rules and the human refused."""
        folder = claude_home()
        environment: Settings = {}
        with suppress(TeamError, NotEditable):
            environment = read_client_settings(folder / "settings.json", folder).get("env", {})
        more = f"{environment.get(_PLUGINS, '')}{os.pathsep}{os.environ.get(_PLUGINS, '')}".split(os.pathsep)
        paths: list[Path] = []
        for root in (folder / "plugins", folder / "skills", *map(Path, filter(None, more))):
            with suppress(OSError):
                paths += sorted(root.glob("**/hooks/hooks.json"))
        text = "this plugin has modules, which can let every call pass, whatever hooks, rules and you decide"
        hint = "Remove it, or trust it: no console can hold what it lets through."
        found = []
        for path in paths:
            with suppress(OSError, ValueError, AttributeError):
                if json.loads(path.read_bytes()).get("modules"):
                    found.append(Problem("PLUGIN_MODULES", "warning", str(path.parent.parent), text, hint))
        return found

    def teammate_of(self, data: Mapping[str, Any]) -> str | None:
        """Return the teammate whose event it is; None for the session itself."""
        return teammate_of(dict(data))

    def patience_of(self, data: Mapping[str, Any]) -> float | None:
        """Return how long it waits before it refuses what is critical.

        Such a request has this empty list, and no other of a shell has (seen with 2.1.331).
        """
        is_critical = data.get("tool_name") == "Bash" and data.get("permission_suggestions") == []
        return _CRITICAL if is_critical else None

    def transcript_of(self, data: Mapping[str, Any]) -> str:
        """Return the transcript of who acts: a teammate has a file of its own, and events name the session's."""
        path, thread = text_in(data, "transcript_path"), text_in(data, "agent_id")
        if not thread:
            return path
        is_name = path.endswith(".jsonl") and "/" not in thread and "\0" not in thread
        return f"{path.removesuffix('.jsonl')}/subagents/agent-{thread}.jsonl" if is_name else ""

    def record_of(self, session: str) -> Running | None:
        """Return its record of a session, whose name was given by the user or made up."""
        return next((one for one in self.sessions() if one.session == session), None)

    def take_row(self, extract: TranscriptExtract, row: TranscriptRow) -> None:
        """Take a row, of which there is one for each block of a message, all with the id of the message."""
        if row.type == "last-prompt" and isinstance(row.lastPrompt, str):
            extract.prompt = extract.prompt or clean_text(row.lastPrompt)
        message = row.message
        if not isinstance(message, Mapping) or row.isMeta or row.isCompactSummary:
            return
        if row.isSidechain and not extract.asked.thread:  # a subagent's work in the file of the session itself
            return
        content = message.get("content")
        words = [content] if isinstance(content, str) else texts_of_kind(content, "text")
        if row.type == "user":
            extract.end_words()
            for item in items_of(content, "tool_result"):
                extract.results.setdefault(text_in(item, "tool_use_id"), _result(item))
            is_typed = isinstance(row.origin, Mapping) and row.origin.get("kind") == "human"
            is_handed_in = row.promptSource in ("typed", "sdk")  # by the keyboard, or by a program
            extract.user = extract.user or typed_text("\n".join(filter(None, words)), is_typed, is_handed_in)
        elif row.type == "assistant":
            if extract.agent and message.get("id") != extract.agent_id:
                extract.is_agent_whole = True
            for item in reversed(items_of(content, "tool_use")):
                extract.add_call(text_in(item, "name"), mapping_in(item, "input"), text_in(item, "id"))
            extract.add_words(words, message.get("id"))

    def approval(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the yes to what is asked for; a plan or question comes back with its input, a bare yes is ignored."""
        if event.wish is Wish.QUESTION and not decided.answers:
            return None
        mode = {"type": "setMode", "mode": decided.mode, "destination": "session"}
        return yes_reply(event, decided.input, [mode] if decided.mode else decided.rules)

    def refusal(self, event: Event, words: str) -> Reply:
        """Return a no with words for the model, whose turn goes on."""
        reply = super().refusal(event, words)
        if event.name == EventName.PERMISSION:
            reply["hookSpecificOutput"]["decision"]["interrupt"] = False
        return reply


def _old_rules(settings: Settings) -> MadePaths:
    """Find the rules that a join of version 0.5 wrote, of each list only where all of it stands as it was written."""
    there = value_at(settings, _ASKED)
    rules = there if isinstance(there, list) else []
    spans = ((rules[at : at + size], number) for at in range(len(rules)) for size, number in _OLD_LISTS.items())
    # guard: rules-of-the-user-stay
    found = [[*_ASKED, rule] for span, number in spans if checksum_of(span) == number for rule in span]
    return [_ASKED, *found] if found else []


def _result(item: Mapping[str, Any]) -> str:
    """Return what came of a call: `ok`, `failed`, or `exit` with a status."""
    content = item.get("content")
    text = content if isinstance(content, str) else "".join(texts_of_kind(content, "text"))
    if item.get("is_error") is not True:
        return "ok"
    match = EXIT.search(text[:40])
    return f"exit {match[1]}" if match is not None else "failed"


def _held(joining: Joining) -> ClientFile:
    """Return the script by which calls are held; members of one name in several teams have one each."""
    path = state_folder() / "joined" / agent_prefix(joining.name, joining.location) / f"{HOLD}{joining.name}"
    line = f"exec env {shell_line([*joining.command, '--hold', '--timeout', str(A_DAY)])}\n"
    return own_file(path, state_folder(), line, "TEAM_CONSOLE_AS=")


def claude_home() -> Path:
    """Return the folder of its own files."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or home() / ".claude")
