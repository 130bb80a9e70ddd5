"""Claude Code: its events, its replies, its transcript. Facts are those of 2.1, seen with the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.console.clients.client import Client, yes
from team_console.console.clients.event import Event, EventName, Reply, Wish, specific_reply
from team_console.console.clients.running import facts_of_session
from team_console.console.clients.session_files import EXIT
from team_console.console.clients.transcript import Row, Said, blocks, clean, end_words, say, take_call, texts, typed
from team_console.store.protocol.parsing import mapping, text_in
from team_console.store.protocol.sent_back import SentBack

NAME = "claude-code"
_CRITICAL = 120.0
"""Seconds after which it refuses by itself to delete what is critical: home, root, the project."""


class Claude(Client):
    """Claude Code."""

    name = NAME
    plan_tool = "ExitPlanMode"
    question_tools = ("AskUserQuestion",)
    plan_modes = ("auto", "acceptEdits", "default")
    can_raise_dialog = True
    shows_dialog_beside = True
    shows_title = True
    is_woken_by_hook = True

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

    def status_of(self, session: str) -> str:
        """Return what its record says of a session that runs."""
        return str(facts_of_session(session).get("status") or "")

    def take_row(self, said: Said, row: Row) -> None:
        """Take a row, of which there is one for each block of a message, all with the id of the message."""
        if row.type == "last-prompt" and isinstance(row.lastPrompt, str):
            said.prompt = said.prompt or clean(row.lastPrompt)
        message = row.message
        if not isinstance(message, Mapping) or row.isMeta or row.isCompactSummary:
            return
        if row.isSidechain and not said.asked.thread:  # a subagent's work in the file of the session itself
            return
        content = message.get("content")
        words = [content] if isinstance(content, str) else texts(content, "text")
        if row.type == "user":
            end_words(said)
            for item in blocks(content, "tool_result"):
                said.results.setdefault(text_in(item, "tool_use_id"), _result(item))
            is_typed = isinstance(row.origin, Mapping) and row.origin.get("kind") == "human"
            is_handed_in = row.promptSource in ("typed", "sdk")  # by the keyboard, or by a program
            said.user = said.user or typed("\n".join(filter(None, words)), is_typed, is_handed_in)
        elif row.type == "assistant":
            if said.agent and message.get("id") != said.agent_id:
                said.is_agent_whole = True
            for item in reversed(blocks(content, "tool_use")):
                tool, given = text_in(item, "name"), mapping(item, "input")
                is_asked = tool == said.asked.tool and dict(given) == dict(said.asked.input)
                take_call(said, tool, given, text_in(item, "id"), is_asked=is_asked)
            say(said, words, message.get("id"))

    def approval(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the yes to what is asked for; a plan or question comes back with its input, a bare yes is ignored."""
        if event.wish is Wish.QUESTION and not decided.answers:
            return None
        mode = {"type": "setMode", "mode": decided.mode, "destination": "session"}
        return yes(event, decided.input, [mode] if decided.mode else decided.rules)

    def allow_reply(self, event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
        """Let a tool be used without asking; with another input, where the human changed it before the yes."""
        changed: Reply = {} if instead is None else {"updatedInput": dict(instead)}
        why = "allowed once by the human"
        return specific_reply(event, permissionDecision="allow", permissionDecisionReason=why, **changed)

    def refusal(self, event: Event, words: str) -> Reply:
        """Return a no with words for the model, whose turn goes on."""
        reply = super().refusal(event, words)
        if event.name == EventName.PERMISSION:
            reply["hookSpecificOutput"]["decision"]["interrupt"] = False
        return reply


def _result(item: Mapping[str, Any]) -> str:
    content = item.get("content")
    text = content if isinstance(content, str) else "".join(texts(content, "text"))
    if item.get("is_error") is not True:
        return "ok"
    match = EXIT.search(text[:40])
    return f"exit {match[1]}" if match is not None else "failed"
