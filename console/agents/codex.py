"""Codex: its hook events read, and its answers written. Facts are those of version 0.169, seen with the program.

Of a decision only the behaviour and a message may be said: anything else makes the client refuse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from team_console.console.agents.events import Event, EventName, Reply, Wish, specific_reply
from team_console.store.protocol.parsing import flag, mapping, text_in

CLIENT = "codex"
LONGEST_CONTEXT = 9_500
"""Characters of text that a hook may add."""
MOST_BLOCKS = 8
"""How often in a row a hook may keep a turn from ending; the client has no limit of its own, a model's patience has."""
CAN_BE_WOKEN = False


def event_of(data: Mapping[str, Any]) -> Event:
    """Read one event."""
    name, tool = text_in(data, "hook_event_name"), text_in(data, "tool_name")
    return Event(
        CLIENT,
        name,
        text_in(data, "session_id"),
        text_in(data, "cwd"),
        tool,
        mapping(data, "tool_input"),
        thread=text_in(data, "agent_id"),
        wish=Wish.PERMISSION if name == EventName.PERMISSION and tool else None,
        last_words=text_in(data, "last_assistant_message"),
        keeps_going=flag(data, "stop_hook_active"),
        reason=text_in(data, "reason"),
        transcript=text_in(data, "transcript_path"),
    )


def is_codex(data: Mapping[str, Any]) -> bool:
    """Whether an event is of Codex: it names turns, and keeps its transcripts in a folder of its own."""
    return "turn_id" in data or "/.codex/" in text_in(data, "transcript_path")


def permission_reply(event: Event, verdict: Mapping[str, Any]) -> Reply | None:
    """The answer to a `PermissionRequest`; None where the verdict decides nothing here."""
    approve, updated = verdict.get("approve"), verdict.get("updated_input")
    if approve is True and isinstance(updated, Mapping) and dict(updated) != dict(event.input):
        # The original must not run in place of what was approved.
        words = f"Approved in another form; ask for this instead: {json.dumps(updated, ensure_ascii=False)}"
        return _decided({"behavior": "deny", "message": words})
    if approve is True:
        return _decided({"behavior": "allow"})
    # guard: codex-needs-a-yes-or-no
    if approve is False:
        return _decided({"behavior": "deny", "message": text_in(verdict, "content") or "The human refused."})
    return None


def allow_reply(event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
    """Let a tool be used without asking; None where the human changed its input, which this client does not take."""
    return specific_reply(event.name, permissionDecision="allow") if instead is None else None


def _decided(decision: Reply) -> Reply:
    return specific_reply(EventName.PERMISSION, decision=decision)
