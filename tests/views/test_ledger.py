"""The ledger: asked, seen, answered, ended, and everything that can be odd about it."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.views.rows import Flag, RequestState

from tests.equipment.chronicle import LEAD, Chronicle, row


def test_a_request_is_overdue_from_the_moment_its_kind_allows() -> None:
    story = Chronicle()
    story.stop()
    assert row(story.view(after=14.9), "stop-1").state is RequestState.OPEN
    late = row(story.view(after=15), "stop-1")
    assert (late.state, late.flags, late.is_open) == (RequestState.OVERDUE, (Flag.OVERDUE,), True)


def test_the_first_of_two_contradictory_verdicts_stands_wherever_the_file_lists_it() -> None:
    story = Chronicle()
    story.plan()
    first = story.verdict(approve=True)
    story.verdict(approve=False, content="No")
    story.messages.append(first.with_changes(status="read"))  # a second copy of it is no second answer
    for _ in range(2):
        plan = row(story.view(), "plan-1")
        assert plan.verdict is not None
        assert (plan.state, plan.verdict.message_id) == (RequestState.APPROVED, first.message_id)
        assert set(plan.flags) == {Flag.CONTRADICTORY, Flag.ANSWERED_TWICE}
        assert len(plan.answers) == 2
        story.messages.append(story.messages.pop(1))


def test_verdicts_of_the_same_millisecond_keep_the_order_of_the_file() -> None:
    story = Chronicle()
    plan = story.plan()
    first = story.verdict(approve=False, content="No", created=plan.created)
    story.verdict(approve=True, created=plan.created)
    assert row(story.view(), "plan-1").verdict is first


def test_seen_is_told_apart_from_asked() -> None:
    story = Chronicle()
    plan = story.plan()
    assert row(story.view(), "plan-1").seen_at is None
    story.change(plan, status="read", read_at="2026-02-24T10:05:00Z")
    seen = row(story.view(), "plan-1").seen_at
    assert seen is not None
    assert seen.isoformat() == "2026-02-24T10:05:00+00:00"


def test_an_agent_created_again_is_not_still_alive() -> None:
    story = Chronicle()
    story.stop("dev-1")
    story.stopped("dev-1")
    _made(story, "dev-1")
    story.say("dev-1", "slave-batch-1")
    assert row(story.view(), "stop-1").flags == ()


def test_saying_more_about_a_question_is_no_second_answer() -> None:
    story = Chronicle()
    ask = story.say("file-manager", LEAD, "clarify", question="Which year?", context="Report")
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id, content="2026")
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id, content="And 2025")
    assert row(story.view(), ask.message_id).flags == ()


_WISH = {"agent_type": "dev-runner", "role_hint": "Dev", "requested_by": "slave-batch-1"}
_QUERY = {"queries": [{"query": "Why?"}]}
PAIRED: dict[str, Any] = {
    "AGENT_CREATE_REQUEST": (
        "slave-batch-1",
        LEAD,
        (_WISH, {**_WISH, "agent_type": "reviewer"}, _WISH),
        ("AGENT_CREATED", {"agent_name": "dev-runner-3-1", "agent_type": "dev-runner"}),
        ("approved", "open", "open"),
        "dev-runner-3-1",
    ),
    "AGENT_DESTROY_REQUEST": (
        "slave-batch-1",
        LEAD,
        ({"agent_name": "dev-1"}, {"agent_name": "dev-2"}),
        ("AGENT_DESTROYED", {"agent_name": "dev-2"}),
        ("open", "approved"),
        "dev-2",
    ),
    "BROWSER_REQUEST": (
        "task-manager",
        "e2e-live",
        ({"request_id": "BR-001"}, {"request_id": "BR-002"}),
        ("BROWSER_RESULT", {"request_id": "BR-002", "status": "success"}),
        ("open", "answered"),
        "success",
    ),
    "RESEARCH_REQUEST": (
        "task-manager",
        "kr",
        ({"story_key": "3-1", **_QUERY}, {"story_key": "3-2", **_QUERY}),
        ("RESEARCH_RESULT", {"story_key": "3-2", "results": [{"summary": "So"}]}),
        ("open", "answered"),
        "So",
    ),
}


@pytest.mark.parametrize("kind", PAIRED)
def test_an_answer_without_an_id_is_paired_with_the_oldest_request_that_it_fits(kind: str) -> None:
    asker, asked, bodies, (answer, body), states, reason = PAIRED[kind]
    story = Chronicle()
    questions = [story.sprint(asker, asked, kind, **each) for each in bodies]
    story.sprint(asked, asker, answer, **body)
    rows = {row.question.message_id: row for row in story.view().requests}
    found = [rows[question.message_id] for question in questions]
    assert tuple(row.state for row in found) == states
    assert [row.reason for row in found if not row.is_open] == [reason]


def _wish(story: Chronicle) -> str:
    return story.sprint("slave-batch-1", LEAD, "AGENT_CREATE_REQUEST", **_WISH).message_id


def _made(story: Chronicle, name: str, *, by: str = LEAD, **more: str) -> None:
    story.sprint(by, "slave-batch-1", "AGENT_CREATED", agent_name=name, agent_type="dev-runner", **more)


def test_a_creation_is_paired_with_the_request_it_quotes_and_never_by_anyone_but_the_lead() -> None:
    story = Chronicle()
    first, second, refused = _wish(story), _wish(story), _wish(story)
    _made(story, "x", by="debugger")
    assert row(story.view(), first).flags == (Flag.UNAUTHORISED,)
    story.say(LEAD, "slave-batch-1", request_id=refused, in_reply_to=refused, approve=False, content="Too many")
    _made(story, "dev-runner-3-2", in_reply_to=second)
    _made(story, "dev-runner-3-1")
    view = story.view()
    told = [(row(view, item).state, row(view, item).reason) for item in (first, second, refused)]
    assert told == [("approved", "dev-runner-3-1"), ("approved", "dev-runner-3-2"), ("rejected", "Too many")]
    assert row(view, first).answered_by == LEAD
