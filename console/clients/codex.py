"""Codex: its events, its replies, its transcript. Facts are those of 0.169, seen with the program."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from team_console.console.clients.client import Client, yes
from team_console.console.clients.event import Event, EventName, Reply, Wish, specific_reply
from team_console.console.clients.quick import ASKS_BY_TOOL
from team_console.console.clients.session_files import EXIT
from team_console.console.clients.transcript import (
    MOST_READ,
    NOT_TYPED,
    Row,
    Said,
    end_words,
    say,
    take_call,
    texts,
    typed,
)
from team_console.store.protocol.parsing import mapping, text_in
from team_console.store.protocol.sent_back import SentBack

NAME = "codex"
_QUEUED_WITHIN = 60.0
"""Seconds within which it takes a prompt: 6 where it has to start its server."""
_EXIT_FIELD = re.compile(r'"exit_code":\s*(-?\d{1,3})')


class Codex(Client):
    """Codex, which shows its own dialog only when its hook has ended."""

    name = NAME
    question_tools = (ASKS_BY_TOOL,)
    needs_waker = True

    def has_sent(self, data: Mapping[str, Any]) -> bool:
        """Return whether an event looks like one of Codex, which names turns and has a folder for transcripts."""
        return "turn_id" in data or "/.codex/" in text_in(data, "transcript_path")

    def teammate_of(self, data: Mapping[str, Any]) -> str | None:
        """Return None: it has no teammates."""
        return None

    def is_headless(self, event: Event) -> bool:
        """Return whether the session is a run without a terminal, as the first row of its transcript says."""
        try:
            with open(event.transcript, "rb") as file:
                about = json.loads(file.readline(MOST_READ))["payload"]
            return "exec" in (about.get("source"), str(about.get("originator")).rpartition("_")[2])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False

    def take_row(self, said: Said, row: Row) -> None:
        """Take an item of the conversation; what the model calls, and what came out, share a `call_id`."""
        item = row.payload
        if row.type != "response_item" or not isinstance(item, Mapping):
            return
        kind, call = text_in(item, "type"), text_in(item, "call_id")
        if kind.endswith("call_output"):
            said.results.setdefault(call, _output(item.get("output")))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            # It names its shell in other ways than its hook does, and runs one call at a time: the newest is the one.
            take_call(said, text_in(item, "name") or "shell", _arguments(item), call, is_asked=True)
        elif kind == "message" and item.get("role") == "assistant":
            say(said, texts(item.get("content"), "output_text"), None)
            end_words(said)
        elif kind == "message" and item.get("role") == "user":
            end_words(said)
            kinds = mapping(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
            is_typed = isinstance(kinds, list) and set(map(str, kinds)) == {"user.text"}
            words = texts(item.get("content"), "input_text")
            words = words if is_typed else [text for text in words if not NOT_TYPED.match(text)]
            said.user = said.user or typed("\n".join(words), is_typed)

    def approval(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the yes to what is asked for; None for one that it has no words for."""
        if event.wish is Wish.QUESTION:
            # The words of a refusal are all that reaches the model, as the result of its question.
            return self.refusal(event, f"The human answered in the console: {decided.answers_in_words}")
        changed = decided.input
        if event.name == EventName.BEFORE_TOOL:  # a bare yes is not understood there, and its rules go on
            return yes(event, changed) if changed else None
        return yes(event) if changed in (None, event.input) else self.ask_instead(event, changed or {})

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


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
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


def _output(value: object) -> str:
    if not isinstance(value, str):
        return "failed" if isinstance(value, Mapping) and value.get("success") is False else "ok"
    match = EXIT.search(value[:400].partition("Output:")[0]) or _EXIT_FIELD.search(value[-400:])
    return f"exit {match[1]}" if match is not None else "ok"
