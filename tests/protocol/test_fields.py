"""What `send` and the SendMessage form accept: the matrix of the source, forms near to it, and the next step."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.checks import check_outgoing, problems_of
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.parsing import parse_message
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.service.route_json import route
from team_console.store.service.sendmessage import read_form, send_document
from team_console.store.views.projection import view_of
from team_console.store.views.rows import View

from tests.equipment.asking import refusal
from tests.equipment.cases import cases, constant
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import make_message, put
from tests.protocol.conftest import SPRINT_BODIES, message

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


@cases
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


ASKED = constant(__file__, "ASKED", dict[str, str])


def asked(team: MemoryTeam, request_id: str, kind: str) -> None:
    """A question with the id that the documents of the source quote."""
    plan = kind == "plan_approval_request"
    question = message(
        message_id=f"MSG-{request_id}",
        type=kind,
        sender="task-manager" if plan else "ceo",
        to="ceo" if plan else "task-manager",
        payload={"request_id": request_id},
    )
    put(team, question)


def refused(team: MemoryTeam, actor: str, document: object) -> TeamError:
    before = team.snapshot().revision
    error = refusal(send_document, Caller(team, actor), document)
    assert (team.snapshot().revision, bool(error.hint)) == (before, True)
    return error


@cases
def test_what_cannot_be_right_is_refused_and_nothing_is_written(
    office: MemoryTeam, actor: str, document: dict[str, Any], code: Code
) -> None:
    for request_id, kind in ASKED.items():
        asked(office, request_id, kind)
    assert refused(office, actor, document).code is code


def test_a_summary_outside_the_rules_and_an_unknown_field_warn_and_are_sent(office: MemoryTeam) -> None:
    document = {"type": "message", "recipient": "task-manager", "content": "c", "summary": "你好", "urgency": 3}
    warnings = " ".join(send_document(Caller(office, "ceo"), document)["warnings"])
    assert "greets" in warnings
    assert "urgency" in warnings
    assert len(office.snapshot().messages) == 1


MASTER, SLAVE, SUMMARY = "master", "slave-batch-1", "one two three four five"
BODIES: dict[str, dict[str, object]] = {
    **{str(body["msg_type"]): body for body in SPRINT_BODIES},
    **constant(__file__, "MORE_BODIES", dict[str, dict[str, object]]),
}
ASKS = ("AGENT_CREATE_REQUEST", "AGENT_DESTROY_REQUEST", "SLAVE_BATCH_COMPLETE")
"""Kinds on which the lead decides."""
OTHERS = ("AGENT_ROSTER_BROADCAST", "AGENT_CREATED", "AGENT_COMPLETE", "DEBUG_REQUEST")
LONG = "A paragraph that says how the day went. " * 20

FORMS = constant(__file__, "FORMS", tuple[str, ...])
"""Texts around a sprint message that are near to its form."""


def formed(form: str, name: str, body: str) -> str:
    """A sprint message in a form."""
    small, words = name.lower(), name.title().replace("_", " ")
    return form.format(name=name, body=body, small=small, words=words, small_body=body.replace(name, small), long=LONG)


def written(team: MemoryTeam, name: str) -> list[str]:
    """Put a sprint message into the queue in each form, and as an object; return the ids."""
    contents = [*(formed(form, name, json.dumps(BODIES[name])) for form in FORMS), BODIES[name]]
    messages = [message(message_id=f"N{number}", payload={"content": told}) for number, told in enumerate(contents)]
    put(team, *messages)
    return [message.message_id for message in messages]


def view(team: MemoryTeam) -> View:
    return view_of(team.snapshot(), me=MASTER, now=team.clock())


def near(found: View) -> list[str]:
    """The ids of messages in a near form, as `check` has them."""
    return [finding.place.split()[0] for finding in found.findings if finding.code == "NEAR_FORM"]


@pytest.mark.parametrize("name", ASKS)
def test_what_the_lead_must_decide_is_a_request_in_any_form_and_the_form_a_finding(
    name: str, sprint: MemoryTeam
) -> None:
    ids = written(sprint, name)
    assert sorted(row.question.message_id for row in view(sprint).requests) == sorted(ids)
    assert near(view(sprint)) == ids
    requests.reject(Caller(sprint, MASTER), request_id=ids[-1], reason="not now")


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_kind_stays_a_text_and_is_a_finding(name: str, sprint: MemoryTeam) -> None:
    before = [row.name for row in view(sprint).roster]
    ids = written(sprint, name)
    assert (view(sprint).requests, near(view(sprint))) == ((), ids)
    assert [row.name for row in view(sprint).roster] == before


def by_send(caller: Caller, content: str) -> Sequence[str]:
    return sending.send(caller, to=MASTER, content=content, summary=SUMMARY).warnings


def by_sendmessage(caller: Caller, content: str) -> Sequence[str]:
    document = {"type": "message", "recipient": MASTER, "content": content, "summary": SUMMARY}
    warnings: Sequence[str] = send_document(caller, document)["warnings"]
    return warnings


def by_route(caller: Caller, content: str) -> Sequence[str]:
    parts = {"SENDER": SLAVE, "RECIPIENT": MASTER, "MESSAGE_TYPE": "message"}
    payload = {"content": content, "summary": SUMMARY}
    warnings: Sequence[str] = route(caller, {"ACTION": "send", **parts, "PAYLOAD": payload})["warnings"]
    return warnings


@pytest.mark.parametrize("door", [by_send, by_sendmessage, by_route])
def test_the_sender_is_told_at_once(door: Callable[[Caller, str], Sequence[str]], sprint: MemoryTeam) -> None:
    for name in ("AGENT_CREATE_REQUEST", "AGENT_COMPLETE"):
        for form in FORMS:
            told = door(Caller(sprint, SLAVE), formed(form, name, json.dumps(BODIES[name])))
            assert any(name in line and ("not in the form" in line or "plain text" in line) for line in told), told
    assert [row.kind for row in view(sprint).requests] == ["create"] * len(FORMS)


QUOTED = constant(__file__, "QUOTED", tuple[str, ...])


@pytest.mark.parametrize("name", ["AGENT_CREATE_REQUEST", "AGENT_ROSTER_BROADCAST"])
def test_quoted_prose_asks_for_nothing_and_makes_no_roster(name: str, sprint: MemoryTeam) -> None:
    before = [row.name for row in view(sprint).roster]
    quoted = f"{name.lower()}: {json.dumps(BODIES[name])}"
    put(sprint, *(message(words.format(quoted), message_id=f"N{number}") for number, words in enumerate(QUOTED)))
    assert view(sprint).requests == ()
    assert [row.name for row in view(sprint).roster] == before


def test_a_field_that_is_missing_is_refused_in_any_form(sprint: MemoryTeam) -> None:
    body = json.dumps({"msg_type": "AGENT_CREATE_REQUEST", "agent_type": "story-creator"})
    for form in FORMS:
        refused = refusal(by_send, Caller(sprint, SLAVE), formed(form, "AGENT_CREATE_REQUEST", body))
        assert refused.code is Code.INVALID_FIELD
