"""Languages of clients: their hook events read into one shape, and verdicts answered in their own words.

Facts are those of Claude Code 2.1 and Codex 0.169, seen with the programs. Pure functions: an event as JSON in, an
`Event` out; a verdict in, the client's own answer out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct
from team_console.console.agents.quick import CODEX_QUESTION, teammate_of
from team_console.store.protocol.client_requests import answers_of, answers_text
from team_console.store.protocol.parsing import mapping, mappings, text_in

CLAUDE, CODEX = "claude-code", "codex"
PLAN_TOOL = "ExitPlanMode"
_QUESTION_TOOLS = ("AskUserQuestion", CODEX_QUESTION)
MODES = ("auto", "acceptEdits", "default")
"""Modes in which a session can go on after its plan: its check decides, edits are accepted, or each is asked for."""
_CRITICAL = 120.0
"""Seconds after which Claude Code refuses by itself to delete what is critical: home, root, the project."""
LONGEST_CONTEXT = 9_500
"""Characters of text that a hook may add; clients cut at 10,000."""
MOST_BLOCKS = 8
"""How often in a row a hook may keep a turn from ending: a model's patience, where the client has no limit."""


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


def event_of(data: Mapping[str, Any], client: str = "") -> Event:
    """Read one event: of the client that is named, else of the one it looks like.

    Codex names turns, and keeps its transcripts in a folder of its own.
    """
    if client not in (CLAUDE, CODEX):
        client = CODEX if "turn_id" in data or "/.codex/" in text_in(data, "transcript_path") else CLAUDE
    name, tool, given = text_in(data, "hook_event_name"), text_in(data, "tool_name"), mapping(data, "tool_input")
    asks_questions = tool in _QUESTION_TOOLS and mappings(given, "questions")
    is_plan = tool == PLAN_TOOL and text_in(given, "plan").strip()
    wish = Wish.PLAN if is_plan else Wish.QUESTION if asks_questions else Wish.PERMISSION
    asks = bool(tool) and name in (EventName.PERMISSION, EventName.BEFORE_TOOL)
    tasks = mappings(data, "background_tasks")
    works = any(task.get("type") == "teammate" and task.get("status") == "running" for task in tasks)
    # A request to delete what is critical has this empty list, and no other of a shell has (seen with 2.1.331).
    is_critical = wish is Wish.PERMISSION and tool == "Bash" and data.get("permission_suggestions") == []
    return Event(
        client=client,
        name=name,
        session=text_in(data, "session_id"),
        directory=text_in(data, "cwd"),
        tool=tool,
        input=given,
        thread=text_in(data, "agent_id"),
        teammate=teammate_of(dict(data)) if client == CLAUDE else None,
        suggestions=mappings(data, "permission_suggestions"),
        wish=wish if asks else None,
        last_words=text_in(data, "last_assistant_message"),
        keeps_going=data.get("stop_hook_active") is True,
        reason=text_in(data, "reason"),
        mode=text_in(data, "permission_mode"),
        patience=_CRITICAL if is_critical else None,
        teammates_work=works if isinstance(data.get("background_tasks"), list) else None,
        transcript=_transcript(text_in(data, "transcript_path"), text_in(data, "agent_id"), client),
    )


def _transcript(path: str, thread: str, client: str) -> str:
    """The transcript of who acts: a teammate of Claude Code has a file of its own, and events name the session's."""
    if not thread or client == CODEX:
        return path
    is_name = path.endswith(".jsonl") and "/" not in thread and "\0" not in thread
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{thread}.jsonl" if is_name else ""


Reply = dict[str, Any]
"""What a client is told: one JSON object on standard output."""


def specific_reply(event: Event, **fields: Any) -> Reply:
    """A reply that is about this event: `additionalContext` is text that the model reads with what comes next."""
    return {"hookSpecificOutput": {"hookEventName": event.name, **fields}}


def permission_reply(event: Event, verdict: Mapping[str, Any]) -> Reply | None:
    """The answer to what is asked for; None where the verdict decides nothing here.

    Args:
        verdict: The payload of the message that answers the request.
    """
    approve, is_codex = verdict.get("approve"), event.client == CODEX
    if approve is False:
        return _refusal(event, text_in(verdict, "content") or "The human refused.")
    # guard: clients-need-a-yes-or-no
    if approve is not True:
        return None
    if event.wish is Wish.QUESTION and is_codex:
        # The words of a refusal are all that reaches the model, as the result of its question.
        return _refusal(event, f"The human answered in the console: {answers_text(verdict)}")
    if event.wish is Wish.QUESTION:
        # Several labels are joined, as the client's own dialog does.
        answers = {question: ", ".join(words) for question, words in answers_of(verdict).items()}
        return _yes(event, {**event.input, "answers": answers}) if answers else None
    if event.wish is Wish.PLAN:
        return _approved_plan(event, verdict)
    updated, suggestion = verdict.get("updated_input"), verdict.get("suggestion")
    changed = dict(updated) if isinstance(updated, Mapping) else None
    if is_codex and event.name == EventName.BEFORE_TOOL:  # a bare yes is not understood there, and its rules go on
        return _yes(event, changed) if changed else None
    if is_codex:  # which takes no other input in answer to a request
        return _yes(event) if changed in (None, event.input) else ask_instead(event, changed or {})
    always = verdict.get("scope") == "always" and isinstance(suggestion, Mapping)
    return _yes(event, changed, [suggestion] if always else [])


def allow_reply(event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
    """Let a tool be used without asking; with another input, where the human changed it before the yes.

    None for such a one in Codex, which does not take it.
    """
    changed: Reply = {} if instead is None else {"updatedInput": dict(instead)}
    if event.client == CODEX:
        return None if changed else specific_reply(event, permissionDecision="allow")
    why = "allowed once by the human"
    return specific_reply(event, permissionDecision="allow", permissionDecisionReason=why, **changed)


def ask_instead(event: Event, approved: Mapping[str, Any]) -> Reply:
    """A no to what must not run in place of what was approved, with the words that the model asks for that."""
    return _refusal(
        event, f"Approved in another form; ask for this instead: {json.dumps(approved, ensure_ascii=False)}"
    )


def _refusal(event: Event, words: str) -> Reply:
    if event.name != EventName.PERMISSION:
        return specific_reply(event, permissionDecision="deny", permissionDecisionReason=words)
    more = {} if event.client == CODEX else {"interrupt": False}
    return specific_reply(event, decision={"behavior": "deny", "message": words, **more})


def _yes(event: Event, updated: Mapping[str, Any] | None = None, rules: list[Any] | None = None) -> Reply:
    changed = {} if updated is None else {"updatedInput": updated}
    if event.name != EventName.PERMISSION:
        return specific_reply(event, permissionDecision="allow", **changed)
    return specific_reply(
        event, decision={"behavior": "allow", **changed, **({"updatedPermissions": rules} if rules else {})}
    )


def _approved_plan(event: Event, verdict: Mapping[str, Any]) -> Reply:
    """A bare yes to a plan is ignored: the input has to come back with it, changed or not."""
    plan, mode = text_in(verdict, "updated_plan"), text_in(verdict, "mode")
    if words := text_in(verdict, "content"):  # a yes has no place for words but the plan itself, which the model reads
        plan = f"{plan or text_in(event.input, 'plan')}\n\n## The human's words with the approval\n\n{words}\n"
    modes = [{"type": "setMode", "mode": mode, "destination": "session"}] if mode else []
    return _yes(event, {**event.input, **({"plan": plan} if plan else {})}, modes)
