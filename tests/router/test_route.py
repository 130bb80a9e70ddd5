"""The orchestrator's JSON: seed 003's documents give exactly its fields (requirements 206-210, 228-237, 249)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import from_record
from team_console.store.service.caller import Caller
from team_console.store.service.orchestrator import read_document, route

from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, make_message, put

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
"""The fields of the source, by action."""
POLL = """invoke_command("route-inter-agent-messages", {
    "ACTION": "poll",
    "RECIPIENT": "code_developer",
    "BATCH_SIZE": 10
})"""


def _seed_messages(team: MemoryTeam) -> None:
    for message_id, kind, payload, created in (
        ("msg-002", "dependency_unblocked", {"task_id": "TASK-31-2", "unblocked_by": "TASK-31-1"}, "10:32:00"),
        ("msg-001", "task_assignment", {"task_id": "TASK-31-1", "spec_id": "S", "priority": "high"}, "10:30:00"),
    ):
        record = {"message_id": message_id, "type": kind, "from": "ceo", "to": "code_developer"}
        put(team, from_record({**record, "created": f"2025-10-26T{created}Z", "payload": payload}))


def test_poll_answers_with_the_fields_of_the_source_oldest_first(
    team: MemoryTeam, caller: Caller, clock: FakeClock
) -> None:
    _seed_messages(team)
    answer = route(caller, read_document(POLL))
    assert answer == ANSWERS["poll"]
    assert [message.status for message in team.snapshot().messages] == ["pending", "pending"]


def test_poll_is_limited_to_the_batch_size_and_still_counts_all(team: MemoryTeam, caller: Caller) -> None:
    put(team, *[make_message(number, to="architect") for number in range(1, 15)])
    for number, status in enumerate(("delivered", "failed", "read", "expired"), start=20):
        put(team, make_message(number, to="architect").with_changes(status=status))
    answer = route(caller, {"ACTION": "poll", "RECIPIENT": "architect"})
    assert (len(answer["messages"]), answer["messages_pending"]) == (10, 14)


def test_send_answers_with_the_fields_of_the_source(team: MemoryTeam, caller: Caller) -> None:
    payload = {"task_id": "TASK-31-1", "spec_id": "SPEC-031", "priority": "high"}
    document = {
        **{"ACTION": "send", "SENDER": "architect", "RECIPIENT": "code_developer"},
        **{"MESSAGE_TYPE": "task_assignment", "PAYLOAD": payload},
    }
    answer = route(caller, document)
    (stored,) = team.snapshot().messages
    (warning,) = answer.pop("warnings")
    assert "architect is not the orchestrator" in warning
    assert answer == {**ANSWERS["send"], "message_id": stored.message_id}
    assert dict(stored.payload) == payload
    assert stored.priority == "high"


@cases
def test_every_form_of_the_invocation_is_understood(caller: Caller, document: Any) -> None:
    assert route(caller, json.loads(json.dumps(document)))["recipient"] == "architect"


REFUSED = Path(__file__).with_name("refused.jsonl").read_text().splitlines()
"""Documents, the code of each refusal, and a word of its message."""


@pytest.mark.parametrize(("document", "code", "words"), [json.loads(line) for line in REFUSED])
def test_what_is_not_understood_is_refused_by_name(
    team: MemoryTeam, caller: Caller, document: Any, code: str, words: str
) -> None:
    with pytest.raises(TeamError) as caught:
        route(caller, document)
    assert str(caught.value.code) == code
    assert words in caught.value.message
    assert team.audit() == []


@pytest.mark.parametrize(
    "text",
    [
        "{'ACTION': 'clear', 'ACTION': 'poll', 'RECIPIENT': 'a'}",
        "{'ACTION': __import__('os').getcwd()}",
        "{'ACTION': {1, 2}}",
        "{'ACTION': b'poll'}",
        "{**{'ACTION': 'poll'}}",
        "{'A': 1e999}",
        "{'a': " * 50_000,
    ],
)
def test_what_is_no_plain_literal_is_one_error(text: str) -> None:
    with pytest.raises(TeamError) as caught:
        read_document(text)
    assert caught.value.code is Code.INVALID_FIELD


def test_a_batch_bounds_what_is_delivered_and_the_rest_is_named(team: MemoryTeam, caller: Caller, folder: Path) -> None:
    recipients = ("architect", "runner", "architect", "runner")
    put(team, *[make_message(number, to=to) for number, to in enumerate(recipients, start=1)])
    answer = route(caller, {"ACTION": "deliver", "BATCH_SIZE": 2})
    assert (answer["messages_delivered"], answer["messages_skipped"]) == (2, 2)
    assert {item["reason"] for item in answer["skipped"]} == {"not in this batch"}
    assert [message.status for message in team.snapshot().messages] == ["delivered", "delivered", "pending", "pending"]
    assert route(caller, {"ACTION": "deliver"})["messages_delivered"] == 2
