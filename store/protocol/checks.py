"""Check one message by itself, before it is written and on reading: its frame, its fields, its body.

Numbers such as 69, and `000-c` for what was settled where a source leaves a choice, are those of
`docs/contributing/requirements.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import (
    ADDRESS_KEYS,
    UNADDRESSED,
    Fields,
    Message,
    per_message,
    without,
    without_none,
)
from team_console.store.model.names import hint_with_nearest
from team_console.store.model.safe import is_blank
from team_console.store.protocol.client_requests import answers_of, expiry_of, questions_of
from team_console.store.protocol.kinds import (
    FOR_CLIENTS,
    KINDS,
    RESPONSES,
    SEND,
    UNKNOWN,
    Family,
    MessageKind,
    RequestKind,
    kind_of,
    wrong_parts,
)
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.sprint_bodies import check_carried, sprint_content, sprint_problems
from team_console.store.protocol.sprint_in_text import CARRIERS, carried_in


def default_recipients(type: str, to: Sequence[str]) -> tuple[str, ...]:
    """Return the recipients, or the human when an escalation names none (000-c)."""
    return tuple(to) if to or type != "escalate" else UNADDRESSED[type]


_SENDABLE = tuple(
    kind.name for kind in KINDS.values() if SEND in kind.entry_point.split(", ") or kind.name == "broadcast"
)


def as_written(type: str, payload: Fields) -> tuple[str, Fields]:
    """Return the type and payload to store: a sprint kind given by name travels as `NAME: {json}` in a plain
    message.

    Raises:
        TeamError: `INVALID_TYPE` for a sprint kind with a door of its own, `INVALID_FIELD` for a wrong body.
    """
    if kind_of(type).family is not Family.SPRINT:
        return type, payload
    _sendable(type)
    body = without(payload, ("summary", "content"))
    return "message", {"summary": payload.get("summary") or f"{type} for you", "content": sprint_content(type, body)}


def check_outgoing(
    *,
    type: str,
    to: Sequence[str],
    payload: Fields,
    own_kinds: Collection[str] = (),
) -> None:
    """Refuse a message of `send` that would break its protocol.

    `type` is a kind whose door is `send`, one of the team's `own_kinds`, or `broadcast`: questions with an id made by
    us, and verdicts, have verbs of their own. A plain message that carries `NAME: {json}` is checked as that
    sprint message too.

    Raises:
        TeamError: `INVALID_TYPE` (with the nearest kind or the right door), `MISSING_RECIPIENT`, `MISSING_CONTENT`,
            `MISSING_SUMMARY`, `FORBIDDEN_FIELD` or `INVALID_FIELD`, naming the field and the next step.
    """
    kind = _sendable(type, own_kinds)
    if not default_recipients(type, to):
        raise missing_recipient(type)
    for name in ("approve", "approved"):
        # Kinds of seed 003 have payloads of their own, in which it may be any key of the task.
        if kind.family is not Family.ROUTER and payload.get(name) is not None:
            raise forbidden_field(type, name)
    if type in CARRIERS:
        check_text_fields(type, payload)
        carried = carried_in(type, payload)
        if carried is not None and carried.counts and kind_of(carried.name).entry_point:
            check_carried(carried)
    if kind.family is not Family.SPRINT:
        _check_needs(kind, payload)


def check_asked(type: str, payload: Fields) -> None:
    """Refuse a request of a client without what it is about, with an option that has no label, or with two questions,
    or two options of one, that answers could not tell apart.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    _check_needs(KINDS[type], payload)
    questions = questions_of(payload)
    if any(is_blank(question.text) for question in questions):
        raise TeamError(Code.INVALID_FIELD, f"{type}: a question says nothing", "Ask something.")
    twice = _repeated([question.text for question in questions])
    if twice is not None:
        text = f"{type}: two questions ask {value_words(twice)}"
        raise TeamError(Code.INVALID_FIELD, text, "Ask each once: answers are kept under the question's text.")
    for question in questions:
        # guard: options-told-apart
        twice = _repeated([option.label.strip() for option in question.options])
        if twice is not None:
            text = f"{type}: two options of {value_words(question.text)} are {value_words(twice)}"
            raise TeamError(Code.INVALID_FIELD, text, "Give each its own label: it is what the answer says.")
        if question.rest.get("options") or any(is_blank(option.label) for option in question.options):
            text = f"{type}: an option of {value_words(question.text)} has no label"
            raise TeamError(Code.INVALID_FIELD, text, "Give each a label: it is what the answer says.")


