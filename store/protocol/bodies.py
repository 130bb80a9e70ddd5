"""Bodies: the JSON of the seventeen sprint kinds (seed 002), and fields of payloads, by the table of kinds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from posixpath import normpath
from typing import Any

from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.json_text import named
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import questions_of
from team_console.store.protocol.kinds import EACH, KINDS, Family, Field, Form
from team_console.store.protocol.parsing import parse_carried, text_in

_LONGEST_WISH = 2000


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_loose(value: Any) -> bool:
    return isinstance(value, (Mapping, list, tuple, str))


_FITS: Mapping[Field, Callable[[Any], bool]] = {
    Field.TEXT: lambda value: _is_text(value) and bool(value.strip()),
    Field.ANY_TEXT: _is_text,
    Field.TEXT_OR_NULL: lambda value: value is None or _is_text(value),
    Field.WISH: lambda value: _is_text(value) and len(value) <= _LONGEST_WISH,
    Field.TEXTS: lambda value: _is_list(value) and all(map(_is_text, value)),
    Field.NUMBER: lambda value: type(value) is int,
    Field.KEY: lambda value: type(value) in (int, str) and value != "",
    Field.LIST: lambda value: _is_list(value) and bool(value),
    Field.OBJECT: _is_object,
    Field.OBJECT_OR_NULL: lambda value: value is None or _is_object(value),
    Field.LOOSE: _is_loose,
    Field.LOOSE_OR_NULL: lambda value: value is None or _is_loose(value),
    Field.QUESTIONS: lambda value: _is_list(value) and 0 < len(value) == len(questions_of({"questions": value})),
    Field.MOMENT: lambda value: _is_text(value) and from_text(value) is not None,
}


def departures(value: Any, form: Form, place: str = "") -> Iterator[tuple[str, str]]:
    """(place, what is wrong) for each part of `value` that is missing or not of its form."""
    if isinstance(form, Field):
        if not _FITS[form](value):
            yield place, f"must be {form}, not {named(value)}"
    elif isinstance(form, list):
        if not _is_list(value):
            yield place, f"must be a list, not {named(value)}"
        for number, item in enumerate(value if _is_list(value) else ()):
            yield from departures(item, form[0], f"{place}.{number}")
    elif not _is_object(value):
        yield place, f"must be an object, not {named(value)}"
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
_LEVELS = frozenset({"HIGH", "MEDIUM", "LOW"})
_NEEDED_BY_OPERATION = {
    "navigate": ("url",),
    "click": ("selector",),
    "type": ("selector", "input_value"),
    "screenshot": ("screenshot_path",),
    "read_dom": ("selector",),
    "check_element": ("selector",),
}
_WORDS: Mapping[str, frozenset[str]] = {
    "severity_hint": _LEVELS,
    "severity": _LEVELS,
    "confidence": _LEVELS,
    "operation": frozenset(_NEEDED_BY_OPERATION),
    "reason": frozenset({"user_request", "repeated_failures", "new_requirements"}),
}
"""Fields whose values the sources name; another is a warning. Upper and lower case count the same."""
_WITH_WORDS = frozenset({"DEBUG_REQUEST", "DEBUG_RESULT", "BROWSER_REQUEST", "CC_TRIGGER"})
_BUSINESS_WORDS = re.compile(
    r"story|epic|batch|spec|session|sprint|requirement|acceptance|feature|task(?!_type)", re.IGNORECASE
)
_SCREENSHOTS = ".sprint-session/screenshots/"
Remark = tuple[str, str, str]


def _remarks(name: str, body: Mapping[str, Any]) -> Iterator[Remark]:
    for field in _WORDS if name in _WITH_WORDS else ():
        value = body.get(field)
        if isinstance(value, str) and value.upper() not in map(str.upper, _WORDS[field]):
            yield _ODD, field, f"{named(value)} is none of {', '.join(sorted(_WORDS[field]))}"
    if body.get("session_id") == "":
        yield _ODD, "session_id", "is empty, so nobody can tell which sprint session is meant"
    path = body.get("screenshot_path")
    if isinstance(path, str) and not normpath(path).startswith(_SCREENSHOTS):
        yield _ODD, "screenshot_path", f"{named(path)} is not below {_SCREENSHOTS}"
    if name == "AGENT_CREATE_REQUEST":
        for key in body.keys() - KINDS[name].needs.keys():
            if _BUSINESS_WORDS.search(key):
                yield _BUSINESS, key, "a creation request carries no business context"
    elif name == "SLAVE_BATCH_COMPLETE":
        both = sorted({*body["stories_completed"]} & {*body["stories_failed"]})
        if both:
            yield _ODD, "stories_failed", f"{', '.join(both)} are reported completed and failed"
    elif name == "BROWSER_REQUEST":
        for key in _NEEDED_BY_OPERATION.get(body["operation"], ()):
            if body[key] is None:
                yield _ODD, key, f"the operation {body['operation']} needs it"
    elif name == "BATCH_PLAN_READY":
        yield from _of_plan(body)


def _of_plan(body: Mapping[str, Any]) -> Iterator[Remark]:
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


def compose(name: str, body: Mapping[str, Any]) -> str:
    """The content a sprint message travels as: `NAME: {json}`, `msg_type` first (requirements 124, 125).

    Raises:
        TeamError: `INVALID_FIELD` naming the field that is missing or wrong.
    """
    check_body(name, body)
    said = {"msg_type": name, **{key: value for key, value in body.items() if key != "msg_type"}}
    return f"{name}: {json.dumps(said, ensure_ascii=False, allow_nan=False)}"


def check_body(name: str, body: Mapping[str, Any]) -> None:
    """Refuse a body that we would send and others could not read.

    Raises:
        TeamError: `INVALID_FIELD` naming the first field that is missing, wrong or out of place.
    """
    if not KINDS[name].needs:
        raise TeamError(Code.INVALID_TYPE, f"{name} is understood on reading only", "Send a kind of the source.")
    if body.get("msg_type", name) != name:
        raise _invalid(name, "msg_type", f"says {named(body['msg_type'])}, the message is {name}")
    for code, field, text in _body_problems(name, body):
        if code in (_MALFORMED, _BUSINESS):
            raise _invalid(name, field, text)


def check_carried(content: str) -> None:
    """Refuse a plain message of ours whose `NAME: {json}` is not what it says.

    Raises:
        TeamError: `INVALID_FIELD` naming the place.
    """
    try:
        name, body = parse_carried(content)
    except ValueError as error:
        hint = "After the colon stands one JSON object."
        raise TeamError(Code.INVALID_FIELD, f"content: the JSON cannot be read: {error}", hint) from error
    if body.get("msg_type", body.get("type")) is None:
        raise _invalid(name, "msg_type", "is missing")
    check_body(name, body)


_MALFORMED = "MALFORMED"
_RESEND = "Ask the sender to send it again in the form of the protocol."
_HINTS = {
    "STORY_COUNT_MISMATCH": "Ask the scrum master which stories are missing.",
    _BUSINESS: "The slave gives the context to the new agent in TASK_ASSIGNMENT.",
}
_OWN_NAME = {
    "AGENT_CREATE_REQUEST": ("requested_by", "the sender gets the answer"),
    "TASK_ASSIGNMENT": ("report_to", "the agent will report to the one named"),
}
"""Fields that hold the sender's own name (requirement 192), and what follows when they do not."""


def body_problems(message: Message, name: str, body: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Violations by a stored sprint message of the form of its kind."""
    found = [(code, field, f"{name}: {field}: {text}") for code, field, text in _body_problems(name, body)]
    own, follows = _OWN_NAME.get(name, ("", ""))
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


def _body_problems(name: str, body: Mapping[str, Any]) -> Iterator[Remark]:
    kind = KINDS.get(name)
    if kind is None or kind.family is not Family.SPRINT or not kind.needs:
        return
    wrong = list(departures(body, kind.needs))
    yield from ((_MALFORMED, field, text) for field, text in wrong)
    if not wrong:
        yield from _remarks(name, body)


def _invalid(name: str, field: str, text: str) -> TeamError:
    fields = ", ".join(key.removesuffix("?") for key in KINDS[name].needs)
    return TeamError(Code.INVALID_FIELD, f"{name}: {field}: {text}", f"{name} has {fields}.")
