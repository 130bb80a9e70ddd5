"""The SendMessage door on a team: replies, ids, and refusals that leave nothing behind."""

from __future__ import annotations

from typing import Any

from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.sendmessage import send_document

from tests.equipment.asking import refusal
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import put
from tests.protocol.conftest import message

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
