"""Check one message by itself, before it is written and on reading: its frame, its fields, its body."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from posixpath import normpath
from typing import Any

from msgspec import Struct
from team_console.store.model.clock import from_text
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
from team_console.store.protocol.carried import CARRIERS, Carried, carried_in
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.kinds import (
    EACH,
    FOR_CLIENTS,
    KINDS,
    RESPONSES,
    SEND,
    UNKNOWN,
    Family,
    FieldForm,
    Form,
    MessageKind,
    RequestKind,
    kind_of,
)
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.sprint_plans import BATCH_REPORT


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
        if kind.family is not Family.ROUTER and payload.get(name) is not None:
            raise forbidden_field(type, name)
    if type in CARRIERS:
        check_text_fields(type, payload)
        carried = carried_in(type, payload)
        if carried is not None and carried.counts and kind_of(carried.name).entry_point:
            _check_carried(carried)
    if kind.family is not Family.SPRINT:
        _check_needs(kind, payload)


def check_asked(type: str, payload: Fields) -> None:
    """Refuse a request of a client without what it is about, with an option that has no label, or with two questions,
    or two options of one, that answers could not tell apart.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    from team_console.store.protocol.client_requests import questions_of  # 1 ms, for requests of clients

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
    for name, what in _wrong_fields(kind, payload):
        hint = f"{kind.name} needs {', '.join(kind.needs)} in its payload."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} {what}", hint)


def _wrong_fields(kind: MessageKind, payload: Fields) -> Iterator[tuple[str, str]]:
    return wrong_parts(without_none(payload), kind.needs) if kind.needs else iter(())


# Rules that a message keeps or breaks by itself, whoever is in the team: its frame, its fields, its body.


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
        return read.frame_problems + _sprint_problems(message)
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
        if read.answers is RequestKind.QUESTION and read.approve and not _has_answers(payload):
            yield _field_problem(message, "answers", "is missing, so it decides nothing", "error")
        if read.approve is False and not any(payload.get(name) for name in ("content", "reason", "feedback")):
            yield _field_problem(message, "content", "gives no reason for the refusal", "warning")
    elif read.opens in FOR_CLIENTS and payload.get("expires") is not None and not _has_end(read.opens, payload):
        yield _field_problem(message, "expires", "is not a time, so it never ends by itself", "warning")


def _has_answers(payload: Fields) -> bool:
    from team_console.store.protocol.client_requests import answers_of  # 1 ms, for requests of clients

    return bool(answers_of(payload))


def _has_end(kind: RequestKind | None, payload: Fields) -> bool:
    from team_console.store.protocol.client_requests import expiry_of  # 1 ms, for requests of clients

    return kind is not None and expiry_of(kind, payload) is not None


def _are_questions(value: Sequence[Any]) -> bool:
    from team_console.store.protocol.client_requests import questions_of  # 1 ms, for requests of clients

    return len(value) == len(questions_of({"questions": value}))


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


# The JSON of the seventeen sprint kinds (seed 002), and fields of payloads, by the table of kinds.

_LONGEST_WISH = 2000
_LISTS = (list, tuple)


_FITS: Mapping[FieldForm, Callable[[Any], bool]] = {
    FieldForm.TEXT: lambda value: isinstance(value, str) and bool(value.strip()),
    FieldForm.ANY_TEXT: lambda value: isinstance(value, str),
    FieldForm.TEXT_OR_NULL: lambda value: isinstance(value, str | None),
    FieldForm.WISH: lambda value: isinstance(value, str) and len(value) <= _LONGEST_WISH,
    FieldForm.TEXTS: lambda value: isinstance(value, _LISTS) and all(isinstance(item, str) for item in value),
    FieldForm.NUMBER: lambda value: type(value) is int,
    FieldForm.KEY: lambda value: type(value) in (int, str) and value != "",
    FieldForm.LIST: lambda value: isinstance(value, _LISTS) and bool(value),
    FieldForm.OBJECT: lambda value: isinstance(value, Mapping),
    FieldForm.OBJECT_OR_NULL: lambda value: isinstance(value, Mapping | None),
    FieldForm.LOOSE: lambda value: isinstance(value, (Mapping, str, *_LISTS)),
    FieldForm.LOOSE_OR_NULL: lambda value: value is None or isinstance(value, (Mapping, str, *_LISTS)),
    FieldForm.QUESTIONS: lambda value: isinstance(value, _LISTS) and bool(value) and _are_questions(value),
    FieldForm.MOMENT: lambda value: isinstance(value, str) and from_text(value) is not None,
}


