"""What a stored message says, and what is reported when it does not say it properly."""

from __future__ import annotations

import pytest
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.checks import problems_of
from team_console.store.protocol.kinds import UNKNOWN, RequestKind
from team_console.store.protocol.parsing import parse_message

from tests.equipment.cases import cases
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
