"""What a stored message says, what is reported when it does not say it properly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.checks import check_outgoing, problems_of, summary_warnings
from team_console.store.protocol.kinds import KINDS, UNKNOWN, Family, RequestKind
from team_console.store.protocol.message_seal import Seal, message_seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.rights import direction_problems
from team_console.store.protocol.secrets_in_text import secret_warnings
from team_console.store.protocol.sprint_in_text import parse_carried
from team_console.store.service.sendmessage import read_form

from tests.equipment.cases import cases, constant
from tests.protocol.conftest import SPRINT_BODIES, carried, message

BODIES = {body["msg_type"]: body for body in SPRINT_BODIES}


def codes(message: Message) -> list[str]:
    return [problem.code for problem in problems_of(parse_message(message))]


@pytest.mark.parametrize("body", SPRINT_BODIES, ids=lambda body: str(body["msg_type"]))
def test_every_format_of_the_sprint_source_is_read_without_a_departure_but_its_own_miscount(
    body: dict[str, object],
) -> None:
    read = parse_message(carried(body))
    assert read.name == body["msg_type"]
    assert dict(read.body) == body
    assert codes(carried(body)) == (["STORY_COUNT_MISMATCH"] if read.name == "BATCH_PLAN_READY" else [])


@pytest.mark.parametrize(
    "tail",
    [
        "{",
        "no json",
        '{"agent_name": NaN}',
        '["AGENT_CREATED"]',
        '{"msg_type": "AGENT_CREATED"} and more',
        '{"agent_name": "a", "agent_name": "b"}',
        '{"a":' * 100_000,
        '{"a":' + "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ],
)
def test_json_that_cannot_be_read_is_reported_and_decides_nothing(tail: str) -> None:
    read = parse_message(message(f"AGENT_CREATED: {tail}"))
    assert (read.kind, read.approve, dict(read.body)) == (UNKNOWN, None, {})
    [problem] = problems_of(read)
    assert (problem.code, problem.severity) == ("BODY_INVALID", "error")
    assert problem.place.startswith("MSG-20260224-aaaaaaaa")


@cases
def test_what_is_well_formed_and_still_odd_is_reported(
    name: str, changes: dict[str, object], places: list[str]
) -> None:
    found = problems_of(parse_message(carried({**BODIES[name], **changes})))
    assert [problem.place.partition(" ")[2] for problem in found] == places


@cases
def test_a_verdict_without_a_word_or_without_a_reason_is_reported(
    payload: dict[str, object], place: str, severity: str
) -> None:
    stored = message("", type="shutdown_response", payload={"request_id": "s-1", **payload})
    [problem] = problems_of(parse_message(stored))
    assert (problem.code, problem.severity) == ("BODY_INVALID", severity)
    assert problem.place.endswith(f" payload.{place}")


def test_a_sprint_kind_as_a_type_of_its_own_is_understood_and_reported() -> None:
    record = {
        "message_id": "m",
        "type": "DEBUG_REQUEST",
        "from": "a",
        "to": "debugger",
        "payload": BODIES["DEBUG_REQUEST"],
    }
    read = parse_message(from_record(record))
    assert read.opens is RequestKind.DEBUG
    assert [problem.place for problem in problems_of(read)] == ["m type"]


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
NAMES = st.sampled_from(
    sorted(
        {name for body in SPRINT_BODIES for name in body}
        | {"content", "summary", "approve", "approved", "request_id", "requestId", "in_reply_to", "next_actions"}
    )
)
HOSTILE_BODIES = st.dictionaries(NAMES | st.text(max_size=8), VALUES, max_size=8)


def refusal(call: Callable[[], object]) -> TeamError | None:
    try:
        call()
    except TeamError as error:
        return error
    return None


@pytest.mark.slow
@given(kind=st.sampled_from(sorted(KINDS)), payload=HOSTILE_BODIES)
@settings(max_examples=50)
def test_any_payload_of_any_kind_is_read(kind: str, payload: dict[str, Any]) -> None:
    stored = from_record({"message_id": "m", "type": kind, "from": "a", "to": "b", "payload": payload})
    if KINDS[kind].family is Family.SPRINT:
        stored = message(f"{kind}: {json.dumps({**payload, 'msg_type': kind})}")
    read = parse_message(stored)
    assert read.name == kind
    assert all(problem.place and problem.message for problem in problems_of(read))
    assert read.approve in (True, False, None)
    assert read.request_id is None or read.request_id
    direction_problems(stored, {}, "a")
    assert read.subject is None or isinstance(read.subject, str)
    assert message_seal(stored, b"key") is Seal.UNSIGNED


@pytest.mark.slow
@given(kind=st.sampled_from(sorted(KINDS)), payload=HOSTILE_BODIES)
@settings(max_examples=50)
def test_any_payload_is_sent_or_refused_with_a_hint(kind: str, payload: dict[str, Any]) -> None:
    error = refusal(lambda: check_outgoing(type=kind, to=("dev",), payload=payload))
    assert error is None or error.hint


@cases
def test_a_body_near_the_limit_of_nesting_is_read_or_reported(depth: int) -> None:
    deep: Any = "x"
    for _ in range(depth):
        deep = [deep]
    body = f'{{"msg_type": {"[" * depth}1{"]" * depth}, "agent_name": 1}}'
    assert [problem.severity for problem in problems_of(parse_message(message(f"AGENT_CREATED: {body}")))] == ["error"]
    for field in ("approve", "type", "recipient", "content"):
        with pytest.raises(TeamError):
            read_form({"type": "message", "recipient": "dev", "content": "c", "summary": "s", field: deep})


@pytest.mark.slow
def test_a_key_that_stands_twice_behind_very_many_others_is_found_at_once() -> None:
    """Each key was looked for among all others: a message within the limit kept every reader busy for a minute."""
    pairs = ",".join(f"{json.dumps(f'k{number}')}:1" for number in range(60_000))
    with pytest.raises(ValueError, match="k59999 stands twice"):
        parse_carried(f'AGENT_CREATED: {{{pairs},"k59999":2}}')


def test_how_long_a_text_without_spaces_is_cannot_be_told_and_is_not() -> None:
    assert summary_warnings("ขออนุมัติแผนงานสำหรับรายงานประจำเดือนนี้", language="any") == []
    assert summary_warnings("ขออนุมัติแผน", language="zh") == ["summary: it is not in the team's language (zh)"]


ROLES = constant(__file__, "ROLES", dict[str, str])


@cases
def test_a_direction_is_judged_where_the_roles_are_known(name: str, sender: str, to: str, expected: list[str]) -> None:
    problems = direction_problems(carried(BODIES[name], sender=sender, to=to), ROLES, "master")
    assert [problem.code for problem in problems] == expected


@cases
def test_a_secret_is_warned_about_with_its_line_and_not_repeated(secret: str) -> None:
    warnings = secret_warnings(f"first line\nhere it is: {secret}\n")
    assert warnings
    assert all("line 2" in warning for warning in warnings)
    assert not any(secret[-6:] in warning for warning in warnings)


@cases
def test_ordinary_text_is_not_warned_about(text: str) -> None:
    assert secret_warnings(text) == []
