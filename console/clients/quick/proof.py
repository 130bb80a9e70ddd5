"""Proof that a request was decided where the agent runs: a later event of the same thread that shows it went on.

Works on plain objects, so that the quick look at an event and the thorough one judge alike.
"""

from __future__ import annotations

from team_console.console.clients.quick.session_files import digest

Data = dict[str, object]
_TURN_OVER = frozenset({"Stop", "SubagentStop", "TeammateIdle", "UserPromptSubmit"})
_TOOL_DONE = frozenset({"PostToolUse", "PostToolUseFailure"})
_PLAN_TOOL, _QUESTION_TOOL = "ExitPlanMode", "AskUserQuestion"


def asked_by(data: Data, request_id: str, agent: str) -> Data:
    """What is kept of a request, made of the event that asked."""
    facts: Data = {"request_id": request_id, "agent": agent, "thread": data.get("agent_id", "")}
    return {**facts, "tool": data.get("tool_name"), "digest": _subject(data)}


def asked_in(payload: Data, thread: str) -> Data:
    """The same, made of the request itself."""
    if "tool" in payload:
        facts: Data = {"thread": thread, "tool": payload["tool"], "digest": digest(payload.get("input"))}
        return {**facts, "denied": bool(payload.get("denied"))}
    if "questions" in payload:
        return {"thread": thread, "tool": _QUESTION_TOOL, "digest": digest(payload["questions"])}
    return {"thread": thread, "tool": _PLAN_TOOL}


def shows_decided(data: Data, asked: Data) -> bool:
    """Whether this event shows that what was asked needs no answer from here any more.

    Nobody waits for what the client denied by itself, so no turn ends it.

    The end of a session decides all of it; the end of a turn what its own thread asked; a tool that was used, with what
    was asked for, that. A plan comes back without its text, a question with its answers.
    """
    name = data.get("hook_event_name")
    if name == "SessionEnd":
        return True
    if asked.get("denied") and name not in _TOOL_DONE:
        return False
    if asked.get("thread", "") != data.get("agent_id", ""):
        return False
    if name in _TURN_OVER:
        return True
    if name not in _TOOL_DONE or data.get("tool_name") != asked.get("tool"):
        return False
    return data.get("tool_name") == _PLAN_TOOL or asked.get("digest") == _subject(data)


def _subject(data: Data) -> int:
    given = data.get("tool_input")
    if data.get("tool_name") == _QUESTION_TOOL and isinstance(given, dict):
        given = given.get("questions")
    return digest(given)