def _repeated(texts: Sequence[str]) -> str | None:
    """Return the first of these texts that stands among them again; None when each stands once."""
    return next((text for text, number in Counter(texts).items() if number > 1), None)


def check_verdict(type: str, fields: Fields) -> None:
    """Refuse a verdict that quotes no request, says neither yes nor no, or says no without a reason (69-78, 93).

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `APPROVE_MISSING`, `INVALID_FIELD` or `MISSING_REASON`.
    """
    request_id, approve, content = (fields.get(name) for name in ("request_id", "approve", "content"))
    if not isinstance(request_id, str) or not request_id.strip():
        what = "is missing" if request_id is None else f"{value_words(request_id)} is not the id of a request"
        hint = "Check the request_id: quote it exactly as the request gives it."
        raise TeamError(Code.INVALID_REQUEST_ID, f"{type}: request_id {what}", hint)
    if approve is None:
        raise TeamError(Code.APPROVE_MISSING, f"{type}: approve is missing", "Add approve: true or false.")
    if not isinstance(approve, bool):
        raise TeamError(Code.INVALID_FIELD, f"approve: {value_words(approve)} is not a boolean", "Send true or false.")
    if content is not None and not isinstance(content, str):
        raise no_text("content", content)
    if not approve and is_blank(content or ""):
        hint = "Add content: why not, and what would be accepted instead."
        raise TeamError(Code.MISSING_REASON, f"{type}: a refusal needs its reason in content", hint)


def check_text_fields(type: str, fields: Fields) -> None:
    """Refuse a message or broadcast without content and summary, both texts (requirements 52, 53, 55, 56).

    Raises:
        TeamError: `MISSING_CONTENT`, `MISSING_SUMMARY` or `INVALID_FIELD`.
    """
    for name, code in (("content", Code.MISSING_CONTENT), ("summary", Code.MISSING_SUMMARY)):
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            raise no_text(name, value)
        if is_blank(value or ""):
            wanted = "the full text" if name == "content" else "5-10 words that say the core"
            raise TeamError(code, f"{type}: {name} is missing", f"Add {name}: {wanted}.")


def no_text(name: str, value: object) -> TeamError:
    """Return the error for a field that is another value than a text."""
    return TeamError(Code.INVALID_FIELD, f"{name}: {value_words(value)} is not a text", f"Send {name} as a text.")


def missing_recipient(type: str) -> TeamError:
    """Return the error for a message that names nobody."""
    return TeamError(Code.MISSING_RECIPIENT, f"{type}: recipient is missing", "Add a recipient: the agent's name.")


def forbidden_field(type: str, name: str) -> TeamError:
    """Return the error for a field that seed 001 section 7.1 rules out."""
    return TeamError(Code.FORBIDDEN_FIELD, f"{type}: {name} does not belong here", f"Remove {name}.")


def invalid_type(type: object, allowed: Sequence[str]) -> TeamError:
    """Return the error for an unknown type word, with the kind it was most likely meant to be."""
    hint = hint_with_nearest(
        type if isinstance(type, str) else "", allowed, f"Check the type field; it is one of {', '.join(allowed)}."
    )
    what = "is missing" if type is None else f"{value_words(type)} is not a type of message"
    return TeamError(Code.INVALID_TYPE, f"type: {what}", hint)


