"""Rules that a message keeps or breaks by itself, whoever is in the team: its frame, its fields, its body.

One implementation for both readers: `check` reports what is on record, the desk tells the sender before it is there.
Rules that need to know the team are in `team_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from team_console.store.model.message import ADDRESS_KEYS, UNADDRESSED, Message
from team_console.store.model.problem import Problem
from team_console.store.protocol.checks.fields import ASKED, EXPECTED, REQUIRED, WANTED
from team_console.store.protocol.client_requests import answers_of, expiry_of
from team_console.store.protocol.kinds.kind import Family, RequestKind
from team_console.store.protocol.kinds.registry import CARRIERS
from team_console.store.protocol.reading import Reading

_VERDICTS = ("shutdown_response", "plan_approval_response", "permission_response", "question_response")
_NEEDED = {**REQUIRED, **ASKED}


def problems_of(read: Reading) -> tuple[Problem, ...]:
    """Violations by one message of its protocol, with place and next step; remembered per reading."""
    if read.kind is None:
        return read.frame_problems
    if read.kind.family is Family.SPRINT:
        return read.frame_problems + _body_problems(read)
    return read.frame_problems + record_problems(read)


def record_problems(read: Reading) -> tuple[Problem, ...]:
    """Violations of their fields by a record of the SendMessage, Messenger and Router kinds."""
    message, kind = read.message, read.message.type
    if message.is_letter and kind in CARRIERS:
        return ()
    found = [*_unaddressed(message), *_required(message), *_expected(message)]
    if kind in CARRIERS:
        found += _texts(message)
    elif kind in _VERDICTS:
        found += _verdict(read)
    elif kind in ASKED:
        found += _expiry(read)
    return tuple(found)


def self_addressed(message: Message) -> Iterator[Problem]:
    """A message that goes to its own sender and to nobody else."""
    if message.recipients == (message.sender,):
        text = f"{message.sender} writes to itself"
        yield Problem("SELF_ADDRESSED", "notice", message.message_id, text, "A reaction of one's own needs no message.")


@lru_cache(maxsize=8192)
def _body_problems(read: Reading) -> tuple[Problem, ...]:
    # Checking a body imports pydantic, about 100 ms that a start without sprint messages must not pay.
    from team_console.store.protocol.checks.sprint_text import body_problems

    return body_problems(read.message, read.name, read.body)


def _required(message: Message) -> Iterator[Problem]:
    for name, check in _NEEDED.get(message.type, {}).items():
        value = message.payload.get(name)
        if not check(value):
            yield _departure(message, name, "is missing" if value is None else f"is not {WANTED[check]}", "warning")


def _unaddressed(message: Message) -> Iterator[Problem]:
    if message.type in UNADDRESSED and not any(message.record.get(key) for key in ADDRESS_KEYS):
        text = f"{message.type} names no recipient; it is taken as one to {', '.join(message.recipients)}"
        yield Problem("NO_RECIPIENT", "notice", message.message_id, text, "Give it a recipient if another is meant.")


def _expected(message: Message) -> Iterator[Problem]:
    usual = EXPECTED.get(message.type, ())
    lacking = ", ".join(name for name in usual if message.payload.get(name) is None)
    if lacking:
        yield _departure(message, lacking, f"is missing; it usually carries {', '.join(usual)}", "notice")


def _texts(message: Message) -> Iterator[Problem]:
    for name, severity in (("content", "warning"), ("summary", "notice")):
        if not message.payload.get(name):
            yield _departure(message, name, "is missing", severity)


def _verdict(read: Reading) -> Iterator[Problem]:
    message = read.message
    if read.request_id is None:
        yield _departure(message, "request_id", "is missing, so it answers nothing", "error")
    if read.approve is None:
        yield _departure(message, "approve", "is neither true nor false, so it decides nothing", "error")
    if read.answers is RequestKind.QUESTION and read.approve and not answers_of(read.body):
        yield _departure(message, "answers", "is missing, so it decides nothing", "error")
    if read.approve is False and not any(message.payload.get(name) for name in ("content", "reason", "feedback")):
        yield _departure(message, "content", "gives no reason for the refusal", "warning")


def _expiry(read: Reading) -> Iterator[Problem]:
    if read.body.get("expires") is not None and expiry_of(read.opens, read.body) is None:
        yield _departure(read.message, "expires", "is not a time, so it never ends by itself", "warning")


def _departure(message: Message, name: str, what: str, severity: str) -> Problem:
    hint = f"Ask {message.sender} to send it again with {name}."
    return Problem(
        "BODY_INVALID", severity, f"{message.message_id} payload.{name}", f"{message.type}: {name} {what}", hint
    )
