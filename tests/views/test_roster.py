"""The roster: who is there, in which state, and why."""

from __future__ import annotations

import pytest
from team_console.store.protocol.membership import members
from team_console.store.views.rows import AgentState

from tests.equipment.chronicle import LEAD, Chronicle, agent, settings


def _state(story: Chronicle, name: str, *, after: float = 0.0) -> tuple[AgentState, str]:
    found = agent(story.view(after=after), name)
    return found.state, found.reason


def test_an_agent_is_active_for_five_minutes_after_it_wrote_then_idle() -> None:
    story = Chronicle()
    story.say("file-manager", LEAD)
    assert _state(story, "file-manager", after=300)[0] is AgentState.ACTIVE
    assert _state(story, "file-manager", after=301)[0] is AgentState.IDLE


def test_an_agent_with_a_question_to_the_human_waits_for_you() -> None:
    story = Chronicle()
    ask = story.say("file-manager", "user", "escalate", issue="Broken")
    assert _state(story, "file-manager")[0] is AgentState.WAITING
    human = agent(story.view(), "user")
    assert (human.role, human.stranger, human.unread) == ("human", False, 1)
    assert agent(story.view(me="debugger"), "file-manager").state is AgentState.ACTIVE
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id)
    assert _state(story, "file-manager")[0] is AgentState.ACTIVE


def test_a_group_record_that_was_pushed_stays_unread_until_each_acknowledged_it() -> None:
    story = Chronicle()
    pushed = {"file-manager": "2026-02-24T10:00:05Z"}
    message = story.say(LEAD, "file-manager", to_agents=["file-manager", "debugger"], delivered_to=pushed)
    story.change(message, to=None)
    assert [agent(story.view(), name).unread for name in ("file-manager", "debugger")] == [1, 1]
    story.change(story.messages[-1], read_by={"file-manager": "2026-02-24T10:00:09Z"})
    assert [agent(story.view(), name).unread for name in ("file-manager", "debugger")] == [0, 1]


@pytest.mark.parametrize("declared", [True, False])
def test_a_name_on_no_roster_is_a_stranger_only_where_members_are_declared(declared: bool) -> None:
    story = Chronicle(config=settings(declared=declared))
    story.say("mallory", LEAD)
    assert agent(story.view(), "mallory").stranger is declared
    assert ("mallory" in members(story.config, story.messages)) is not declared


def test_rosters_and_creations_of_anyone_but_the_master_change_nothing() -> None:
    story = Chronicle()
    story.roster("mallory", sender="file-manager")
    story.sprint("file-manager", "slave-batch-1", "AGENT_CREATED", agent_name="eve", agent_type="dev")
    story.sprint("file-manager", "slave-batch-1", "AGENT_DESTROYED", agent_name="debugger")
    roles = members(story.config, story.messages)
    assert not {"mallory", "eve"} & set(roles)
    assert "debugger" in roles


def test_the_lead_cannot_be_asked_to_stop() -> None:
    story = Chronicle()
    story.say(LEAD, LEAD, "shutdown_request", request_id="stop-9")
    (problem,) = [problem for problem in story.view().findings if problem.code == "NOT_PERMITTED"]
    assert "cannot be asked to stop" in problem.message
    assert "stop" not in agent(story.view(), LEAD).reason


def test_an_agent_that_agreed_never_stands_there_as_one_that_has_not_answered() -> None:
    story = Chronicle()
    story.say("file-manager", LEAD)
    story.stop()
    story.stop(request_id="stop-2")
    story.stopped(request_id="stop-1")
    assert _state(story, "file-manager")[1] == "agreed to stop"
    story.stop(request_id="stop-3")
    assert _state(story, "file-manager") == (AgentState.STOPPED, "agreed to stop")
    story.say("file-manager", LEAD)
    story.stop(request_id="stop-4")
    assert _state(story, "file-manager")[1] == "asked to stop, has not answered"


def test_an_answer_whose_clock_is_behind_counts() -> None:
    story = Chronicle()
    story.stop()
    story.stopped(created="2026-02-24T09:00:00.000Z")
    assert _state(story, "file-manager")[1] == "agreed to stop"
