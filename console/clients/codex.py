"""Codex: its files, its events, its replies, its transcript. Facts are those of 0.169, seen with the program."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from team_console.console.clients.client import Client, Running, TakesPrompts, yes_reply
from team_console.console.clients.client_file import ClientFile, Joining, put_together, settings_file, with_block
from team_console.console.clients.event import Event, EventName, Reply, Wish, specific_reply
from team_console.console.clients.hook_lines import HookLines
from team_console.console.clients.json_editing import EditedText, MadePaths, NotEditable
from team_console.console.clients.run_record import EXIT
from team_console.console.clients.settings_part import SERVER, refuse_others, server_member
from team_console.console.clients.transcript import (
    MOST_READ,
    NOT_TYPED,
    TranscriptExtract,
    TranscriptRow,
    texts_of_kind,
    typed_text,
)
from team_console.store.model.home import home
from team_console.store.protocol.client_answer import SentBack
from team_console.store.protocol.foreign_fields import mapping_in, text_in

NAME = "codex"
_QUEUED_WITHIN = 60.0
"""Seconds within which it takes a prompt: 6 where it has to start its server."""
_EXIT_FIELD = re.compile(r'"exit_code":\s*(-?\d{1,3})')
"""The exit status at the end of what a call gave back, where no line at its beginning has it."""


_LINES = HookLines(
    (
        EventName.SESSION_START,
        EventName.SESSION_END,
        EventName.PROMPT,
        EventName.BEFORE_TOOL,
        EventName.AFTER_TOOL,
        EventName.PERMISSION,
        EventName.STOP,
        EventName.INTERRUPT,
    ),
    client=NAME,
)
_RECENT = 3_600.0
"""Seconds after its last row from which on a session does not count as one that runs."""


class Codex(Client, TakesPrompts):
    """Codex, which shows its own dialog only when its hook has ended."""

    name = NAME
    word = "codex"
    scopes = ("project", "user")
    asks = True
    note_for_all = "Codex joins when a session starts or is resumed, and asks first whether it may run these hooks."
    question_tools = ("request_user_input",)
    asks_by_tool = "request_user_input"

    def files(self, scope: str, joining: Joining) -> list[ClientFile]:
        """Return the file of its hooks, and that of its servers."""
        folder, inner = (codex_home(), "") if scope == "user" else (joining.project, ".codex/")
        return [
            _hooks_file(folder, f"{inner}hooks.json", joining),
            _servers_file(folder, f"{inner}config.toml", joining),
        ]

    def files_for_all(self, joining: Joining) -> list[ClientFile]:
        """Return the user's hooks."""
        return [_hooks_file(codex_home(), "hooks.json", joining)]

    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        return [
            "A session of Codex reads its hooks when it starts: one that runs joins by 'codex resume'.",
            "Codex asks at the first prompt whether it may run these hooks: 'Trust all and continue'.",
            "While a console is open you get its permissions and questions, and what you ask for (below). You do not",
            "get what its sandbox and its rules let pass. With no console open it does what it would do without us.",
        ]

    def sessions(self) -> Iterator[Running]:
        """Yield the sessions that wrote something lately."""
        for path in codex_home().glob("sessions/*/*/*/rollout-*.jsonl"):
            with suppress(OSError, ValueError, KeyError, TypeError):
                age = time.time() - path.stat().st_mtime
                if age < _RECENT:
                    about = _first_row(path)
                    yield Running(about["id"], NAME, about["cwd"], doing=f"wrote {int(age)} s ago")

    def has_sent(self, data: Mapping[str, Any]) -> bool:
        """Return whether an event looks like one of Codex, which names turns and has a folder for transcripts."""
        return "turn_id" in data or "/.codex/" in text_in(data, "transcript_path")

    def is_headless(self, event: Event) -> bool:
        """Return whether the session is a run without a terminal, as the first row of its transcript says."""
        try:
            about = _first_row(event.transcript)
            return "exec" in (about.get("source"), str(about.get("originator")).rpartition("_")[2])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False

    def take_row(self, extract: TranscriptExtract, row: TranscriptRow) -> None:
        """Take an item of the conversation; what the model calls, and what came out, share a `call_id`."""
        item = row.payload
        if row.type != "response_item" or not isinstance(item, Mapping):
            return
        kind, call = text_in(item, "type"), text_in(item, "call_id")
        if kind.endswith("call_output"):
            extract.results.setdefault(call, _outcome_of_call(item.get("output")))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            # It names its shell in other ways than its hook does, and runs one call at a time: the newest is the one.
            extract.add_call(text_in(item, "name") or "shell", _arguments(item), call, is_newest=True)
        elif kind == "message" and item.get("role") == "assistant":
            extract.add_words(texts_of_kind(item.get("content"), "output_text"), None)
            extract.end_words()
        elif kind == "message" and item.get("role") == "user":
            extract.end_words()
            kinds = mapping_in(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
            is_typed = isinstance(kinds, list) and set(map(str, kinds)) == {"user.text"}
            words = texts_of_kind(item.get("content"), "input_text")
            words = words if is_typed else [text for text in words if not NOT_TYPED.match(text)]
            extract.user = extract.user or typed_text("\n".join(words), is_typed)

    def approval(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the yes to what is asked for; None for one that it has no words for."""
        if event.wish is Wish.QUESTION:
            return self.answer_by_refusal(event, decided)
        changed = decided.input
        if event.name == EventName.BEFORE_TOOL:  # a bare yes is not understood there, and its rules go on
            return yes_reply(event, changed) if changed else None
        if changed is None or changed == event.input:
            return yes_reply(event)
        # What was asked for must not run in place of what was approved.
        form = json.dumps(changed, ensure_ascii=False)
        return self.refusal(event, f"Approved in another form; ask for this instead: {form}")

    def allow_reply(self, event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
        """Let a tool be used without asking; None with another input, which it does not take."""
        return specific_reply(event, permissionDecision="allow") if instead is None else None

    def wake(self, session: str, words: str) -> None:
        """Queue a prompt for its session, which it keeps when that has ended; the mail comes with it, by its hook."""
        whole = shutil.which(NAME)
        if whole is not None:
            command = [whole, "queue", "--thread", session, "--message", words]
            null = subprocess.DEVNULL
            subprocess.run(command, stdin=null, stdout=null, stderr=null, timeout=_QUEUED_WITHIN, check=False)


def _first_row(transcript: Path | str) -> Any:
    """Return what a transcript says of its session as a whole."""
    with open(transcript, "rb") as file:
        return json.loads(file.readline(MOST_READ))["payload"]


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a call of the model is made with, under the keys of a hook; `description` for what is no JSON."""
    given = item.get("arguments", item.get("input", item.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {"description": given}
    if not isinstance(given, Mapping):
        return {}
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = command[2] if len(command) == 3 and command[1] in ("-c", "-lc") else shlex.join(command)
    return {**given, "command": command} if isinstance(command, str) else given


def _outcome_of_call(value: object) -> str:
    """Return what came of a call: `ok`, `failed`, or `exit` with a status."""
    if not isinstance(value, str):
        return "failed" if isinstance(value, Mapping) and value.get("success") is False else "ok"
    match = EXIT.search(value[:400].partition("Output:")[0]) or _EXIT_FIELD.search(value[-400:])
    return f"exit {match[1]}" if match is not None else "ok"


def codex_home() -> Path:
    """Return the folder of its own files."""
    return Path(os.environ.get("CODEX_HOME") or home() / ".codex")


def _hooks_file(folder: Path, name: str, joining: Joining) -> ClientFile:
    return settings_file(folder / name, folder, joining.name, [*_LINES.entries(joining.command)])


# Our server in a file of TOML, of which every other line stays as it is.

_HEADER = f"[mcp_servers.{SERVER}]"
_OURS = re.compile(
    rf"\n?(?:# team-console: [^\n]*\n)?{re.escape(_HEADER)}\n"
    r"(?:(?:command|args|env|default_tools_approval_mode) = [^\n]*(?:\n|\Z))+"
)
"""Our server, with the comment that earlier versions put before it; what others wrote behind it is theirs."""


def _servers_file(folder: Path, name: str, joining: Joining) -> ClientFile:
    def edit(text: str, made: MadePaths | None, joins: bool) -> EditedText:
        known = _servers(text).get(SERVER)
        acts_as = server_member(known)
        if joins:
            refuse_others({acts_as or joining.name} - {joining.name})
        others = _without_server(text) if acts_as == joining.name else text
        if not joins or not joining.has_server:
            return EditedText(others, [])
        if SERVER in _servers(others):
            raise NotEditable(f"it has a server {SERVER} already, which a hand put there")
        after = with_block(others, _server_lines(joining))
        # A table of servers within braces takes none at the end.
        _parse_toml(after, "it has its servers in a form to which none can be added at the end")
        is_changed = _parse_toml(text, "it is not TOML") != _parse_toml(after, "")
        return EditedText(after if is_changed else text, [])

    return ClientFile(folder / name, folder, edit, is_optional=True)


def _without_server(text: str) -> str:
    """Return the text without our server; what it says else stays the same, and where it is.

    Raises:
        NotEditable: Somebody changed the server.
    """
    name = server_member(_servers(text).get(SERVER))
    for found in _OURS.finditer(text):  # a text of somebody else may quote one
        behind = text[found.end() :].replace(f"# /team-console: {name}\n", "", 1)
        after = put_together(text[: found.start()], behind)
        if SERVER not in _servers(after):
            return after
    raise NotEditable("what a join wrote was changed there; take it out by hand")


def _servers(text: str) -> dict[str, Any]:
    """Return the servers in a text, by their names.

    Raises:
        NotEditable: The text is no TOML.
    """
    servers = _parse_toml(text, "it is not TOML").get("mcp_servers")
    return servers if isinstance(servers, dict) else {}


def _server_lines(joining: Joining) -> str:
    """Return the lines of our server; strings of JSON are strings of TOML."""
    server = joining.server
    environment = ", ".join(f"{key} = {json.dumps(value)}" for key, value in server["env"].items())
    lines = [
        _HEADER,
        f"command = {json.dumps(server['command'])}",
        f"args = {json.dumps(server['args'])}",
        f"env = {{ {environment} }}",
        'default_tools_approval_mode = "approve"',
    ]
    return "\n".join(lines)


def _parse_toml(text: str, trouble: str) -> dict[str, Any]:
    """Return the values of a TOML text.

    Raises:
        NotEditable: It is none; with `trouble` and what the parser says.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"{trouble}: {error}") from error
