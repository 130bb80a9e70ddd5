"""The JSON objects of the looking verbs: exactly the fields of the contract, and more."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from team_console.store.contract.team import Condition, LockHolder
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Problem
from team_console.store.views.projection import view_of
from team_console.store.views.rows import View
from team_console.store.views.status import check_json, request_json, roster_json, status_json

from tests.memory_team import MemoryTeam
from tests.views.chronicle import LEAD, Chronicle, snapshot_of


def test_requests_have_the_fields_of_the_contract() -> None:
    story = Chronicle()
    story.plan()
    story.verdict(approve=False, content="No tests")
    story.stop()
    view = story.view(after=20)
    (open_one, answered) = [request_json(row, view.now) for row in view.requests]
    assert open_one["state"] == "overdue"
    assert open_one["flags"] == ["overdue"]
    assert open_one["waiting_seconds"] == 20.0
    contract = {
        "request_id": "plan-1",
        "kind": "plan",
        "from": "task-manager",
        "to": LEAD,
        "message_id": "m1",
        "state": "rejected",
        "asked_at": "2026-02-24T10:00:01.000Z",
        "waiting_seconds": 1.0,
        "answered_at": "2026-02-24T10:00:02.000Z",
        "answered_by": LEAD,
        "reason": "No tests",
        "flags": [],
    }
    assert {key: answered[key] for key in contract} == contract


def test_the_roster_has_the_fields_of_the_contract() -> None:
    story = Chronicle()
    story.say(LEAD, "task-manager")
    agents = {item["name"]: item for item in roster_json(story.view(after=59))["agents"]}
    contract = {
        "name": "task-manager",
        "role": "member",
        "state": "unknown",
        "plan_mode_required": True,
        "unread": 1,
        "oldest_unread_seconds": 59.0,
        "last_seen": None,
    }
    assert {key: agents["task-manager"][key] for key in contract} == contract
    assert agents[LEAD]["last_seen"] == "2026-02-24T10:00:01.000Z"


def _status(view: View) -> dict[str, object]:
    return status_json(view, MemoryTeam(name="trial", read_only=True))


def test_the_status_has_the_fields_of_the_contract() -> None:
    story = Chronicle()
    story.plan()
    story.say("mallory", "debugger", status="read")
    contract = {
        "team": "sprint-42",
        "location": "memory:trial",
        "backend": "memory",
        "read_only": True,
        "condition": "ok",
        "agents": 7,
        "messages": {"pending": 1, "read": 1},
        "needs_you": 1,
        "last_change": "2026-02-24T10:00:00.000Z",
    }
    status = _status(story.view())
    assert {key: status[key] for key in contract} == contract
    assert isinstance(status["problems"], int)


@pytest.mark.parametrize("condition", Condition)
def test_the_status_names_the_condition_of_the_store(condition: Condition) -> None:
    snapshot = snapshot_of((), condition=condition)
    assert _status(view_of(snapshot, me=LEAD, now=Chronicle().now))["condition"] == str(condition)


@pytest.mark.parametrize(("seconds", "condition"), [(0.1, "ok"), (5.0, "locked")])
def test_a_lock_held_longer_than_a_write_takes_is_a_condition(seconds: float, condition: str) -> None:
    story = Chronicle()
    story.plan()
    view = story.view()
    holder = LockHolder(7, "host", to_text(view.now - timedelta(seconds=seconds)), "send", True)
    held = replace(view, snapshot=replace(view.snapshot, holder=holder))
    assert _status(held)["condition"] == condition


@pytest.mark.parametrize("since", ["", "not a time"])
def test_a_lock_of_unknown_age_is_taken_for_one_that_blocks(since: str) -> None:
    view = Chronicle().view()
    held = replace(view, snapshot=replace(view.snapshot, holder=LockHolder(7, "host", since, "send", None)))
    status = _status(held)
    assert status["condition"] == "locked"
    assert status["lock"] == {"pid": 7, "host": "host", "since": since, "action": "send", "alive": None}


@pytest.mark.parametrize("code", ["ROLLED_BACK", "FOREIGN_WRITE"])
def test_a_queue_that_somebody_else_wrote_is_in_doubt_and_not_empty(code: str) -> None:
    problem = Problem(code, "error", "message-queue.yaml", "somebody took 2 messages out", "Write again.")
    snapshot = replace(snapshot_of((), condition=Condition.EMPTY, problems=(problem,)), missing=frozenset(("a", "b")))
    status = _status(view_of(snapshot, me=LEAD, now=Chronicle().now))
    assert (status["condition"], status["missing"]) == ("doubt", 2)
    assert status["doubt"] == "somebody took 2 messages out. Write again."


def test_findings_have_the_fields_of_the_contract() -> None:
    problem = Problem("DAMAGED_ENTRY", "error", "message-queue.yaml:7", "not closed", "Repair it")
    expected = {
        "code": "DAMAGED_ENTRY",
        "severity": "error",
        "place": "message-queue.yaml:7",
        "message": "not closed",
        "hint": "Repair it",
    }
    assert check_json(Chronicle(problems=(problem,)).view()) == {"condition": "doubt", "findings": [expected]}
