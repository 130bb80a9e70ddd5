"""Qwen Code: its files, its events, its replies, its transcript. Facts are those of 0.15, seen with the program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from team_console.console.clients.client import Client, yes_reply
from team_console.console.clients.client_file import ClientFile, Joining, settings_file
from team_console.console.clients.event import Event, EventName, Reply, Wish
from team_console.console.clients.hook_lines import HookLines
from team_console.console.clients.run_record import EXIT
from team_console.console.clients.transcript import TranscriptExtract, TranscriptRow, clean_text, typed_text
from team_console.store.model.home import home
from team_console.store.protocol.client_answer import SentBack
from team_console.store.protocol.foreign_fields import mapping_in, mappings_in, text_in

NAME = "qwen-code"
_TOOLS = {"run_shell_command": "Bash", "write_file": "Write", "edit": "Edit", "read_file": "Read"}
"""Tools that take what those of Claude Code take, which is how the console knows them."""


_PATIENCE = 58
"""Seconds: after 60 it goes on without its hook, and what that says later counts for nothing."""
_LINES = HookLines(
    (
        EventName.SESSION_START,
        EventName.SESSION_END,
        EventName.PROMPT,
        EventName.AFTER_TOOL,
        EventName.AFTER_FAILED_TOOL,
        EventName.PERMISSION,
        EventName.STOP,
    ),
    client=NAME,
    per_second=1_000,
    patience=_PATIENCE,
    says_asking=True,
)
"""Without that before a tool: what a hook asks for there it refuses without a dialog."""


class Qwen(Client):
    """Qwen Code, which shows its own dialog only when its hook has ended."""

    name = NAME
    word = "qwen"
    scopes = ("project", "user")
    plan_tool = "exit_plan_mode"
    question_tools = ("ask_user_question",)

    def files(self, scope: str, joining: Joining) -> list[ClientFile]:
        """Return its settings, which hold hooks and servers."""
        folder, inner = (_home(), "") if scope == "user" else (joining.project, ".qwen/")
        ours = [*_LINES.entries(joining.command), *joining.servers(trust=True)]
        return [settings_file(folder / f"{inner}settings.json", folder, joining.name, ours)]

    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        where = "on this machine" if scope == "user" else "in this folder"
        return [
            f"Sessions of Qwen Code that start {where} from now on are {joining.name}.",
            "While a console is open you get its permissions, plans and questions, for some 40 seconds each; then",
            "its own dialog comes. You do not get what its rules and its mode let pass. Runs without a terminal (-p)",
            "ask nobody. Mail reaches it while it works and at the end of a turn; nothing wakes it then.",
        ]

    def has_sent(self, data: Mapping[str, Any]) -> bool:
        """Return whether an event looks like one of Qwen Code, which has a folder for transcripts."""
        return "/.qwen/" in text_in(data, "transcript_path")

    def event_of(self, data: Mapping[str, Any]) -> Event:
        """Read one event; a tool gets the name by which the console knows it."""
        event = super().event_of(data)
        return replace(event, tool=_TOOLS.get(event.tool, event.tool))

    def take_row(self, extract: TranscriptExtract, row: TranscriptRow) -> None:
        """Take a row, which is a whole message, or what came out of a tool."""
        parts = mappings_in(row.message, "parts") if isinstance(row.message, Mapping) else ()
        words = [text_in(part, "text") for part in parts if not part.get("thought")]
        if row.type == "tool_result":
            for part in parts:
                answer = mapping_in(part, "functionResponse")
                extract.results.setdefault(text_in(answer, "id"), _result(mapping_in(answer, "response")))
        elif row.type == "assistant":
            for part in reversed(parts):
                if call := mapping_in(part, "functionCall"):
                    tool = text_in(call, "name")
                    extract.add_call(_TOOLS.get(tool, tool), mapping_in(call, "args"), text_in(call, "id"))
            extract.add_words(words, None)
            extract.end_words()
        elif row.type == "user":
            extract.end_words()
            extract.user = extract.user or typed_text(clean_text("\n".join(filter(None, words))), is_typed=True)

    def approval(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the yes to what is asked for; None for one that it has no words for."""
        if event.wish is Wish.QUESTION:
            return self.answer_by_refusal(event, decided)
        return yes_reply(event, None if decided.input == event.input else decided.input)


def _home() -> Path:
    """Return the folder of its own files."""
    return Path(os.environ.get("QWEN_HOME") or home() / ".qwen")


def _result(response: Mapping[str, Any]) -> str:
    """Return what came of a call: `ok`, `failed`, or `exit` with a status."""
    text = text_in(response, "output") or text_in(response, "error")
    match = EXIT.search(text[:4_000])
    if match is not None:
        return "ok" if match[1] == "0" else f"exit {match[1]}"
    return "failed" if "error" in response else "ok"
