"""A finding tells whoever reads it what to do: nobody is told to remind itself, or somebody who cannot act."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.model.errors import Problem
from team_console.store.views.rows import RequestState

from tests.equipment.chronicle import LEAD, Chronicle, agent, row


def finding(story: Chronicle, code: str, *, me: str = LEAD, after: float = 0.0) -> Problem:
    """The only finding with this code."""
    [problem] = [problem for problem in story.view(me=me, after=after).findings if problem.code == code]
    return problem


def test_an_overdue_request_reminds_the_others_and_asks_the_addressee_itself_for_its_answer() -> None:
    story = Chronicle()
    story.plan()
    mine = finding(story, "OVERDUE_REQUEST", after=3600)
    assert mine.message == "the plan of task-manager waits for your answer, longer than it should"
    assert "Remind" not in mine.hint
    assert "team-console approve plan-1" in mine.hint
    asker = finding(story, "OVERDUE_REQUEST", me="task-manager", after=3600)
    assert (asker.message, asker.hint) == ("ceo has not answered your plan in time", "Remind ceo.")
    watcher = finding(story, "OVERDUE_REQUEST", me="debugger", after=3600)
    assert watcher.message == "ceo has not answered the plan of task-manager in time"


@pytest.mark.parametrize(
    ("kind", "body", "way"),
    [
        ("clarify", {"question": "Which port?", "context": "deploy"}, "--content WORDS"),
        ("escalate", {"issue": "Port taken", "severity": "blocker"}, "--content WORDS"),
        (
            "question_request",
            {"request_id": "question-1", "questions": [{"question": "Which?", "options": []}]},
            "--option LABEL, or",
        ),
    ],
)
def test_an_overdue_question_names_the_verb_that_answers_it(kind: str, body: dict[str, Any], way: str) -> None:
    story = Chronicle()
    story.say("task-manager", LEAD, kind, **body)
    request = next(row for row in story.view(after=3600).requests)
    hint = finding(story, "OVERDUE_REQUEST", after=3600).hint
    assert hint.startswith(f"Answer it: team-console answer {request.request_id} {way}")


def test_the_lead_cannot_be_asked_to_stop() -> None:
    story = Chronicle()
    story.say(LEAD, LEAD, "shutdown_request", request_id="stop-9")
    assert "cannot be asked to stop" in finding(story, "NOT_PERMITTED").message
    assert "stop" not in agent(story.view(), LEAD).reason


def test_an_agent_that_agreed_never_stands_there_as_one_that_has_not_answered() -> None:
    story = Chronicle()
    story.say("file-manager", LEAD)
    story.stop()
    story.stop(request_id="stop-2")
    story.stopped(request_id="stop-1")
    assert agent(story.view(), "file-manager").reason == "agreed to stop"
    story.stop(request_id="stop-3")
    found = agent(story.view(), "file-manager")
    assert (found.state, found.reason) == ("stopped", "agreed to stop")
    story.say("file-manager", LEAD)
    story.stop(request_id="stop-4")
    assert agent(story.view(), "file-manager").reason == "asked to stop, has not answered"


def test_an_answer_whose_clock_is_behind_counts() -> None:
    story = Chronicle()
    story.stop()
    story.stopped(created="2026-02-24T09:00:00.000Z")
    assert agent(story.view(), "file-manager").reason == "agreed to stop"


def test_a_stop_supersedes_no_stop_that_was_answered_or_is_of_another_agent() -> None:
    story = Chronicle()
    story.stop()
    story.stopped(approve=False, content="Not yet")
    story.stop("debugger", request_id="stop-2")
    story.stop(request_id="stop-3")
    view = story.view()
    assert [row(view, key).state for key in ("stop-1", "stop-2")] == [RequestState.REJECTED, RequestState.OPEN]
