"""Fields each kind needs and must not have: what we refuse to send (what is on record: `message_rules`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import UNADDRESSED
from team_console.store.model.names import nearest
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.client_requests import questions_of
from team_console.store.protocol.kinds.kind import Family, Kind
from team_console.store.protocol.kinds.registry import CARRIERS, KINDS, PREFIX, SEND

MATRIX: Mapping[str, Mapping[str, bool]] = {
    "message": {"recipient": True, "request_id": False, "approve": False},
    "broadcast": {"recipient": False, "request_id": False, "approve": False},
    "shutdown_request": {"recipient": True, "request_id": False, "approve": False},
    "shutdown_response": {"recipient": False, "request_id": True, "approve": True},
    "plan_approval_response": {"recipient": True, "request_id": True, "approve": True},
}
"""Seed 001 section 7.1: type -> field -> required (True) or forbidden (False)."""

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value)


def _object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _questions(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and 0 < len(value) == len(questions_of({"questions": value}))


def _moment(value: Any) -> bool:
    return isinstance(value, str) and from_text(value) is not None


WANTED: Mapping[Check, str] = {
    _text: "a text",
    _list: "a list that is not empty",
    _object: "an object",
    _questions: "a list of questions, each with its text in question",
    _moment: "an ISO 8601 time such as 2026-02-24T10:30:00Z",
}
"""What a check of `REQUIRED` wants, in words."""

REQUIRED: Mapping[str, Mapping[str, Check]] = {
    "handoff": {"artifact_path": _text, "context_summary": _text, "next_actions": _list},
    "review": {"artifact_path": _text, "review_type": _text},
    "clarify": {"question": _text, "context": _text},
    "escalate": {"issue": _text, "severity": _text, "recommendation": _text},
    "notify": {"message": _text},
    "collaborate": {"topic": _text, "deadline": _moment},
}
"""Payload fields the six messenger kinds need (`REQUIREMENTS.md` B.1)."""

ASKED: Mapping[str, Mapping[str, Check]] = {
    "permission_request": {"tool": _text, "input": _object},
    "question_request": {"questions": _questions},
}
"""Payload fields of the requests of clients (decision D20)."""

EXPECTED: Mapping[str, tuple[str, ...]] = {
    "task_assignment": ("task_id", "spec_id", "priority"),
    "dependency_unblocked": ("task_id", "unblocked_by"),
}
"""Payload fields router kinds carry in the source (requirement 205); a lack is a warning."""


def default_recipients(type: str, to: Sequence[str]) -> tuple[str, ...]:
    """The recipients, or the human when an escalation names none (000-c)."""
    return tuple(to) if to or type != "escalate" else UNADDRESSED[type]


_SENDABLE = tuple(
    kind.name for kind in KINDS.values() if SEND in kind.entry_point.split(", ") or kind.name == "broadcast"
)


def as_written(type: str, payload: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The type and payload to store: a sprint kind given by name travels as `NAME: {json}` in a plain message.

    Raises:
        TeamError: `INVALID_TYPE` for a sprint kind with a door of its own, `INVALID_FIELD` for a wrong body.
    """
    kind = KINDS.get(type)
    if kind is None or kind.family is not Family.SPRINT:
        return type, payload
    _sendable(type)
    from team_console.store.protocol.checks.sprint_text import compose

    body = {key: value for key, value in payload.items() if key not in ("summary", "content")}
    return "message", {"summary": payload.get("summary") or f"{type} for you", "content": compose(type, body)}


def check_outgoing(
    *,
    type: str,
    to: Sequence[str],
    payload: Mapping[str, Any],
    priority: str | None,
    own_kinds: Collection[str] = (),
) -> None:
    """Refuse a message of `send` that would break its protocol.

    `type` is a kind whose door is `send`, one of the team's `own_kinds`, or `broadcast`: questions with an id made by
    the desk, and verdicts, have doors of their own. A plain message that carries `NAME: {json}` is checked as that
    sprint message too.

    Raises:
        TeamError: `INVALID_TYPE` (with the nearest kind or the right door), `MISSING_RECIPIENT`, `MISSING_CONTENT`,
            `MISSING_SUMMARY`, `FORBIDDEN_FIELD` or `INVALID_FIELD`, naming the field and the next step.
    """
    kind = _sendable(type, own_kinds)
    if not default_recipients(type, to):
        raise missing_recipient(type)
    for name in ("approve", "approved"):
        if (kind is None or kind.family is not Family.ROUTER) and payload.get(name) is not None:
            raise forbidden(type, name)
    if type in CARRIERS:
        check_text_fields(type, payload)
        _check_carried(payload["content"])
    for name, check in REQUIRED.get(type, {}).items():
        if not check(payload.get(name)):
            raise _unfit(type, name, payload.get(name), check)


