"""Needs you: everything that waits for the human, ranked, with the rank explained."""

from __future__ import annotations

from typing import Any

from team_console.store.views.needs import ItemPart, part_of
from team_console.store.views.rows import ActionItem, Need

from tests.equipment.chronicle import LEAD, Chronicle, creation, settings


def _items(story: Chronicle, *, me: str = LEAD, after: float = 0.0) -> dict[Need, ActionItem]:
    return {item.need: item for item in story.view(me=me, after=after).attention}


def test_a_clarification_waits_for_whom_it_asks() -> None:
    story = Chronicle()
    story.say("task-manager", "file-manager", "clarify", question="Which year?", context="Report")
    assert _items(story) == {}
    assert _items(story, me="file-manager")[Need.CLARIFY].title == "Which year?"


def test_a_refusal_waits_until_it_was_read_or_the_agent_was_asked_again() -> None:
    story = Chronicle()
    story.stop()
    refusal = story.stopped(approve=False, content="3 tasks are open")
    item = _items(story)[Need.REFUSED]
    assert (item.who, item.title, item.answerable) == ("file-manager", "3 tasks are open", False)
    assert item.request is not None
    read = story.change(refusal, status="read")
    assert _items(story) == {}
    story.change(read, status="pending")
    story.stop(request_id="stop-2")
    assert Need.REFUSED not in _items(story)


def test_a_failed_delivery_waits_for_the_lead_and_for_its_sender() -> None:
    story = Chronicle()
    story.say("file-manager", "debugger", "spec_ready", status="failed", error_message="delivery_timeout")
    for me in (LEAD, "file-manager"):
        assert "delivery_timeout" in _items(story, me=me)[Need.FAILED].why
    assert _items(story, me="task-manager") == {}


def test_what_blocks_more_comes_first() -> None:
    story = Chronicle()
    story.plan("file-manager", request_id="alone")
    story.plan("task-manager", request_id="awaited")
    story.say("debugger", "task-manager", "clarify", question="When?", context="Plan")
    items = story.view().attention
    assert [item.key for item in items] == ["plan:awaited", "plan:alone"]
    assert items[0].blocks == ("task-manager", "debugger")


def test_a_story_and_what_depends_on_it_are_blocked_with_its_agent() -> None:
    story = Chronicle()
    graph = {"4-1": {"depends_on": ["3-1"]}, "5-1": {"depends_on": ["4-1"]}, "3-1": {"depends_on": ["5-1"]}}
    batches = [{"batch_id": 1, "stories": ["3-1", "4-1", "5-1"]}]
    plan: dict[str, Any] = {"session_id": "s1", "total_stories": 3, "batches": batches, "dependency_graph": graph}
    story.sprint("scrum-master", LEAD, "BATCH_PLAN_READY", **plan)
    creation(story, "dev-1", upto=5)
    story.say("dev-1", "user", "escalate", issue="Broken")
    story.sprint("slave-batch-1", LEAD, "AGENT_CREATE_REQUEST", agent_type="dev")
    items = _items(story)
    assert items[Need.ESCALATE].blocks == ("dev-1", "3-1", "4-1", "5-1")
    assert items[Need.CREATE].blocks[:2] == ("slave-batch-1", "3-1")


def test_among_equals_the_one_that_waits_longest_comes_first() -> None:
    story = Chronicle()
    for number in range(3):
        story.say("file-manager", LEAD, id=f"m-{number}")
    assert [item.key for item in story.view().attention] == ["MESSAGE:m-0", "MESSAGE:m-1", "MESSAGE:m-2"]


def test_an_overdue_question_ranks_higher_than_the_same_in_time() -> None:
    story = Chronicle(config=settings(overdue_seconds={"clarification": 60.0}))
    story.say("file-manager", LEAD, "clarify", question="A", context="B")
    before, after = _items(story)[Need.CLARIFY], _items(story, after=60)[Need.CLARIFY]
    assert after.score > before.score
    assert after.why == f"{before.why} · overdue"


def test_the_request_of_an_agent_that_ended_says_so_and_waits_for_nobody() -> None:
    story = Chronicle()
    story.plan("file-manager")
    story.stop()
    story.stopped()
    item = _items(story)[Need.PLAN]
    assert "the asker has ended" in item.why
    assert part_of(item) is ItemPart.INFORMATION