def wrong_parts(value: Any, form: Form, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield (place, what is wrong) for each part of `value` that is missing or not of its form."""
    if isinstance(form, FieldForm):
        if not _FITS[form](value):
            yield place, f"must be {form}, not {value_words(value)}"
    elif isinstance(form, list):
        if not isinstance(value, _LISTS):
            yield place, f"must be a list, not {value_words(value)}"
            return
        for number, item in enumerate(value):
            yield from wrong_parts(item, form[0], f"{place}.{number}")
    elif not isinstance(value, Mapping):
        yield place, f"must be an object, not {value_words(value)}"
    else:
        each = form.get(EACH)
        inner = form.items() if each is None else ((name, each) for name in value)
        for key, part in inner:
            name = key.removesuffix("?")
            path = f"{place}.{name}" if place else str(name)
            if name in value and (name == key or value[name] is not None):
                yield from wrong_parts(value[name], part, path)
            elif name == key:
                yield path, "is missing"


# What is well formed and still odd, by kind: (code, field, text).

_ODD, _BUSINESS = "BODY_INVALID", "BUSINESS_IN_CREATE_REQUEST"
_LEVELS = ("HIGH", "LOW", "MEDIUM")
_NEEDED_BY_OPERATION = {
    "navigate": ("url",),
    "click": ("selector",),
    "type": ("selector", "input_value"),
    "screenshot": ("screenshot_path",),
    "read_dom": ("selector",),
    "check_element": ("selector",),
}
_BUSINESS_WORDS = r"(?i)story|epic|batch|spec|session|sprint|requirement|acceptance|feature|task(?!_type)"
_SCREENSHOTS = ".sprint-session/screenshots/"
_Oddity = tuple[str, str, str]


def _oddities(name: str, body: Fields) -> Iterator[_Oddity]:
    """Yield what is odd about a body that is well formed, of any kind of the sprint."""
    for key, words in _checker(name).words.items():
        value = body.get(key)
        if isinstance(value, str) and value.upper() not in map(str.upper, words):
            yield _ODD, key, f"{value_words(value)} is none of {', '.join(sorted(words))}"
    if body.get("session_id") == "":
        yield _ODD, "session_id", "is empty, so nobody can tell which sprint session is meant"
    path = body.get("screenshot_path")
    if isinstance(path, str) and not normpath(path).startswith(_SCREENSHOTS):
        yield _ODD, "screenshot_path", f"{value_words(path)} is not below {_SCREENSHOTS}"
    yield from _checker(name).body(body)


def _creation_oddities(body: Fields) -> Iterator[_Oddity]:
    for key in body.keys() - KINDS["AGENT_CREATE_REQUEST"].needs.keys():
        if re.search(_BUSINESS_WORDS, key):
            yield _BUSINESS, key, "a creation request carries no business context"


def _batch_oddities(body: Fields) -> Iterator[_Oddity]:
    both = sorted({*body["stories_completed"]} & {*body["stories_failed"]})
    if both:
        yield _ODD, "stories_failed", f"{', '.join(both)} are reported completed and failed"


def _operation_oddities(body: Fields) -> Iterator[_Oddity]:
    for key in _NEEDED_BY_OPERATION.get(body["operation"], ()):
        if body[key] is None:
            yield _ODD, key, f"the operation {body['operation']} needs it"


def _plan_oddities(body: Fields) -> Iterator[_Oddity]:
    """Yield what does not fit together in a plan of batches: numbers, doubles, unknown stories, circles."""
    batches, total = body["batches"], body["total_stories"]
    listed = [story for batch in batches for story in batch["stories"]]
    if len(listed) != total:
        yield "STORY_COUNT_MISMATCH", "total_stories", f"total_stories says {total}, the batches list {len(listed)}"
    if len({*listed}) != len(listed):
        yield _ODD, "batches", "a story stands in it twice"
    twice = [key for key, count in Counter(str(batch["batch_id"]) for batch in batches).items() if count > 1]
    if twice:
        yield _ODD, "batches", f"{', '.join(twice)} is the id of several batches"
    needs = {story: inner["depends_on"] for story, inner in body["dependency_graph"].items()}
    unknown = sorted({*needs, *chain.from_iterable(needs.values())} - {*listed})
    if unknown:
        yield _ODD, "dependency_graph", f"{', '.join(unknown)} is in no batch"
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        yield _ODD, "dependency_graph", f"they wait for each other: {', '.join(error.args[1])}"


# A sprint message as text, `NAME: {json}`: composed, checked before sending, its problems reported on reading.


def sprint_content(name: str, body: Fields) -> str:
    """Return the content a sprint message travels as: `NAME: {json}`, `msg_type` first (requirements 124, 125).

    Raises:
        TeamError: `INVALID_FIELD` naming the field that is missing or wrong.
    """
    _check_body(name, body)
    said = {"msg_type": name, **{key: value for key, value in body.items() if key != "msg_type"}}
    return f"{name}: {json.dumps(said, ensure_ascii=False, allow_nan=False)}"


def _check_body(name: str, body: Fields) -> None:
    """Refuse a body that we would send and others could not read.

    Raises:
        TeamError: `INVALID_FIELD` naming the first field that is missing, wrong or out of place.
    """
    if body.get("msg_type", name) != name:
        raise _invalid(name, "msg_type", f"says {value_words(body['msg_type'])}, the message is {name}")
    for code, key, text in _body_problems(name, body):
        if code in (_MALFORMED, _BUSINESS):
            raise _invalid(name, key, text)


def _check_carried(carried: Carried) -> None:
    """Refuse a plain message of ours whose sprint message is not what it says.

    Raises:
        TeamError: `INVALID_FIELD` naming the place.
    """
    if carried.trouble:
        hint = "After the colon stands one JSON object."
        raise TeamError(Code.INVALID_FIELD, f"content: the JSON cannot be read: {carried.trouble}", hint)
    if carried.body.get("msg_type", carried.body.get("type")) is None:
        raise _invalid(carried.name, "msg_type", "is missing")
    _check_body(carried.name, carried.body)


_MALFORMED = "MALFORMED"
_RESEND = "Ask the sender to send it again in the form of the protocol."
_HINTS = {
    "STORY_COUNT_MISMATCH": "Ask the scrum master which stories are missing.",
    _BUSINESS: "The slave gives the context to the new agent in TASK_ASSIGNMENT.",
}


def _sprint_problems(message: Message) -> tuple[Problem, ...]:
    """Return where a stored sprint message violates the form of its kind."""
    read = parse_message(message)
    name, body = read.name, read.body
    found = [(code, field, f"{name}: {field}: {text}") for code, field, text in _body_problems(name, body)]
    own, follows = _checker(name).own
    value = text_in(body, own)
    if value not in ("", message.sender):
        found.append((_ODD, own, f"{name}: {own} says {value:.80}, the sender is {message.sender}; {follows}"))
    return tuple(
        Problem(
            _ODD if code == _MALFORMED else code,
            "warning",
            f"{message.message_id} {field}",
            text,
            _HINTS.get(code, _RESEND),
        )
        for code, field, text in found
    )


def _body_problems(name: str, body: Fields) -> Iterator[_Oddity]:
    """Yield what is wrong with the body of a sprint message, or else what is odd about it."""
    wrong = list(wrong_parts(body, KINDS[name].needs))
    yield from ((_MALFORMED, field, text) for field, text in wrong)
    if not wrong:
        yield from _oddities(name, body)


def _invalid(name: str, field: str, text: str) -> TeamError:
    fields = ", ".join(key.removesuffix("?") for key in KINDS[name].needs)
    return TeamError(Code.INVALID_FIELD, f"{name}: {field}: {text}", f"{name} has {fields}.")


class Checker(Struct, frozen=True):
    """What is asked of a kind of sprint message beyond its fields (`MessageKind.needs`).

    Attributes:
        own: The field that holds its sender's own name (requirement 192), and what follows when it does not.
        words: Field -> the values that the sources name; another is a warning. Upper and lower case count the same.
        body: Finds what is odd in a body that is well formed.
    """

    own: tuple[str, str] = ("", "")
    words: Mapping[str, Collection[str]] = {}
    body: Callable[[Fields], Iterable[_Oddity]] = lambda body: ()


_CHECKERS: Mapping[str, Checker] = {
    "AGENT_CREATE_REQUEST": Checker(own=("requested_by", "the sender gets the answer"), body=_creation_oddities),
    "TASK_ASSIGNMENT": Checker(own=("report_to", "the agent will report to the one named")),
    BATCH_REPORT: Checker(body=_batch_oddities),
    "BATCH_PLAN_READY": Checker(body=_plan_oddities),
    "CC_TRIGGER": Checker(words={"reason": ("user_request", "repeated_failures", "new_requirements")}),
    "DEBUG_REQUEST": Checker(words={"severity_hint": _LEVELS}),
    "DEBUG_RESULT": Checker(words={"severity": _LEVELS, "confidence": _LEVELS}),
    "BROWSER_REQUEST": Checker(words={"operation": _NEEDED_BY_OPERATION}, body=_operation_oddities),
}


def _checker(name: str) -> Checker:
    return _CHECKERS.get(name) or Checker()
