"""Needs you: everything that waits for the human, ranked, with the rank explained."""

from __future__ import annotations

from team_console.store.views.needs import ItemPart, Rank, arrange_items, group_of, part_of
from team_console.store.views.rows import ActionItem, Need

from tests.equipment.chronicle import LEAD, Chronicle, settings


def _items(story: Chronicle, *, me: str = LEAD, after: float = 0.0) -> dict[Need, ActionItem]:
    return {item.need: item for item in story.view(me=me, after=after).attention}


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


def test_what_is_critical_is_decided_first_and_a_message_is_for_information() -> None:
    story = Chronicle()
    story.plan()
    story.plan("debugger", request_id="plan-2", priority="critical")
    story.say("debugger", LEAD)
    groups = [(item.who, group_of(item)) for item in arrange_items(story.view().attention)]
    wanted = [("debugger", Rank.CRITICAL), ("task-manager", Rank.NORMAL), ("debugger", ItemPart.INFORMATION)]
    assert groups == wanted
