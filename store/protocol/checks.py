"""Checks of a message before it is written: fields, text, summary, secrets, and rules of the team."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from posixpath import normpath
from types import MappingProxyType
from typing import Any
from unicodedata import category

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import ADDRESS_KEYS, UNADDRESSED, Fields, Message, per_message
from team_console.store.model.names import USER, canonical, did_you_mean, guess
from team_console.store.protocol.carried import CARRIERS, Carried, carried_in
from team_console.store.protocol.client_requests import answers_of, expiry_of, questions_of
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
from team_console.store.protocol.membership import CREATED, DESTROYED, is_master
from team_console.store.protocol.parsing import (
    BATCH_REPORT,
    ParsedMessage,
    PlacedMessage,
    Plan,
    batch_key,
    named_agent,
    parse_message,
    text_in,
    text_of,
    texts_of,
)
from team_console.store.protocol.permissions import DIRECTED, SLAVE, classes_of, direction_problems
from team_console.store.settings.team_config import TeamConfig


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
    body = {key: value for key, value in payload.items() if key not in ("summary", "content")}
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
    """Refuse a request of a client without what it is about, or with two questions that answers could not tell apart.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    _check_needs(KINDS[type], payload)
    texts = [question.text for question in questions_of(payload)]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        text = f"{type}: two questions ask {value_words(twice)}"
        raise TeamError(Code.INVALID_FIELD, text, "Ask each once: answers are kept under the question's text.")


