"""Event of a client: what every client's hook says, in one shape; and the questions it can put to a human."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field


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
        client: `claude-code` or `codex`.
        name: As the client calls it; an `EventName` where something follows from it.
        session: The client's own id of its session; empty when it gave none.
        directory: The folder the agent works in.
        tool, input: The tool that is, was or would be used, and what with.
        thread: What tells a teammate or subagent from the session itself; empty for the session itself.
        teammate: The name of the teammate whose event it is; None for the session itself and for a nameless subagent.
        suggestions: What the client offers to allow from now on, its own objects.
        wish: What is asked for, or would be by asking for a tool that is about to be used; None when nothing is.
        plan: The plan that is handed in.
        questions: The questions that are put.
        modes: In which the client can go on after a plan.
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
    directory: str = ""
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    thread: str = ""
    teammate: str | None = None
    suggestions: tuple[Any, ...] = ()
    wish: Wish | None = None
    plan: str = ""
    questions: tuple[Mapping[str, Any], ...] = ()
    modes: tuple[str, ...] = ()
    last_words: str = ""
    keeps_going: bool = False
    reason: str = ""
    mode: str = ""
    patience: float | None = None
    teammates_work: bool | None = None
    transcript: str = ""

    @property
    def is_of_subagent(self) -> bool:
        """Whether it is of a subagent that has no name of its own."""
        return bool(self.thread) and self.teammate is None


Reply = dict[str, Any]
"""What a client is told: one JSON object on standard output."""


def specific_reply(name: str, **fields: Any) -> Reply:
    """A reply that is about the event `name`."""
    return {"hookSpecificOutput": {"hookEventName": str(name), **fields}}


def decision_reply(event: Event, decision: Mapping[str, Any]) -> Reply:
    """A yes or no to what is asked for, or to a tool that is about to be used."""
    if event.name == EventName.PERMISSION:
        return specific_reply(event.name, decision=dict(decision))
    names = {"behavior": "permissionDecision", "message": "permissionDecisionReason", "updatedInput": "updatedInput"}
    return specific_reply(event.name, **{names[key]: value for key, value in decision.items() if key in names})


def ask_instead(event: Event, approved: Mapping[str, Any]) -> Reply:
    """A no to what must not run in place of what was approved, with the words that the model asks for that."""
    words = f"Approved in another form; ask for this instead: {json.dumps(approved, ensure_ascii=False)}"
    return decision_reply(event, {"behavior": "deny", "message": words})


def context_reply(event: Event, words: str) -> Reply:
    """Text that the model reads with what comes next."""
    return specific_reply(event.name, additionalContext=words)


def go_on_reply(words: str) -> Reply:
    """Keep the turn from ending: the model goes on with these words."""
    return {"decision": "block", "reason": words}
