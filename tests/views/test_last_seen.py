"""When an agent was last seen: writing and reading both show that somebody is there."""

from __future__ import annotations

from team_console.store.views.projection import Projection, view_of
from team_console.store.views.rows import AgentState

from tests.equipment.chronicle import LEAD, Chronicle, agent

READ = "2026-02-24T10:00:05.000Z"


def test_an_agent_that_only_receives_has_been_seen() -> None:
    story = Chronicle()
    assert agent(story.view(), "file-manager").last_seen is None
    story.say(LEAD, "file-manager", status="read", read_at=READ)
    row = agent(story.view(), "file-manager")
    assert row.last_seen is not None
    assert row.last_seen.isoformat().startswith("2026-02-24T10:00:05")
    assert (row.state is not AgentState.UNKNOWN, row.reason) == (True, "reads, has not written yet")


def test_each_reader_of_a_group_record_has_been_seen() -> None:
    story = Chronicle()
    message = story.say(LEAD, "file-manager", to_agents=["file-manager", "debugger"], read_by={"debugger": READ})
    story.change(message, to=None)
    view = story.view()
    assert [agent(view, name).last_seen is not None for name in ("file-manager", "debugger")] == [False, True]


def test_taking_a_message_with_a_lease_is_being_seen_and_a_router_that_takes_it_is_not() -> None:
    story = Chronicle()
    story.say(LEAD, "file-manager", status="claimed", claimed_by="file-manager", claimed_at=READ)
    story.say(LEAD, "debugger", status="claimed", claimed_by="@router", claimed_at=READ)
    view = story.view()
    assert [agent(view, name).last_seen is not None for name in ("file-manager", "debugger")] == [True, False]


def test_what_was_read_and_left_the_queue_still_counts() -> None:
    story = Chronicle()
    message = story.say(LEAD, "file-manager", status="read", read_at=READ)
    board = Projection(LEAD)
    before = agent(board.update(story.snapshot(), story.now), "file-manager").last_seen
    story.archive(message)
    after = agent(board.update(story.snapshot(), story.now), "file-manager").last_seen
    fresh = view_of(story.snapshot(), me=LEAD, now=story.now, history=[message])
    assert before == after == agent(fresh, "file-manager").last_seen is not None
