"""Whatever stands in a stored message, reading it neither fails nor decides by accident."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from team_console.store.model.errors import TeamError
from team_console.store.model.message import from_record
from team_console.store.protocol.checks import check_outgoing, problems_of
from team_console.store.protocol.kinds import KINDS, Family
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.team_rules import direction_problems
from team_console.store.protocol.verdicts import Seal, message_seal
from team_console.store.service.sendmessage import read_form

from tests.equipment.cases import cases
from tests.protocol.conftest import SPRINT_BODIES, message

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
BODIES = st.dictionaries(NAMES | st.text(max_size=8), VALUES, max_size=8)


def refusal(call: Callable[[], object]) -> TeamError | None:
    try:
        call()
    except TeamError as error:
        return error
    return None


@pytest.mark.slow
@given(kind=st.sampled_from(sorted(KINDS)), payload=BODIES)
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
@given(kind=st.sampled_from(sorted(KINDS)), payload=BODIES)
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