def check_asked(type: str, payload: Mapping[str, Any]) -> None:
    """Refuse a request of a client without what it is about, or with two questions that answers could not tell apart.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    for name, check in ASKED[type].items():
        if not check(payload.get(name)):
            what = "is missing" if payload.get(name) is None else f"must be {WANTED[check]}, not {named(payload[name])}"
            raise TeamError(Code.INVALID_FIELD, f"{type}: {name} {what}", f"{type} needs {', '.join(ASKED[type])}.")
    texts = [question.text for question in questions_of(payload)]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        text = f"{type}: two questions ask {named(twice)}"
        raise TeamError(Code.INVALID_FIELD, text, "Ask each once: answers are kept under the question's text.")


def check_verdict(type: str, fields: Mapping[str, Any]) -> None:
    """A verdict quotes a request, says true or false, and gives its reason when it refuses (requirements 69-78, 93).

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `APPROVE_MISSING`, `INVALID_FIELD` or `MISSING_REASON`.
    """
    request_id, approve, content = (fields.get(name) for name in ("request_id", "approve", "content"))
    if not isinstance(request_id, str) or not request_id.strip():
        what = "is missing" if request_id is None else f"{named(request_id)} is not the id of a request"
        hint = "Check the request_id: quote it exactly as the request gives it."
        raise TeamError(Code.INVALID_REQUEST_ID, f"{type}: request_id {what}", hint)
    if approve is None:
        raise TeamError(Code.APPROVE_MISSING, f"{type}: approve is missing", "Add approve: true or false.")
    if not isinstance(approve, bool):
        raise TeamError(Code.INVALID_FIELD, f"approve: {named(approve)} is not a boolean", "Send true or false.")
    if content is not None and not isinstance(content, str):
        raise TeamError(Code.INVALID_FIELD, f"content: {named(content)} is not a text", "Send content as a text.")
    if not approve and not (content and content.strip()):
        hint = "Add content: why not, and what would be accepted instead."
        raise TeamError(Code.MISSING_REASON, f"{type}: a refusal needs its reason in content", hint)


def check_text_fields(type: str, fields: Mapping[str, Any]) -> None:
    """A message or broadcast needs content and summary, both texts (requirements 52, 53, 55, 56).

    Raises:
        TeamError: `MISSING_CONTENT`, `MISSING_SUMMARY` or `INVALID_FIELD`.
    """
    for name, code in (("content", Code.MISSING_CONTENT), ("summary", Code.MISSING_SUMMARY)):
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            raise TeamError(Code.INVALID_FIELD, f"{name}: {named(value)} is not a text", f"Send {name} as a text.")
        if not value or not value.strip():
            wanted = "the full text" if name == "content" else "5-10 words that say the core"
            raise TeamError(code, f"{type}: {name} is missing", f"Add {name}: {wanted}.")


def missing_recipient(type: str) -> TeamError:
    """The error for a message that names nobody."""
    return TeamError(Code.MISSING_RECIPIENT, f"{type}: recipient is missing", "Add a recipient: the agent's name.")


def forbidden(type: str, name: str) -> TeamError:
    """The error for a field that seed 001 section 7.1 rules out."""
    return TeamError(Code.FORBIDDEN_FIELD, f"{type}: {name} does not belong here", f"Remove {name}.")


def invalid_type(type: object, allowed: Sequence[str]) -> TeamError:
    """The error for an unknown type word, with the kind it was most likely meant to be."""
    meant = nearest(type, allowed) if isinstance(type, str) else None
    guess = f"Did you mean {meant}? " if meant else ""
    hint = f"{guess}Check the type field; it is one of {', '.join(allowed)}."
    what = "is missing" if type is None else f"{named(type)} is not a type of message"
    return TeamError(Code.INVALID_TYPE, f"type: {what}", hint)


def _sendable(type: str, own_kinds: Collection[str] = ()) -> Kind | None:
    """The kind that may be sent this way; None for one that only the team's settings know."""
    kind = KINDS.get(type)
    if kind is None and type in own_kinds:
        return None
    if kind is None:
        raise invalid_type(type, (*_SENDABLE, *own_kinds))
    if type not in _SENDABLE:
        hint = f"Use its own door: {kind.entry_point}." if kind.entry_point else "It is understood on reading only."
        raise TeamError(Code.INVALID_TYPE, f"type: {type} is not sent this way", hint)
    return kind


def _check_carried(content: str) -> None:
    match = PREFIX.match(content)
    kind = KINDS.get(match.group(1)) if match else None
    if kind is not None and kind.family is Family.SPRINT and kind.entry_point:
        from team_console.store.protocol.checks.sprint_text import check_carried

        check_carried(content)


def _unfit(type: str, name: str, value: Any, check: Check) -> TeamError:
    what = "is missing" if value is None else f"must be {WANTED[check]}, not {named(value)}"
    hint = f"{type} needs {', '.join(REQUIRED[type])} in its payload."
    return TeamError(Code.INVALID_FIELD, f"payload.{name} {what}", hint)