def check_verdict(type: str, fields: Fields) -> None:
    """A verdict quotes a request, says true or false, and gives its reason when it refuses (requirements 69-78, 93).

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
        raise TeamError(Code.INVALID_FIELD, f"content: {value_words(content)} is not a text", "Send content as a text.")
    if not approve and not (content and content.strip()):
        hint = "Add content: why not, and what would be accepted instead."
        raise TeamError(Code.MISSING_REASON, f"{type}: a refusal needs its reason in content", hint)


def check_text_fields(type: str, fields: Fields) -> None:
    """A message or broadcast needs content and summary, both texts (requirements 52, 53, 55, 56).

    Raises:
        TeamError: `MISSING_CONTENT`, `MISSING_SUMMARY` or `INVALID_FIELD`.
    """
    for name, code in (("content", Code.MISSING_CONTENT), ("summary", Code.MISSING_SUMMARY)):
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            raise TeamError(
                Code.INVALID_FIELD, f"{name}: {value_words(value)} is not a text", f"Send {name} as a text."
            )
        if not value or not value.strip():
            wanted = "the full text" if name == "content" else "5-10 words that say the core"
            raise TeamError(code, f"{type}: {name} is missing", f"Add {name}: {wanted}.")


def missing_recipient(type: str) -> TeamError:
    """Return the error for a message that names nobody."""
    return TeamError(Code.MISSING_RECIPIENT, f"{type}: recipient is missing", "Add a recipient: the agent's name.")


def forbidden_field(type: str, name: str) -> TeamError:
    """Return the error for a field that seed 001 section 7.1 rules out."""
    return TeamError(Code.FORBIDDEN_FIELD, f"{type}: {name} does not belong here", f"Remove {name}.")


def invalid_type(type: object, allowed: Sequence[str]) -> TeamError:
    """Return the error for an unknown type word, with the kind it was most likely meant to be."""
    hint = guess(
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
    for name, what in _departures(kind, payload):
        hint = f"{kind.name} needs {', '.join(kind.needs)} in its payload."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} {what}", hint)


def _departures(kind: MessageKind, payload: Fields) -> Iterator[tuple[str, str]]:
    return departures({name: value for name, value in payload.items() if value is not None}, kind.needs)


# Rules that a message keeps or breaks by itself, whoever is in the team: its frame, its fields, its body.


def problems_of(read: ParsedMessage) -> tuple[Problem, ...]:
    """Violations by one message of its protocol, with place and next step; those of its body remembered."""
    message, kind = read.message, read.kind
    if kind is UNKNOWN:
        return read.frame_problems
    if kind.family is Family.SPRINT:
        return read.frame_problems + _sprint_problems(message)
    return (*read.frame_problems, *_record_problems(read, kind))


def _record_problems(read: ParsedMessage, kind: MessageKind) -> Iterator[Problem]:
    """Violations of their fields by a record of any kind but those of the sprint."""
    message, payload = read.message, read.message.payload
    if message.type in UNADDRESSED and not any(message.record.get(key) for key in ADDRESS_KEYS):
        text = f"{message.type} names no recipient; it is taken as one to {', '.join(message.recipients)}"
        yield Problem("NO_RECIPIENT", "notice", message.message_id, text, "Give it a recipient if another is meant.")
    for name, what in _departures(kind, payload):
        yield _departure(message, name, what, "warning")
    if lacking := ", ".join(name for name in kind.usual if payload.get(name) is None):
        yield _departure(message, lacking, f"is missing; it usually carries {', '.join(kind.usual)}", "notice")
    if message.type in CARRIERS:
        for name, severity in (("content", "warning"), ("summary", "notice")):
            if not payload.get(name):
                yield _departure(message, name, "is missing", severity)
    elif message.type in RESPONSES.values():
        if read.request_id is None:
            yield _departure(message, "request_id", "is missing, so it answers nothing", "error")
        if read.approve is None:
            yield _departure(message, "approve", "is neither true nor false, so it decides nothing", "error")
        if read.answers is RequestKind.QUESTION and read.approve and not answers_of(payload):
            yield _departure(message, "answers", "is missing, so it decides nothing", "error")
        if read.approve is False and not any(payload.get(name) for name in ("content", "reason", "feedback")):
            yield _departure(message, "content", "gives no reason for the refusal", "warning")
    elif read.opens in FOR_CLIENTS and payload.get("expires") is not None and expiry_of(read.opens, payload) is None:
        yield _departure(message, "expires", "is not a time, so it never ends by itself", "warning")


def self_addressed(message: Message) -> Iterator[Problem]:
    """A message that goes to its own sender and to nobody else."""
    if message.recipients == (message.sender,):
        text = f"{message.sender} writes to itself"
        yield Problem("SELF_ADDRESSED", "notice", message.message_id, text, "A reaction of one's own needs no message.")


def _departure(message: Message, name: str, what: str, severity: str) -> Problem:
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
    FieldForm.QUESTIONS: lambda value: (
        isinstance(value, _LISTS) and 0 < len(value) == len(questions_of({"questions": value}))
    ),
    FieldForm.MOMENT: lambda value: isinstance(value, str) and from_text(value) is not None,
}


def departures(value: Any, form: Form, place: str = "") -> Iterator[tuple[str, str]]:
    """(place, what is wrong) for each part of `value` that is missing or not of its form."""
    if isinstance(form, FieldForm):
        if not _FITS[form](value):
            yield place, f"must be {form}, not {value_words(value)}"
    elif isinstance(form, list):
        if not isinstance(value, _LISTS):
            yield place, f"must be a list, not {value_words(value)}"
            return
        for number, item in enumerate(value):
            yield from departures(item, form[0], f"{place}.{number}")
    elif not isinstance(value, Mapping):
        yield place, f"must be an object, not {value_words(value)}"
    else:
        each = form.get(EACH)
        inner = form.items() if each is None else ((name, each) for name in value)
        for key, part in inner:
            name = key.removesuffix("?")
            path = f"{place}.{name}" if place else str(name)
            if name in value and (name == key or value[name] is not None):
                yield from departures(value[name], part, path)
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
_BUSINESS_WORDS = re.compile(
    r"story|epic|batch|spec|session|sprint|requirement|acceptance|feature|task(?!_type)", re.IGNORECASE
)
_SCREENSHOTS = ".sprint-session/screenshots/"
_Oddity = tuple[str, str, str]


def _remarks(name: str, body: Fields) -> Iterator[_Oddity]:
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


def _of_creation(body: Fields) -> Iterator[_Oddity]:
    for key in body.keys() - KINDS["AGENT_CREATE_REQUEST"].needs.keys():
        if _BUSINESS_WORDS.search(key):
            yield _BUSINESS, key, "a creation request carries no business context"


def _of_batch(body: Fields) -> Iterator[_Oddity]:
    both = sorted({*body["stories_completed"]} & {*body["stories_failed"]})
    if both:
        yield _ODD, "stories_failed", f"{', '.join(both)} are reported completed and failed"


def _of_operation(body: Fields) -> Iterator[_Oddity]:
    for key in _NEEDED_BY_OPERATION.get(body["operation"], ()):
        if body[key] is None:
            yield _ODD, key, f"the operation {body['operation']} needs it"


def _of_plan(body: Fields) -> Iterator[_Oddity]:
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


@per_message
def _sprint_problems(message: Message) -> tuple[Problem, ...]:
    """Violations by a stored sprint message of the form of its kind."""
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
    wrong = list(departures(body, KINDS[name].needs))
    yield from ((_MALFORMED, field, text) for field, text in wrong)
    if not wrong:
        yield from _remarks(name, body)


def _invalid(name: str, field: str, text: str) -> TeamError:
    fields = ", ".join(key.removesuffix("?") for key in KINDS[name].needs)
    return TeamError(Code.INVALID_FIELD, f"{name}: {field}: {text}", f"{name} has {fields}.")


# Text that looks like a secret, so that the sender can think again (requirement 111); the secret is never repeated.

_PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("PRIVATE KEY", "a private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    ("AKIA", "an AWS access key", r"\bAKIA[0-9A-Z]{16}\b"),
    ("ASIA", "an AWS access key", r"\bASIA[0-9A-Z]{16}\b"),
    ("gh", "a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{20,255}"),
    ("github_pat_", "a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("glpat-", "a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("sk-", "an API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("k_", "an API key", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("AIza", "a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("xox", "a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("npm_", "a package registry token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("pypi-", "a package registry token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    # Not \b: in -eyJa-eyJa-eyJa each would be looked at up to the end of the text.
    ("eyJ", "a signed token", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("earer", "a bearer token", r"\b[Bb]earer\s+[A-Za-z0-9._~+/-]{20,}=*"),
    ("://", "a password in an address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?!\*+@|\$\{|<)[^\s/@]{3,200}@"),
)
"""(what the text must contain to be looked at, what it would be, the pattern); compiled only when needed."""

_NAMES = ("pass", "pwd", "secret", "key", "token", "密码", "口令", "密钥")
_ASSIGNMENT = (
    r"(?i)(?P<name>(?:passwords?|passwd|passphrase|pwd|secret(?:[_-]?key)?|api[_-]?key|"
    r"access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|token)|密码|口令|密钥)"
    r"[\"'`]?\s{0,4}(?:=|:|：|是|为)\s{0,4}(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;，。；]{4,200})"
)
_PLACEHOLDER = (
    r"(?i)[*x.•_-]+$|[<{\[$(%]|(?:none|null|true|false|required|optional|missing|changeme|example|redacted|secret|password|"
    r"token|your|env|vault|getenv|os\.environ|process\.env)"
)
_ALWAYS_SECRET = r"(?i)pass|pwd|密码|口令"


def secret_warnings(text: str) -> list[str]:
    """Return one warning for each sort of secret the text seems to hold, with its line; the value is not in it."""
    found: dict[str, re.Match[str]] = {}
    for marker, what, pattern in _PATTERNS:
        if marker in text and (match := re.search(pattern, text)):
            found.setdefault(what, match)
    if _may_name_one(text) and (secret := next(filter(_is_secret, re.finditer(_ASSIGNMENT, text)), None)):
        found["a password or key"] = secret
    lines = {what: text.count("\n", 0, match.start()) + 1 for what, match in found.items()}
    return [f"line {at} looks like it holds {what}; messages are stored in plain text" for what, at in lines.items()]


def mask_secrets(text: str) -> str:
    """Return the text with a word in place of each secret that `secret_warnings` knows; a private key goes to its
    end.
    """
    for marker, what, pattern in _PATTERNS:
        if marker in text:
            whole = rf"{pattern}(?s:.*?)(?:-----END [A-Z0-9 ]{{0,60}}-----|\Z)" if what == "a private key" else pattern
            text = re.sub(whole, f"[{what}]", text)
    if _may_name_one(text):
        # guard: transcript-secrets-masked
        text = re.sub(_ASSIGNMENT, _masked, text)
    return text


def _may_name_one(text: str) -> bool:
    folded = text.casefold()
    return any(name in folded for name in _NAMES)


def _masked(match: re.Match[str]) -> str:
    head = match.group()[: -len(match["value"])]
    return f"{head}[a password or key]" if _is_secret(match) else match.group()


def _is_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if re.match(_PLACEHOLDER, value):
        return False
    if re.search(_ALWAYS_SECRET, match["name"]):
        return bool(match["quote"]) or not value.isalpha() or len(value) >= 12
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return len(value) >= 12 and has_digit and has_letter


# How long a summary is in words of any script, and what a reader would miss in it (requirements 86-88).

FEWEST, MOST = 5, 10
"""Bounds in words."""
_WORDS_OF_SEVEN_HAN = 5
"""Chinese does not part its words, and a dictionary would be needed to count them: most have two characters, those that
join them one. With seven characters for five words the good examples of seed 001 section 4.1 (6 to 11 characters) and
`请查询今天所有任务的状态` (12 characters, 7 words) pass, and its bad one of 15 characters, which has 11 words, is too
long (001-f). Too short is only what has fewer than five characters: each can be a word."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-'./:@#][A-Za-z0-9])*")
_HAN = f"[{_CJK}]"
_WORD = rf"{_HAN}|[^\W_{_CJK}](?:[^\W_{_CJK}]|[-'’./:@#][^\W_{_CJK}])*"
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
"""Thai, Lao, Burmese and Khmer are written without spaces: how many words a text has cannot be seen from it."""
_JOINERS = "\u200c\u200d"
"""Persian and Hindi write them between the letters of one word."""
_GREETINGS = frozenset(
    (
        *("hi", "hello", "hey", "dear", "greetings", "good", "morning", "afternoon", "evening", "day", "there"),
        *("all", "team", "everyone", "everybody", "thanks", "thank", "you", "please"),
    )
)
_CJK_GREETING = "(?:你好|您好|大家好|早上好|下午好|晚上好|各位|谢谢|嗨|哈喽)[啊呀吗了]?"


