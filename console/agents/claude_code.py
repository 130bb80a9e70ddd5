"""Claude Code: its hook events read, and its answers written. Facts are those of version 2.1, seen with the program.

Pure functions: an event as JSON in, an `Event` out; a verdict in, the client's own answer out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.console.agents.events import Event, EventName, Reply, Wish, decision_reply, specific_reply
from team_console.console.agents.quick import teammate_of
from team_console.store.protocol.parsing import flag, mapping, mappings, text_in

CLIENT = "claude-code"
PLAN_TOOL, QUESTION_TOOL = "ExitPlanMode", "AskUserQuestion"
MODES = ("auto", "acceptEdits", "default")
"""Modes in which a session can go on after its plan: its check decides, edits are accepted, or each is asked for."""
_CRITICAL = 120.0
"""Seconds after which it refuses by itself to delete what is critical: home, root, the project."""
LONGEST_CONTEXT = 9_500
"""Characters of text that a hook may add; the client cuts at 10,000."""
MOST_BLOCKS = 8
"""How often in a row a hook may keep a turn from ending."""


def event_of(data: Mapping[str, Any]) -> Event:
    """Read one event."""
    tool, given = text_in(data, "tool_name"), mapping(data, "tool_input")
    wish = _wish(data, tool, given)
    suggestions = data.get("permission_suggestions")
    return Event(
        CLIENT,
        text_in(data, "hook_event_name"),
        text_in(data, "session_id"),
        text_in(data, "cwd"),
        tool,
        given,
        thread=text_in(data, "agent_id"),
        teammate=teammate_of(dict(data)),
        suggestions=tuple(item for item in suggestions if isinstance(item, dict))
        if isinstance(suggestions, list)
        else (),
        wish=wish,
        plan=text_in(given, "plan") if wish is Wish.PLAN else "",
        questions=mappings(given, "questions") if wish is Wish.QUESTION else (),
        modes=MODES if wish is Wish.PLAN else (),
        last_words=text_in(data, "last_assistant_message"),
        keeps_going=flag(data, "stop_hook_active"),
        reason=text_in(data, "reason"),
        mode=text_in(data, "permission_mode"),
        # Such a request has this empty list, and no other of a shell has (seen with 2.1.331).
        patience=_CRITICAL if tool == "Bash" and suggestions == [] and wish is Wish.PERMISSION else None,
        teammates_work=_teammates_work(data),
        transcript=_transcript(data),
    )


def _transcript(data: Mapping[str, Any]) -> str:
    """The transcript of who acts: a teammate has a file of its own, and the event names that of the session."""
    path, thread = text_in(data, "transcript_path"), text_in(data, "agent_id")
    if not thread:
        return path
    is_name = path.endswith(".jsonl") and "/" not in thread and "\0" not in thread
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{thread}.jsonl" if is_name else ""


def permission_reply(event: Event, verdict: Mapping[str, Any]) -> Reply | None:
    """The answer to what is asked for; None where the verdict decides nothing here.

    Args:
        verdict: The payload of the message that answers the request.
    """
    decision = _decision(event, verdict)
    return None if decision is None else decision_reply(event, decision)


def allow_reply(event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
    """Let a tool be used without asking; with another input, where the human changed it before the yes."""
    reason = "allowed once by the human"
    changed: Reply = {} if instead is None else {"updatedInput": dict(instead)}
    return specific_reply(event.name, permissionDecision="allow", permissionDecisionReason=reason, **changed)


def _wish(data: Mapping[str, Any], tool: str, given: Mapping[str, Any]) -> Wish | None:
    if data.get("hook_event_name") not in (EventName.PERMISSION, EventName.BEFORE_TOOL):
        return None
    if tool == PLAN_TOOL and text_in(given, "plan").strip():
        return Wish.PLAN
    if tool == QUESTION_TOOL and mappings(given, "questions"):
        return Wish.QUESTION
    return Wish.PERMISSION if tool else None


def _decision(event: Event, verdict: Mapping[str, Any]) -> Reply | None:
    approve = verdict.get("approve")
    if approve is False:
        return {"behavior": "deny", "message": text_in(verdict, "content") or "The human refused.", "interrupt": False}
    if approve is not True:
        # guard: claude-code-needs-a-yes-or-no
        return None
    if event.wish is Wish.PLAN:
        return _approved_plan(event, verdict)
    if event.wish is Wish.QUESTION:
        answers = _answers(verdict)
        return {"behavior": "allow", "updatedInput": {**event.input, "answers": answers}} if answers else None
    return _allowed(verdict)


def _approved_plan(event: Event, verdict: Mapping[str, Any]) -> Reply:
    """A bare yes to a plan is ignored: the input has to come back with it, changed or not."""
    plan, mode = text_in(verdict, "updated_plan"), text_in(verdict, "mode")
    if words := text_in(verdict, "content"):  # a yes has no place for words but the plan itself, which the model reads
        plan = f"{plan or text_in(event.input, 'plan')}\n\n## The human's words with the approval\n\n{words}\n"
    decision: Reply = {"behavior": "allow", "updatedInput": {**event.input, **({"plan": plan} if plan else {})}}
    if mode:
        decision["updatedPermissions"] = [{"type": "setMode", "mode": mode, "destination": "session"}]
    return decision


def _allowed(verdict: Mapping[str, Any]) -> Reply:
    decision: Reply = {"behavior": "allow"}
    updated, suggestion = verdict.get("updated_input"), verdict.get("suggestion")
    if isinstance(updated, Mapping):
        decision["updatedInput"] = dict(updated)
    if verdict.get("scope") == "always" and isinstance(suggestion, Mapping):
        decision["updatedPermissions"] = [dict(suggestion)]
    return decision


def _answers(verdict: Mapping[str, Any]) -> dict[str, str]:
    """Question text -> answer; several labels are joined, as the client's own dialog does."""
    given = mapping(verdict, "answers")
    joined = {question: ", ".join(words) if isinstance(words, list) else words for question, words in given.items()}
    return {question: words for question, words in joined.items() if isinstance(words, str)}


def _teammates_work(data: Mapping[str, Any]) -> bool | None:
    if not isinstance(data.get("background_tasks"), list):
        return None
    tasks = mappings(data, "background_tasks")
    return any(task.get("type") == "teammate" and task.get("status") == "running" for task in tasks)
