"""A finding tells whoever reads it what to do: nobody is told to remind itself, or somebody who cannot act."""

from __future__ import annotations

from team_console.store.model.errors import Problem

from tests.equipment.chronicle import LEAD, Chronicle, agent


def finding(story: Chronicle, code: str, *, me: str = LEAD, after: float = 0.0) -> Problem:
    """The only finding with this code."""
    [problem] = [problem for problem in story.view(me=me, after=after).findings if problem.code == code]
    return problem


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