def split_words(text: str) -> list[str]:
    """Split `text` into runs of letters and digits (`TASK-001`), and single Han characters and kana.

    Marks upon letters, vowels of Hindi or accents that stand by themselves, belong to the word they are in.
    """
    return _ASCII_WORD.findall(text) if text.isascii() else re.findall(_WORD, _without_marks(text))


def count_words(text: str) -> int:
    """Count the words of `text`; those in Han characters and kana are estimated."""
    parts = split_words(text)
    han = 0 if text.isascii() else sum(re.match(_HAN, part) is not None for part in parts)
    return len(parts) - han - (-han * _WORDS_OF_SEVEN_HAN // 7)


def _without_marks(text: str) -> str:
    return "".join(sign for sign in text if sign not in _JOINERS and category(sign)[0] != "M")


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """Return the faults of a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = not summary.isascii() and re.search(_HAN, summary) is not None
    words = split_words(summary)
    found = _length_warnings(summary, len(words))
    if words and _only_greets(summary, words):
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found


def _length_warnings(summary: str, parts: int) -> list[str]:
    if not summary.isascii() and re.search(_UNSPACED, summary) is not None:
        return []
    words = count_words(summary)
    if parts < FEWEST:
        says = {0: "no words say", 1: "1 word says"}.get(words, f"{words} words say")
        return [f"summary: {says} too little; use {FEWEST}-{MOST}"]
    return [f"summary: {words} words are too long for a list; use {FEWEST}-{MOST}"] if words > MOST else []


def _only_greets(summary: str, words: list[str]) -> bool:
    if not summary.isascii():
        words = split_words(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)


# Rules that can only be judged by knowing the team: directions, roles, contacts, rosters, who may ask for a stop.

_NOBODY: Fields = MappingProxyType({})


class TeamFacts(Struct, frozen=True):
    """What is known of a team when one of its messages is judged.

    Attributes:
        roles: Name -> role of everybody there is or was; empty when nothing is known.
        report_to: Agent -> whom the assignments it was given name in `report_to`.
        plans: Session -> its batches, as far as known.
        expected: Name -> whether the next roster must list it (`expected_on_roster`); empty when no roster is judged.
        ended: Who has ended already; empty when no request for an end is judged.
    """

    config: TeamConfig
    roles: Mapping[str, str] = _NOBODY
    report_to: Mapping[str, frozenset[str]] = _NOBODY
    plans: Mapping[str, Plan] = _NOBODY
    expected: Mapping[str, bool] = {}
    ended: frozenset[str] = frozenset()


def is_judged_by_team(read: ParsedMessage) -> bool:
    """Return whether any rule here looks at such a message."""
    return read.kind.family in DIRECTED or (read.kind is not UNKNOWN and _checker(read.name).team is not None)


def team_problems(read: ParsedMessage, facts: TeamFacts) -> tuple[Problem, ...]:
    """Violations by one message of what its team allows and expects; judged again when the team changes."""
    if not is_judged_by_team(read):
        return ()
    directions = direction_problems(read.message, facts.roles, facts.config.lead)
    rule, message_id = _checker(read.name).team, read.message.message_id
    odd = rule(read, facts) if rule is not None else ()
    return (*directions, *(Problem(code, "warning", f"{message_id} {at}".rstrip(), *say) for code, at, *say in odd))


def report_targets(facts: Iterable[ParsedMessage]) -> dict[str, frozenset[str]]:
    """Agent -> everybody that a TASK_ASSIGNMENT to it names in `report_to` (requirement 143)."""
    targets: dict[str, frozenset[str]] = {}
    for read in facts:
        target = read.body.get("report_to")
        if read.name == "TASK_ASSIGNMENT" and isinstance(target, str) and target:
            for agent in read.message.recipients:
                targets[agent] = targets.get(agent, frozenset()) | {target}
    return targets


def expected_on_roster(config: TeamConfig, facts: Iterable[PlacedMessage]) -> dict[str, bool]:
    """Return name -> whether a complete roster after these facts lists it: residents, and who was created or
    destroyed.
    """
    expected = {name: True for name, agent in config.agents.items() if agent.role == "resident"}
    for entry in facts:
        name, kind = named_agent(entry.read), entry.read.name
        if name and kind in (CREATED, DESTROYED) and is_master(config, entry.message.sender):
            expected[name] = kind == CREATED
    return expected


def roster_gaps(roster: ParsedMessage, expected: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    """(name, what is wrong) for each agent that a roster wrongly leaves out or still lists (requirement 178)."""
    lists = roster.body.get("roster")
    values = lists.values() if isinstance(lists, Mapping) else ()
    listed = {name for names in values if isinstance(names, list) for name in names if isinstance(name, str)}
    for name, there in expected.items():
        if there is not (name in listed):
            yield name, "is left out" if there else "was destroyed and is still listed"


def ending_problem(config: TeamConfig, roles: Mapping[str, str], agent: str) -> str | None:
    """Return the objection to ending `agent` as a sentence: permanent, or nobody's name; None without one."""
    role = roles.get(agent)
    if agent in (config.lead, USER) or role == "master":
        return f"{agent} leads the team and cannot be ended"
    if role == "resident":
        return f"{agent} is a resident"
    return f"{agent} is on no roster" if role is None and config.declared else None


_TeamOddity = tuple[str, str, str, str]
"""Code, field, text and hint of what the team does not allow or expect."""
_Rule = Callable[[ParsedMessage, TeamFacts], Iterator[_TeamOddity]]


def _report(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    targets, message = facts.report_to.get(read.message.sender), read.message
    for recipient in message.recipients if targets else ():
        if targets and recipient not in targets:
            named = " or ".join(sorted(targets))
            text = f"AGENT_COMPLETE of {message.sender} goes to {named}, whom report_to names, not to {recipient}"
            yield "WRONG_DIRECTION", "to", text, f"Forward it to {named}."


def _assignment(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    tell = f"Tell {', '.join(read.message.recipients)} whom to"
    # A report goes to a slave, so nobody else can be named for it.
    name, what = canonical(text_of(read.body.get("report_to"))), ""
    if name and name != read.message.sender and facts.roles:
        if SLAVE not in classes_of(name, facts.roles, facts.config.lead):
            what = f"{name:.80} is no slave, and AGENT_COMPLETE goes to a slave"
        elif facts.config.declared and name not in facts.roles:
            what = f"{name:.80} is on no roster{did_you_mean(name, facts.roles)}"
    if what:
        yield "UNKNOWN_CONTACT", "report_to", f"TASK_ASSIGNMENT: report_to: {what}", f"{tell} report to."
    contacts = read.body.get("resident_contacts") if "resident" in facts.roles.values() else None
    for key, value in contacts.items() if isinstance(contacts, Mapping) else ():
        if isinstance(value, str) and facts.roles.get(canonical(value)) != "resident":
            field = f"resident_contacts.{key}"
            text = f"TASK_ASSIGNMENT: {field}: {canonical(value):.80} is no resident of this team"
            yield "UNKNOWN_CONTACT", field, text, f"{tell} ask instead."


def _batch_report(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    """Yield the departures of a batch report from the plan of its stories."""
    body = read.body
    session, batch = text_of(body.get("session_id")), batch_key(body.get("batch_id"))
    plan = facts.plans.get(session)
    if plan is None:
        texts = [f"there is no plan of session {session:.80}"] if facts.plans else []
    elif batch not in dict(plan):
        texts = [f"the plan of session {session:.80} has no batch {batch:.80}"]
    else:
        wanted = dict(plan)[batch]
        told = [*texts_of(body.get("stories_completed")), *texts_of(body.get("stories_failed"))]
        left, more = [item for item in wanted if item not in told], [item for item in told if item not in wanted]
        texts = [f"nothing is said of {', '.join(left)}, which the plan has in batch {batch:.80}"] if left else []
        texts += [f"the plan has no {', '.join(more)} in batch {batch:.80}"] if more else []
    for text in texts:
        hint = f"Ask {read.message.sender} what became of the stories of its batch."
        yield "STORY_COUNT_MISMATCH", "", f"{BATCH_REPORT}: {text:.300}", hint


def _destruction(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    agent = read.body.get("agent_name")
    if not isinstance(agent, str) or (agent == read.message.sender and agent not in facts.roles):
        return  # one that was dispatched asks for its own end, and is on no roster
    odd = ending_problem(facts.config, facts.roles, agent)
    # guard: end-of-the-ended-told
    if agent in facts.ended:
        text = f"{read.name}: {agent} has ended already, so nobody need end it again"
        yield "ODD_DESTRUCTION", "", text, "Take it back; AGENT_DESTROYED was sent when it ended."
    if odd is not None:
        yield "ODD_DESTRUCTION", "", f"{read.name}: {odd}", "Refuse the request with a reason, unless it is meant so."


def _roster(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    for name, wrong in roster_gaps(read, facts.expected):
        text = f"AGENT_ROSTER_BROADCAST: {name} {wrong}; a roster is complete"
        yield "ROSTER_DRIFT", name, text, "Send it again, complete."


class Checker(Struct, frozen=True):
    """What is asked of a kind of sprint message beyond its fields (`MessageKind.needs`).

    Attributes:
        own: The field that holds its sender's own name (requirement 192), and what follows when it does not.
        words: Field -> the values that the sources name; another is a warning. Upper and lower case count the same.
        body: Finds what is odd in a body that is well formed.
        team: Finds what the team does not allow or expect.
    """

    own: tuple[str, str] = ("", "")
    words: Mapping[str, Collection[str]] = _NOBODY
    body: Callable[[Fields], Iterable[_Oddity]] = lambda body: ()
    team: _Rule | None = None


_CHECKERS: Mapping[str, Checker] = {
    "AGENT_CREATE_REQUEST": Checker(own=("requested_by", "the sender gets the answer"), body=_of_creation),
    "TASK_ASSIGNMENT": Checker(own=("report_to", "the agent will report to the one named"), team=_assignment),
    BATCH_REPORT: Checker(body=_of_batch, team=_batch_report),
    "BATCH_PLAN_READY": Checker(body=_of_plan),
    "CC_TRIGGER": Checker(words={"reason": ("user_request", "repeated_failures", "new_requirements")}),
    "DEBUG_REQUEST": Checker(words={"severity_hint": _LEVELS}),
    "DEBUG_RESULT": Checker(words={"severity": _LEVELS, "confidence": _LEVELS}),
    "BROWSER_REQUEST": Checker(words={"operation": _NEEDED_BY_OPERATION}, body=_of_operation),
    "AGENT_COMPLETE": Checker(team=_report),
    "AGENT_DESTROY_REQUEST": Checker(team=_destruction),
    "AGENT_ROSTER_BROADCAST": Checker(team=_roster),
}


def _checker(name: str) -> Checker:
    return _CHECKERS.get(name) or Checker()
