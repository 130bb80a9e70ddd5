"""A sprint message as text, `NAME: {json}`: composed, checked before sending, its problems reported on reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.kinds.bodies import BODIES
from team_console.store.protocol.reading import parse_carried


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
    if name not in BODIES:
        raise TeamError(Code.INVALID_TYPE, f"{name} is understood on reading only", "Send a kind of the source.")
    if body.get("msg_type", name) != name:
        raise _invalid(name, "msg_type", f"says {named(body['msg_type'])}, the message is {name}")
    for code, field, text in _body_problems(name, body):
        if code in (_MALFORMED, "BUSINESS_IN_CREATE_REQUEST"):
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


def body_problems(message: Message, name: str, body: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Violations by a stored sprint message of the form of its kind."""
    problems = [
        Problem(
            "BODY_INVALID" if code == _MALFORMED else code,
            "warning",
            f"{message.message_id} {field}",
            f"{name}: {field}: {text}",
            _HINTS.get(code, _RESEND),
        )
        for code, field, text in _body_problems(name, body)
    ]
    problems += _misnamed_sender(message, name, body)
    return tuple(problems)


_OWN_NAME = {
    "AGENT_CREATE_REQUEST": ("requested_by", "the sender gets the answer"),
    "TASK_ASSIGNMENT": ("report_to", "the agent will report to the one named"),
}
"""Fields that hold the sender's own name (requirement 192), and what follows when they do not."""


def _misnamed_sender(message: Message, name: str, body: Mapping[str, Any]) -> Iterator[Problem]:
    field, follows = _OWN_NAME.get(name, ("", ""))
    value = body.get(field)
    if isinstance(value, str) and value != message.sender:
        text = f"{name}: {field} says {value:.80}, the sender is {message.sender}; {follows}"
        yield Problem("BODY_INVALID", "warning", f"{message.message_id} {field}", text, _RESEND)


_MALFORMED = "MALFORMED"
_RESEND = "Ask the sender to send it again in the form of the protocol."
_HINTS = {
    "STORY_COUNT_MISMATCH": "Ask the scrum master which stories are missing.",
    "BUSINESS_IN_CREATE_REQUEST": "The slave gives the context to the new agent in TASK_ASSIGNMENT.",
}


def _body_problems(name: str, body: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    model = BODIES.get(name)
    if model is None:
        return
    try:
        fitting = model.model_validate(dict(body))
    except ValidationError as error:
        for item in error.errors(include_url=False, include_context=False, include_input=False):
            yield _MALFORMED, ".".join(map(str, item["loc"])), _words(item["type"], item["msg"])
    else:
        yield from fitting.remarks()


_SHAPES = {
    "missing": "is missing",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
}
"""What pydantic calls a departure -> what a person calls it; pydantic's own words speak of Python's types."""


def _words(type: str, message: str) -> str:
    return _SHAPES.get(type) or message[:1].lower() + message[1:]


def _invalid(name: str, field: str, text: str) -> TeamError:
    model = BODIES[name]
    return TeamError(Code.INVALID_FIELD, f"{name}: {field}: {text}", f"{name} has {', '.join(model.model_fields)}.")