def _sendable(type: str, own_kinds: Collection[str] = ()) -> MessageKind:
    """Return the kind that may be sent this way; `UNKNOWN` for one that only the team's settings know."""
    kind = kind_of(type)
    if kind is UNKNOWN and type in own_kinds:
        return kind
    if kind is UNKNOWN:
        raise invalid_type(type, (*_SENDABLE, *own_kinds))
    if type not in _SENDABLE:
        hint = f"Use its own door: {kind.entry_point}." if kind.entry_point else "It is understood on reading only."
        raise TeamError(Code.INVALID_TYPE, f"type: {type} is not sent this way", hint)
    return kind


def _check_needs(kind: MessageKind, payload: Fields) -> None:
    """Refuse a payload that lacks what its kind needs. Raises `TeamError`: `INVALID_FIELD`, naming the first."""
    for name, what in _wrong_fields(kind, payload):
        hint = f"{kind.name} needs {', '.join(kind.needs)} in its payload."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} {what}", hint)


def _wrong_fields(kind: MessageKind, payload: Fields) -> Iterator[tuple[str, str]]:
    """Yield the place of each field that a kind needs and that is missing, null or wrong, and what is wrong with it."""
    return wrong_parts(without_none(payload), kind.needs)


def problems_of(read: ParsedMessage) -> tuple[Problem, ...]:
    """Return where one message violates its protocol, with place and next step; remembered."""
    return _problems_in(read.message)


@per_message
def _problems_in(message: Message) -> tuple[Problem, ...]:
    """Return the problems of one message, worked out once for each message object."""
    read = parse_message(message)
    if read.kind is UNKNOWN:
        return read.frame_problems
    if read.kind.family is Family.SPRINT:
        return read.frame_problems + sprint_problems(message)
    return (*read.frame_problems, *_record_problems(read, read.kind))


def _record_problems(read: ParsedMessage, kind: MessageKind) -> Iterator[Problem]:
    """Yield what is wrong with the fields of a record of any kind but those of the sprint."""
    message, payload = read.message, read.message.payload
    if message.type in UNADDRESSED and not any(message.record.get(key) for key in ADDRESS_KEYS):
        text = f"{message.type} names no recipient; it is taken as one to {', '.join(message.recipients)}"
        yield Problem("NO_RECIPIENT", "notice", message.message_id, text, "Give it a recipient if another is meant.")
    for name, what in _wrong_fields(kind, payload):
        yield _field_problem(message, name, what, "warning")
    if lacking := [name for name in kind.usual if payload.get(name) is None]:
        what = f"is missing; it usually carries {', '.join(kind.usual)}"
        yield _field_problem(message, ", ".join(lacking), what, "notice")
    if message.type in CARRIERS:
        for name, severity in (("content", "warning"), ("summary", "notice")):
            if not payload.get(name):
                yield _field_problem(message, name, "is missing", severity)
    elif message.type in RESPONSES.values():
        if read.request_id is None:
            yield _field_problem(message, "request_id", "is missing, so it answers nothing", "error")
        if read.approve is None:
            yield _field_problem(message, "approve", "is neither true nor false, so it decides nothing", "error")
        if read.answers is RequestKind.QUESTION and read.approve and not answers_of(payload):
            yield _field_problem(message, "answers", "is missing, so it decides nothing", "error")
        if read.approve is False and not any(payload.get(name) for name in ("content", "reason", "feedback")):
            yield _field_problem(message, "content", "gives no reason for the refusal", "warning")
    elif read.opens in FOR_CLIENTS and payload.get("expires") is not None and expiry_of(read.opens, payload) is None:
        yield _field_problem(message, "expires", "is not a time, so it never ends by itself", "warning")


def self_addressed(message: Message) -> Iterator[Problem]:
    """Yield the problem of a message that goes to its own sender and to nobody else."""
    if message.recipients == (message.sender,):
        text = f"{message.sender} writes to itself"
        yield Problem("SELF_ADDRESSED", "notice", message.message_id, text, "A reaction of one's own needs no message.")


def _field_problem(message: Message, name: str, what: str, severity: str) -> Problem:
    """Make the problem of one field of a stored message."""
    hint = f"Ask {message.sender} to send it again with {name}."
    return Problem(
        "BODY_INVALID", severity, f"{message.message_id} payload.{name}", f"{message.type}: {name} {what}", hint
    )
