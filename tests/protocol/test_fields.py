"""What `send` and the SendMessage form accept: the matrix of the source, the codes, the next step."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.checks import check_outgoing, problems_of
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.sendmessage import read_form

from tests.equipment.asking import refusal
from tests.equipment.cases import cases, constant
from tests.equipment.teams import make_message

VALID = constant(__file__, "VALID", dict[str, Any])
VALUES: dict[str, Any] = {"recipient": "dev", "request_id": "s-1", "approve": True}
MISSING = {
    "recipient": Code.MISSING_RECIPIENT,
    "request_id": Code.INVALID_REQUEST_ID,
    "approve": Code.APPROVE_MISSING,
}
MATRIX = constant(__file__, "MATRIX", dict[str, dict[str, bool]])
"""Seed 001 section 7.1: type -> field -> required (True) or forbidden (False)."""
CELLS = [(kind, name, required) for kind, row in MATRIX.items() for name, required in row.items()]


def unread(document: object) -> TeamError:
    error = refusal(read_form, document)
    assert error.hint
    return error


@pytest.mark.parametrize(("kind", "name", "required"), CELLS)
def test_the_matrix_decides_which_field_a_type_must_and_must_not_have(kind: str, name: str, required: bool) -> None:
    fields = {**VALID[kind], "type": kind}
    if required:
        del fields[name]
        error = unread(fields)
        assert error.code is MISSING[name]
    else:
        error = unread({**fields, name: VALUES[name]})
        assert error.code is Code.FORBIDDEN_FIELD
    assert name in error.message
    assert name in error.hint


VERDICT_DEPARTURES: list[tuple[dict[str, Any], Code]] = [
    ({"approve": "true"}, Code.INVALID_FIELD),
    ({"approve": 1}, Code.INVALID_FIELD),
    ({"approve": False}, Code.MISSING_REASON),
    ({"approve": False, "content": " "}, Code.MISSING_REASON),
    ({"request_id": ""}, Code.INVALID_REQUEST_ID),
    ({"request_id": 12}, Code.INVALID_REQUEST_ID),
    ({"content": {"reason": "no"}}, Code.INVALID_FIELD),
]
DEPARTURES: list[tuple[str, dict[str, Any], Code]] = [
    ("message", {"type": "massage"}, Code.INVALID_TYPE),
    ("message", {"type": None}, Code.INVALID_TYPE),
    ("message", {"type": ["message"]}, Code.INVALID_TYPE),
    ("message", {"type": "plan_approval_request"}, Code.INVALID_TYPE),
    ("message", {"recipient": ""}, Code.MISSING_RECIPIENT),
    ("message", {"recipient": ["dev", "ops"]}, Code.INVALID_FIELD),
    ("message", {"recipient": "all"}, Code.INVALID_FIELD),
    ("message", {"content": None}, Code.MISSING_CONTENT),
    ("message", {"content": "  "}, Code.MISSING_CONTENT),
    ("message", {"content": 7}, Code.INVALID_FIELD),
    ("message", {"summary": None}, Code.MISSING_SUMMARY),
    ("message", {"summary": ["a"]}, Code.INVALID_FIELD),
    *(
        (kind, changes, code)
        for kind in ("shutdown_response", "plan_approval_response")
        for changes, code in VERDICT_DEPARTURES
    ),
]


@pytest.mark.parametrize(("kind", "changes", "code"), DEPARTURES)
def test_what_departs_from_the_form_of_its_type_is_refused(kind: str, changes: dict[str, Any], code: Code) -> None:
    assert unread({"type": kind, **VALID[kind], **changes}).code is code
    assert unread([VALID[kind]]).code is Code.INVALID_FIELD


@cases
def test_the_newer_form_with_to_and_message_says_the_same(newer: dict[str, Any], flat: dict[str, Any]) -> None:
    assert read_form(newer) == read_form(flat)


def outgoing(type: str, payload: dict[str, Any]) -> list[str]:
    """Refused, or the violations that the sender is told."""
    check_outgoing(type=type, to=("dev",), payload=payload)
    return [problem.message for problem in problems_of(parse_message(make_message(type=type, payload=payload)))]


TEXTS = {"content": "text", "summary": "five words in this summary"}
MESSENGER = constant(__file__, "MESSENGER", dict[str, Any])


@pytest.mark.parametrize("kind", MESSENGER)
def test_a_messenger_kind_needs_each_of_its_fields(kind: str) -> None:
    assert outgoing(kind, MESSENGER[kind]) == []
    for name in MESSENGER[kind]:
        rest = {key: value for key, value in MESSENGER[kind].items() if key != name}
        error = refusal(outgoing, kind, rest)
        assert (error.code, f"payload.{name} is missing" in error.message) == (Code.INVALID_FIELD, True)


@cases
def test_what_has_a_door_of_its_own_or_none_is_not_sent_by_hand(kind: str) -> None:
    error = refusal(outgoing, kind, {**TEXTS, "request_id": "x", "approve": True})
    entry_point = KINDS[kind].entry_point if kind in KINDS else ""
    assert (error.code, entry_point in error.hint) == (Code.INVALID_TYPE, True)


@pytest.mark.parametrize("kind", ["message", "broadcast", "notify"])
def test_a_verdict_cannot_hide_in_a_kind_that_has_none(kind: str) -> None:
    assert refusal(outgoing, kind, {**TEXTS, "message": "m", "approve": True}).code is Code.FORBIDDEN_FIELD


@cases
def test_a_sprint_message_that_others_could_not_read_is_refused_with_its_place(content: str, place: str) -> None:
    error = refusal(outgoing, "message", {**TEXTS, "content": content})
    assert (error.code, place in error.message) == (Code.INVALID_FIELD, True)
