"""One event of a client's session in the shape that every flow reads, and what a client is told in return."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct


class EventName(StrEnum):
    """Events that something follows from; all others need nothing."""

    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    PROMPT = "UserPromptSubmit"
    BEFORE_TOOL = "PreToolUse"
    AFTER_TOOL = "PostToolUse"
    AFTER_FAILED_TOOL = "PostToolUseFailure"
    PERMISSION = "PermissionRequest"
    DENIED = "PermissionDenied"
    STOP = "Stop"
    INTERRUPT = "Interrupt"
    SUBAGENT_START = "SubagentStart"
    SUBAGENT_STOP = "SubagentStop"
    TEAMMATE_IDLE = "TeammateIdle"
    CONFIG_CHANGE = "ConfigChange"


class Wish(StrEnum):
    """What a client wants of a human."""

    PERMISSION = "permission"
    PLAN = "plan"
    QUESTION = "question"


class Event(Struct, frozen=True):
    """One event.

    Attributes:
        client: The name of the client, as requests and the roster have it.
        name: As the client calls it; an `EventName` where something follows from it.
        session: The client's own id of its session; empty when it gave none.
        directory: The folder the agent works in.
        tool, input: The tool that is, was or would be used, and what with.
        thread: What tells a teammate or subagent from the session itself; empty for the session itself.
        teammate: The name of the teammate whose event it is; None for the session itself and for a nameless subagent.
        suggestions: What the client offers to allow from now on, its own objects.
        wish: What is asked for, or would be by asking for a tool that is about to be used; None when nothing is.
        last_words: What was said last before a turn ended.
        keeps_going: Whether a turn goes on only because a hook wanted it to.
        reason: Why a tool was denied, or the session ended.
        mode: In which the session decides on tools: `default`, `auto`, `plan`, ...; empty when not said.
        patience: Seconds after which the client says no by itself; None when it does not.
        teammates_work: Whether the client says that teammates are still there; None when it says nothing.
        transcript: The file that holds what was said and done in the session, or in its teammate; empty for none.
    """

    client: str
    name: str
    session: str
    directory: str
    tool: str
    input: Mapping[str, Any]
    thread: str
    teammate: str | None
    suggestions: tuple[Mapping[str, Any], ...]
    wish: Wish | None
    last_words: str
    keeps_going: bool
    reason: str
    mode: str
    patience: float | None
    teammates_work: bool | None
    transcript: str


Reply = dict[str, Any]
"""What a client is told: one JSON object on standard output."""


def specific_reply(event: Event, **fields: Any) -> Reply:
    """Return a reply that is about this event: `additionalContext` is text that the model reads with what comes
    next.
    """
    return {"hookSpecificOutput": {"hookEventName": event.name, **fields}}
