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

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, make_message, put

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
    assert answer == {
        "success": True,
        "action": "poll",
        "recipient": "code_developer",
        "messages_pending": 2,
        "messages": [
            {
                "message_id": "msg-001",
                "sender": "ceo",
                "message_type": "task_assignment",
                "payload": {"task_id": "TASK-31-1", "spec_id": "S", "priority": "high"},
                "created_at": "2025-10-26T10:30:00Z",
            },
            {
                "message_id": "msg-002",
                "sender": "ceo",
                "message_type": "dependency_unblocked",
                "payload": {"task_id": "TASK-31-2", "unblocked_by": "TASK-31-1"},
                "created_at": "2025-10-26T10:32:00Z",
            },
        ],
        "timestamp": "2026-02-24T10:30:15Z",
    }
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
    assert answer == {
        "success": True,
        "action": "send",
        "message_id": stored.message_id,
        "sender": "architect",
        "recipient": "code_developer",
        "message_type": "task_assignment",
        "status": "pending",
        "created_at": "2026-02-24T10:30:15.123Z",
    }
    assert dict(stored.payload) == payload
    assert stored.priority == "high"


@pytest.mark.parametrize(
    "document",
    [
        {"ACTION": "poll", "RECIPIENT": "architect"},
        {"action": "poll", "recipient": "architect"},
        {
            "command": "orchestrator.route-inter-agent-messages",
            "parameters": {"ACTION": "poll", "RECIPIENT": "architect"},
        },
        ["route-inter-agent-messages", {"ACTION": "poll", "RECIPIENT": "architect"}],
    ],
)
def test_every_form_of_the_invocation_is_understood(caller: Caller, document: Any) -> None:
    assert route(caller, json.loads(json.dumps(document)))["recipient"] == "architect"


@pytest.mark.parametrize(
    ("document", "code", "words"),
    [
        ({}, Code.INVALID_FIELD, "ACTION"),
        ({"ACTION": "explode"}, Code.INVALID_FIELD, "explode"),
        ({"ACTION": "poll"}, Code.MISSING_RECIPIENT, "RECIPIENT"),
        ({"ACTION": "poll", "RECIPIENT": "architekt"}, Code.AGENT_NOT_FOUND, "architekt"),
        ({"ACTION": "poll", "RECIPIENT": "../x"}, Code.INVALID_NAME, "RECIPIENT"),
        ({"ACTION": "poll", "RECIPIENT": "architect", "BATCH_SIZE": 0}, Code.INVALID_FIELD, "BATCH_SIZE"),
        ({"ACTION": "deliver", "BATCH_SIZE": True}, Code.INVALID_FIELD, "BATCH_SIZE"),
        ({"ACTION": "deliver", "RECIPIENT": "architekt"}, Code.AGENT_NOT_FOUND, "architekt"),
        ({"ACTION": "send", "RECIPIENT": "architect", "PAYLOAD": {"task_id": "T"}}, Code.INVALID_TYPE, "MESSAGE_TYPE"),
        ({"ACTION": "poll", "RECIPIENT": "architect", "BATCHSIZE": 5}, Code.INVALID_FIELD, "BATCHSIZE"),
        ({"ACTION": "clear", "OLDER_THAN_DAYS": "7"}, Code.INVALID_FIELD, "OLDER_THAN_DAYS"),
        ({"ACTION": "send", "RECIPIENT": "architect", "PAYLOAD": "text"}, Code.INVALID_FIELD, "PAYLOAD"),
        (["spawn-agent-session", {"ACTION": "poll"}], Code.INVALID_FIELD, "spawn-agent-session"),
        ("poll", Code.INVALID_FIELD, "document"),
        (None, Code.INVALID_FIELD, "document"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(
    team: MemoryTeam, caller: Caller, document: Any, code: Code, words: str
) -> None:
    with pytest.raises(TeamError) as caught:
        route(caller, document)
    assert caught.value.code is code
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
