"""The SendMessage door on a team: replies, ids, and refusals that leave nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.requests import submit_plan
from team_console.store.service.sendmessage import submit

from tests.memory_team import MemoryTeam
from tests.protocol.conftest import SENDMESSAGE_DOCUMENTS, message
from tests.store.contract import FakeClock, put

ASKED = {
    "abc-123": "plan_approval_request",
    "req-001": "shutdown_request",
    "req-002": "shutdown_request",
    "req-003": "shutdown_request",
    "plan-001": "plan_approval_request",
}


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
    with pytest.raises(TeamError) as caught:
        submit(Caller(team, actor), document)
    assert team.snapshot().revision == before
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("number", range(len(SENDMESSAGE_DOCUMENTS)))
def test_every_document_of_the_source_is_sent_as_it_stands(office: MemoryTeam, number: int) -> None:
    document = SENDMESSAGE_DOCUMENTS[number]["document"]
    kind = document["type"]
    wanted = {"shutdown_response": "shutdown_request", "plan_approval_response": "plan_approval_request"}.get(kind)
    if wanted:
        asked(office, document["request_id"], wanted)
    actor = "task-manager" if kind == "shutdown_response" else "ceo"
    reply = submit(Caller(office, actor), document)
    assert reply["success"] is True
    assert reply["routing"]["sender"] == actor
    assert reply["routing"].get("content") == document.get("content")
    assert reply["routing"].get("summary") == document.get("summary")
    stored = office.snapshot().messages[-1]
    assert (stored.type, stored.sender, stored.content) == (kind, actor, document.get("content", ""))
    assert reply["message_id"]


def test_a_message_is_answered_with_its_routing_and_id(office: MemoryTeam) -> None:
    document = {"type": "message", "recipient": "task-manager", "content": "查询", "summary": "查询任务状态"}
    reply = submit(Caller(office, "ceo"), document)
    [stored] = office.snapshot().messages
    assert reply["message"] == "Message written to task-manager's inbox"
    assert reply["routing"] == {
        "sender": "ceo",
        "target": "task-manager",
        "summary": "查询任务状态",
        "content": "查询",
    }
    assert (reply["message_id"], reply["status"], reply["warnings"]) == (stored.message_id, "pending", [])


def test_a_broadcast_names_every_recipient_and_each_delivery(office: MemoryTeam) -> None:
    document = {"type": "broadcast", "content": "启动", "summary": "项目 PROJ-001 启动通知"}
    reply = submit(Caller(office, "ceo"), document)
    others = ["task-manager", "schedule-manager", "file-manager", "knowledge-manager"]
    assert sorted(reply["recipients"]) == sorted(others)
    assert reply["routing"]["target"] == "@team"
    assert {row["recipient"] for row in reply["deliveries"]} == set(others)
    assert {item.type for item in office.snapshot().messages} == {"broadcast"}


def test_a_shutdown_request_is_answered_with_the_id_its_answer_must_quote(office: MemoryTeam) -> None:
    reply = submit(Caller(office, "ceo"), {"type": "shutdown_request", "recipient": "file-manager"})
    assert reply["request_id"].startswith("shutdown-")
    assert reply["request_id"].endswith("@file-manager")
    assert reply["target"] == "file-manager"
    answer = {"type": "shutdown_response", "request_id": reply["request_id"], "approve": True}
    submit(Caller(office, "file-manager"), answer)
    stored = office.snapshot().messages[-1]
    assert (stored.type, stored.recipients, stored.payload["approve"]) == ("shutdown_response", ("ceo",), True)


def test_a_shutdown_response_goes_to_the_one_who_asked(office: MemoryTeam) -> None:
    asked(office, "req-001", "shutdown_request")
    document = {"type": "shutdown_response", "request_id": "req-001", "approve": False, "content": "还有 3 个任务"}
    reply = submit(Caller(office, "task-manager"), document)
    assert reply["routing"]["target"] == "ceo"
    assert office.snapshot().messages[-1].recipients == ("ceo",)


def test_a_rejected_plan_comes_back_to_its_author_with_the_feedback(office: MemoryTeam) -> None:
    plan = submit_plan(Caller(office, "task-manager"), content="1. 拆分", summary="重构报表生成器")
    document = {
        "type": "plan_approval_response",
        "request_id": plan.request_id,
        "recipient": "task-manager",
        "approve": False,
        "content": "请添加错误处理逻辑",
    }
    reply = submit(Caller(office, "ceo"), document)
    assert reply["request_id"] == plan.request_id
    stored = office.snapshot().messages[-1]
    assert (stored.recipients, stored.content, stored.payload["approve"]) == (
        *(("task-manager",), "请添加错误处理逻辑"),
        False,
    )


@pytest.mark.parametrize(
    ("actor", "document", "code"),
    [
        ("ceo", {"type": "shutdown_response", "request_id": "req-404", "approve": True}, Code.INVALID_REQUEST_ID),
        ("ceo", {"type": "shutdown_response", "request_id": "plan-001", "approve": True}, Code.INVALID_REQUEST_ID),
        (
            "ceo",
            {"type": "plan_approval_response", "request_id": "req-001", "recipient": "task-manager", "approve": True},
            Code.INVALID_REQUEST_ID,
        ),
        (
            "ceo",
            {"type": "plan_approval_response", "request_id": "plan-001", "recipient": "file-manager", "approve": True},
            Code.INVALID_REQUEST_ID,
        ),
        ("file-manager", {"type": "shutdown_response", "request_id": "req-001", "approve": True}, Code.NOT_PERMITTED),
        (
            "task-manager",
            {"type": "plan_approval_response", "request_id": "plan-001", "recipient": "task-manager", "approve": True},
            Code.NOT_PERMITTED,
        ),
        ("task-manager", {"type": "shutdown_request", "recipient": "file-manager"}, Code.NOT_PERMITTED),
        ("ceo", {"type": "message", "recipient": "task-manger", "content": "c", "summary": "s"}, Code.AGENT_NOT_FOUND),
        ("ceo", {"type": "message", "recipient": "../etc", "content": "c", "summary": "s"}, Code.INVALID_NAME),
    ],
)
def test_what_cannot_be_right_is_refused_and_nothing_is_written(
    office: MemoryTeam, actor: str, document: dict[str, Any], code: Code
) -> None:
    for request_id, kind in ASKED.items():
        asked(office, request_id, kind)
    assert refused(office, actor, document).code is code


def test_an_unknown_recipient_is_refused_with_the_nearest_name(office: MemoryTeam) -> None:
    document = {"type": "message", "recipient": "task-manger", "content": "c", "summary": "s"}
    assert "task-manager" in refused(office, "ceo", document).hint


def test_a_second_answer_is_told_who_answered_and_when(office: MemoryTeam, clock: FakeClock) -> None:
    asked(office, "req-001", "shutdown_request")
    document = {"type": "shutdown_response", "request_id": "req-001", "approve": True}
    submit(Caller(office, "task-manager"), document)
    answered_at = office.snapshot().messages[-1].created
    clock.advance(60)
    error = refused(office, "task-manager", {**document, "approve": False, "content": "还没完"})
    assert error.code is Code.ALREADY_ANSWERED
    assert (error.facts["answered_by"], error.facts["answered_at"]) == ("task-manager", answered_at)
    assert "task-manager" in error.message
    assert answered_at in error.message


def test_a_summary_outside_the_rules_and_an_unknown_field_warn_and_are_sent(office: MemoryTeam) -> None:
    document = {"type": "message", "recipient": "task-manager", "content": "c", "summary": "你好", "urgency": 3}
    warnings = " ".join(submit(Caller(office, "ceo"), document)["warnings"])
    assert "greets" in warnings
    assert "urgency" in warnings
    assert len(office.snapshot().messages) == 1


def test_a_secret_warns_without_being_repeated(office: MemoryTeam) -> None:
    document = {
        "type": "message",
        "recipient": "task-manager",
        "content": "password = hunter22",
        "summary": "创建新任务：财务报表",
    }
    warnings = " ".join(submit(Caller(office, "ceo"), document)["warnings"])
    assert "password" in warnings
    assert "hunter22" not in warnings
