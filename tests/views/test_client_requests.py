"""Requests of clients in the views: what counts as their answer, when they end, and what `check` says of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordedFacts
from team_console.store.views.projection import Projection

from tests.equipment.chronicle import LEAD, Chronicle, row

ASKER = "task-manager"


def permission(story: Chronicle, request_id: str = "p1", *, seconds: float | None = None, **more: Any) -> Message:
    """Ask for a command; `seconds` say how long the asker waits."""
    ends = {"expires": to_text(story.now + timedelta(seconds=seconds))} if seconds is not None else {}
    given = {"tool": "Bash", "input": {"command": "npm test"}, "request_id": request_id, **ends, **more}
    return story.say(ASKER, LEAD, "permission_request", **given)


def allowed(story: Chronicle, request_id: str = "p1", *, sender: str = LEAD, **more: Any) -> Message:
    return story.say(
        sender, ASKER, "permission_response", **{"request_id": request_id, "approve": True, "scope": "once", **more}
    )


def question(story: Chronicle, request_id: str = "q1", **more: Any) -> Message:
    options = [{"label": "A"}, {"label": "B"}]
    asked = {"questions": [{"question": "Which?", "header": "W", "options": options}], "request_id": request_id}
    return story.say(ASKER, LEAD, "question_request", **{**asked, **more})


@pytest.mark.parametrize("foreign", [{"tool": 3, "input": "x"}, {"tool": None}, {"input": []}], ids=str)
def test_a_malformed_permission_is_shown_and_told(foreign: dict[str, Any]) -> None:
    story = Chronicle()
    permission(story, **foreign)
    assert row(story.view(), "p1").is_open
    assert "BODY_INVALID" in story.codes()


def test_a_message_of_another_kind_never_allows_anything() -> None:
    story = Chronicle()
    permission(story)
    story.say(LEAD, ASKER, request_id="p1", approve=True)
    story.say(LEAD, ASKER, "plan_approval_response", request_id="p1", approve=True)
    story.say(LEAD, ASKER, "question_response", request_id="p1", approve=True, answers={"Which?": "A"})
    assert row(story.view(), "p1").is_open


@pytest.mark.parametrize("sender", ["file-manager", ASKER, "user"])
def test_nobody_but_the_lead_allows_anything(sender: str) -> None:
    story = Chronicle()
    permission(story)
    forged = allowed(story, sender=sender)
    view = story.view()
    assert (row(view, "p1").is_open, row(view, "p1").flags) == (True, ("unauthorised",))
    assert [problem.place for problem in view.findings if problem.code == "UNAUTHORISED_VERDICT"] == [forged.message_id]


@pytest.mark.parametrize("answers", [None, {}, [], {"Which?": []}, {"Which?": ""}, {"Which?": 3}], ids=str)
def test_a_yes_that_chooses_nothing_decides_no_question(answers: Any) -> None:
    story = Chronicle()
    question(story)
    story.say(LEAD, ASKER, "question_response", request_id="q1", approve=True, answers=answers)
    assert row(story.view(), "q1").is_open
    assert "BODY_INVALID" in story.codes()


def test_a_verdict_after_the_end_decides_nothing_and_one_in_time_does() -> None:
    story = Chronicle()
    permission(story, "late", seconds=30)
    permission(story, "in time", seconds=30)
    allowed(story, "in time")
    story.wait(60)
    allowed(story, "late")
    view = story.view()
    assert [str(row(view, key).state) for key in ("late", "in time")] == ["withdrawn", "approved"]


def test_a_verdict_dated_back_before_the_end_is_late_where_the_trail_says_so() -> None:
    story = Chronicle(recorded=RecordedFacts())
    story.record(permission(story, seconds=30))
    story.wait(60)
    late = allowed(story)
    story.record(late)
    story.change(late, created="2026-02-24T10:00:05.000Z")
    assert str(row(story.view(), "p1").state) == "withdrawn"


def test_a_time_nobody_can_read_ends_nothing_and_is_told() -> None:
    story = Chronicle()
    permission(story, expires="tomorrow")
    assert row(story.view(after=9e6), "p1").is_open
    assert "BODY_INVALID" in story.codes()


def test_a_withdrawal_that_left_the_queue_between_two_looks_still_ends_the_request() -> None:
    story = Chronicle(recorded=RecordedFacts())
    story.record(permission(story))
    board = Projection(LEAD)
    assert len(board.update(story.snapshot(), story.now).attention) == 1
    notice = story.say(ASKER, LEAD, "request_withdrawn", request_id="p1", reason="session ended")
    story.record(notice)
    story.archive(notice)
    view = board.update(story.snapshot(), story.now)
    assert (view.requests[0].state, view.requests[0].reason, view.attention) == ("withdrawn", "session ended", ())
