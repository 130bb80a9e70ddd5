"""Codex: its hook events read, and its answers written. Facts are those of version 0.169, seen with the program.

Of a decision only the behaviour and a message may be said: anything else makes the client refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.console.agents.ask_rules import CODEX_QUESTION
from team_console.console.agents.events import (
    Event,
    EventName,
    Reply,
    Wish,
    ask_instead,
    decision_reply,
    specific_reply,
)
from team_console.store.protocol.client_requests import answers_text
from team_console.store.protocol.parsing import flag, mapping, mappings, text_in

CLIENT = "codex"
LONGEST_CONTEXT = 9_500
"""Characters of text that a hook may add."""
MOST_BLOCKS = 8
"""How often in a row a hook may keep a turn from ending; the client has no limit of its own, a model's patience has."""


def event_of(data: Mapping[str, Any]) -> Event:
    """Read one event."""
    name, tool = text_in(data, "hook_event_name"), text_in(data, "tool_name")
    given = mapping(data, "tool_input")
    questions = mappings(given, "questions") if tool == CODEX_QUESTION else ()
    asks = name in (EventName.PERMISSION, EventName.BEFORE_TOOL) and bool(tool)
    return Event(
        CLIENT,
        name,
        text_in(data, "session_id"),
        text_in(data, "cwd"),
        tool,
        given,
        thread=text_in(data, "agent_id"),
        wish=(Wish.QUESTION if questions else Wish.PERMISSION) if asks else None,
        questions=questions,
        last_words=text_in(data, "last_assistant_message"),
        keeps_going=flag(data, "stop_hook_active"),
        reason=text_in(data, "reason"),
        transcript=text_in(data, "transcript_path"),
        mode=text_in(data, "permission_mode"),
    )


def is_codex(data: Mapping[str, Any]) -> bool:
    """Whether an event is of Codex: it names turns, and keeps its transcripts in a folder of its own."""
    return "turn_id" in data or "/.codex/" in text_in(data, "transcript_path")


def permission_reply(event: Event, verdict: Mapping[str, Any]) -> Reply | None:
    """The answer to what is asked for; None where the verdict decides nothing here.

    Before a tool is used a bare yes is not understood, and its own rules go on.
    """
    approve, updated = verdict.get("approve"), verdict.get("updated_input")
    if event.wish is Wish.QUESTION and approve is True:
        # The words of a refusal are all that reaches the model, as the result of its question.
        words = f"The human answered in the console: {answers_text(verdict)}"
        return decision_reply(event, {"behavior": "deny", "message": words})
    if event.name == EventName.BEFORE_TOOL and approve is True:
        return decision_reply(event, {"behavior": "allow", "updatedInput": updated}) if updated else None
    if approve is True and isinstance(updated, Mapping) and dict(updated) != dict(event.input):
        return ask_instead(event, updated)
    if approve is True:
        return decision_reply(event, {"behavior": "allow"})
    # guard: codex-needs-a-yes-or-no
    if approve is False:
        words = text_in(verdict, "content") or "The human refused."
        return decision_reply(event, {"behavior": "deny", "message": words})
    return None


def allow_reply(event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
    """Let a tool be used without asking; None where the human changed its input, which this client does not take."""
    return specific_reply(event.name, permissionDecision="allow") if instead is None else None
