"""The roster: who is there, in which state, and why."""

from __future__ import annotations

import pytest
from team_console.store.protocol.membership import known, members
from team_console.store.protocol.relations import silent
from team_console.store.views.rows import AgentState

from tests.equipment.chronicle import LEAD, Chronicle, agent, creation, settings


def _state(story: Chronicle, name: str, *, after: float = 0.0) -> tuple[AgentState, str]:
    found = agent(story.view(after=after), name)
    return found.state, found.reason


def test_an_agent_is_active_for_five_minutes_after_it_wrote_then_idle() -> None:
    story = Chronicle()
    story.say("file-manager", LEAD)
    assert _state(story, "file-manager", after=300)[0] is AgentState.ACTIVE
    assert _state(story, "file-manager", after=301)[0] is AgentState.IDLE


def test_an_agent_whose_plan_is_unanswered_is_planning() -> None:
    story = Chronicle()
    story.plan("file-manager")
    assert _state(story, "file-manager") == (AgentState.PLANNING, "its plan waits for ceo")
    story.verdict(approve=True, to="file-manager")
    assert _state(story, "file-manager")[0] is AgentState.ACTIVE


def test_an_agent_in_plan_mode_is_planning_until_a_plan_was_approved() -> None:
    story = Chronicle()
    story.say("task-manager", LEAD)
    assert _state(story, "task-manager") == (AgentState.PLANNING, "has no approved plan yet")
    story.plan()
    story.verdict(approve=False, content="Add tests")
    assert _state(story, "task-manager") == (AgentState.PLANNING, "revises its rejected plan")
    story.plan(request_id="plan-2")
    story.verdict("plan-2", approve=True)
    assert _state(story, "task-manager")[0] is AgentState.ACTIVE
    assert agent(story.view(), "task-manager").plan_mode_required


def test_an_agent_with_a_question_to_the_human_waits_for_you() -> None:
    story = Chronicle()
    ask = story.say("file-manager", "user", "escalate", issue="Broken")
    assert _state(story, "file-manager")[0] is AgentState.WAITING
    human = agent(story.view(), "user")
    assert (human.role, human.stranger, human.unread) == ("human", False, 1)
    assert agent(story.view(me="debugger"), "file-manager").state is AgentState.ACTIVE
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id)
    assert _state(story, "file-manager")[0] is AgentState.ACTIVE


def test_an_agent_asked_to_stop_is_stopping_then_stopped_and_alive_when_it_speaks_again() -> None:
    story = Chronicle()
    story.stop()
    assert _state(story, "file-manager") == (AgentState.STOPPING, "asked to stop, has not answered")
    assert silent(story.config, story.messages) == {"file-manager"}
    story.stopped()
    assert _state(story, "file-manager") == (AgentState.STOPPED, "agreed to stop")
    assert silent(story.config, story.messages) == {"file-manager"}
    story.say("file-manager", LEAD)
    assert _state(story, "file-manager") == (AgentState.ACTIVE, "agreed to stop, but still writes")
    assert silent(story.config, story.messages) == frozenset()


def test_unread_counts_what_nobody_read_and_says_since_when() -> None:
    story = Chronicle()
    first = story.say(LEAD, "file-manager", priority="low")
    story.say(LEAD, "file-manager", priority="high")
    story.say(LEAD, "file-manager", status="read")
    for status in ("delivered", "claimed", "retry", "failed", "expired", "recalled"):
        story.say(LEAD, "file-manager", status=status)
    found = agent(story.view(), "file-manager")
    assert (found.unread, found.total) == (5, 9)
    assert found.oldest_unread == first.created_at


def test_a_group_record_that_was_pushed_stays_unread_until_each_acknowledged_it() -> None:
    story = Chronicle()
    pushed = {"file-manager": "2026-02-24T10:00:05Z"}
    message = story.say(LEAD, "file-manager", to_agents=["file-manager", "debugger"], delivered_to=pushed)
    story.change(message, to=None)
    assert [agent(story.view(), name).unread for name in ("file-manager", "debugger")] == [1, 1]
    story.change(story.messages[-1], read_by={"file-manager": "2026-02-24T10:00:09Z"})
    assert [agent(story.view(), name).unread for name in ("file-manager", "debugger")] == [0, 1]


def test_the_lead_comes_first_then_residents_members_slaves_temps_and_who_is_gone() -> None:
    story = Chronicle()
    creation(story, "dev-1")
    story.say("dev-1", "slave-batch-1")
    creation(story, "dev-2", upto=5)
    story.say("dev-2", "slave-batch-1")
    assert _state(story, "dev-2") == (AgentState.ACTIVE, "works on story 3-1")
    names = [item.name for item in story.view().roster]
    order = ["ceo", "scrum-master", "debugger", "task-manager", "file-manager", "slave-batch-1", "dev-2", "dev-1"]
    assert names == order


@pytest.mark.parametrize("declared", [True, False])
def test_a_name_on_no_roster_is_a_stranger_only_where_members_are_declared(declared: bool) -> None:
    story = Chronicle(config=settings(declared=declared))
    story.say("mallory", LEAD)
    assert agent(story.view(), "mallory").stranger is declared
    assert ("mallory" in members(story.config, story.messages)) is not declared


def test_the_latest_roster_wins_and_repairs_a_lost_one() -> None:
    story = Chronicle()
    story.roster("dev-1")
    story.roster("dev-2", "dev-3")
    roles = members(story.config, story.messages)
    assert {name for name, role in roles.items() if role == "temp"} == {"dev-2", "dev-3"}
    assert known(story.config, story.messages)["dev-1"] == "temp"


def test_configured_members_stay_when_a_roster_forgets_them_and_go_when_they_are_destroyed() -> None:
    story = Chronicle()
    story.say(LEAD, "slave-batch-1")
    lists: dict[str, list[str]] = {"residents": [], "slaves": [], "temps": []}
    story.sprint(LEAD, "scrum-master", "AGENT_ROSTER_BROADCAST", session_id="s1", roster=lists)
    assert members(story.config, story.messages)["slave-batch-1"] == "slave"
    story.sprint(LEAD, "slave-batch-1", "AGENT_DESTROYED", agent_name="slave-batch-1")
    assert "slave-batch-1" not in members(story.config, story.messages)
    found = agent(story.view(), "slave-batch-1")
    assert (found.role, found.state) == ("slave", AgentState.STOPPED)


def test_rosters_and_creations_of_anyone_but_the_master_change_nothing() -> None:
    story = Chronicle()
    story.roster("mallory", sender="file-manager")
    story.sprint("file-manager", "slave-batch-1", "AGENT_CREATED", agent_name="eve", agent_type="dev")
    story.sprint("file-manager", "slave-batch-1", "AGENT_DESTROYED", agent_name="debugger")
    roles = members(story.config, story.messages)
    assert not {"mallory", "eve"} & set(roles)
    assert "debugger" in roles
