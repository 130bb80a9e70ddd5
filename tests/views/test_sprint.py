"""Batches, stories and the eleven steps of temporary agents."""

from __future__ import annotations

import json
from typing import Any

from team_console.store.views.rows import Batch, StoryState

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle, creation, task

SM, SLAVE = "scrum-master", "slave-batch-1"


def _plan(story: Chronicle, *batches: list[str], graph: dict[str, list[str]] | None = None) -> None:
    body: dict[str, Any] = {
        "session_id": "s1",
        "total_stories": sum(map(len, batches)),
        "batches": [{"batch_id": number, "stories": keys} for number, keys in enumerate(batches, start=1)],
        "dependency_graph": {key: {"depends_on": needs} for key, needs in (graph or {}).items()},
    }
    story.sprint(SM, LEAD, "BATCH_PLAN_READY", **body)


def _assign(story: Chronicle, agent: str, key: str, slave: str = SLAVE) -> None:
    story.sprint(slave, agent, "TASK_ASSIGNMENT", **task(key, slave))


def _report(story: Chronicle, agent: str, status: str) -> None:
    story.sprint(agent, SLAVE, "AGENT_COMPLETE", status=status, results={})


def _finish(story: Chronicle, done: list[str], failed: list[str], batch_id: Any = 1) -> None:
    body = {"batch_id": batch_id, "session_id": "s1", "stories_completed": done, "stories_failed": failed}
    story.sprint(SLAVE, LEAD, "SLAVE_BATCH_COMPLETE", batch_report="Two of three", **body)


def _states(batch: Batch) -> dict[str, str]:
    return {story.key: str(story.state) for story in batch.stories}


def test_a_plan_shows_its_batches_with_stories_and_what_blocks_them_until_that_is_done() -> None:
    story = Chronicle()
    _plan(story, ["3-1", "3-2"], ["4-1"], graph={"4-1": ["3-1"]})
    first, second = story.view().batches
    assert (first.key, first.session_id, first.batch_id, first.complete) == ("s1/1", "s1", "1", False)
    assert _states(first) == {"3-1": "open", "3-2": "open"}
    assert second.stories[0].blocked_by == second.stories[0].depends_on == ("3-1",)
    _finish(story, ["3-1"], [])
    waiting = story.view().batches[1].stories[0]
    assert (waiting.depends_on, waiting.blocked_by) == (("3-1",), ())


@cases
def test_a_report_moves_the_story_as_far_as_its_sender_can(agent: str, status: str, state: StoryState) -> None:
    story = Chronicle()
    _plan(story, ["3-1"])
    _assign(story, agent, "3-1")
    _report(story, agent, status)
    assert story.view().batches[0].stories[0].state is state


def test_a_name_used_again_begins_a_new_life() -> None:
    story = Chronicle()
    creation(story)
    creation(story, upto=5)
    lives = {lifecycle.key: lifecycle for lifecycle in story.view().lifecycles}
    assert set(lives) == {"dev-runner-3-1", "dev-runner-3-1#2"}
    assert (lives["dev-runner-3-1"].ended, lives["dev-runner-3-1#2"].ended) == (True, False)
    assert all(not life.missing for life in lives.values())


def test_a_correction_drops_only_what_it_drops() -> None:
    story = Chronicle()
    _plan(story, ["3-1", "3-2", "3-3"], ["4-1", "4-2", "4-3"], ["5-1"])
    _assign(story, "story-creator-3-1", "3-1")
    correction: dict[str, Any] = {
        "new_batches": [{"batch_id": 2, "stories": ["4-1", "4-2", "4-4"]}],
        "dropped_stories": ["4-3"],
    }
    story.sprint(SM, LEAD, "COURSE_CORRECTION", session_id="s1", added_stories=["4-4"], **correction)
    assert {batch.batch_id: (batch.slave, [*_states(batch)]) for batch in story.view().batches} == {
        "1": (SLAVE, ["3-1", "3-2", "3-3"]),
        "2": ("", ["4-1", "4-2", "4-4"]),
        "3": ("", ["5-1"]),
    }


def test_a_dispatch_stands_for_the_first_five_steps_and_is_a_request() -> None:
    story = Chronicle()
    _plan(story, ["3-1"])
    agent, body = "dev-runner-3-1", {"type": "AGENT_DISPATCH_REQUEST", "agent_type": "dev-runner", **task("3-1")}
    content = f"AGENT_DISPATCH_REQUEST: {json.dumps(body)}"
    story.say(SLAVE, LEAD, content=content, summary="Start an agent for story 3-1")
    _report(story, agent, "success")
    story.sprint(agent, LEAD, "AGENT_DESTROY_REQUEST", agent_name=agent)
    story.stop(agent)
    view = story.view()
    (life,) = view.lifecycles
    assert (life.agent, life.slave, life.missing, life.out_of_order, life.ended) == (agent, SLAVE, (), (), True)
    assert view.batches[0].stories[0].agent == agent
    assert [str(row.kind) for row in view.requests if row.asker == SLAVE] == ["create"]
    assert {finding.code for finding in view.findings} <= {"STRANGER"}


def test_the_report_of_a_dispatched_agent_closes_the_request_for_it() -> None:
    story = Chronicle()
    body = {"type": "AGENT_DISPATCH_REQUEST", "agent_type": "dev-runner", **task("3-1")}
    story.say(SLAVE, LEAD, content=f"AGENT_DISPATCH_REQUEST: {json.dumps(body)}", summary="Start an agent")
    _report(story, "dev-runner-9-9", "success")
    assert [str(row.state) for row in story.view(after=9000).requests] == ["overdue"]
    _report(story, "dev-runner-3-1", "success")
    (request,) = story.view(after=9000).requests
    assert (str(request.state), request.reason) == ("withdrawn", "dev-runner-3-1 did its work")
    again = Chronicle(messages=story.messages, now=story.now)
    again.say(SLAVE, LEAD, content=f"AGENT_DISPATCH_REQUEST: {json.dumps(body)}", summary="Start it again")
    assert [str(row.state) for row in again.view(after=9000).requests] == ["overdue", "withdrawn"]


@cases
def test_a_report_of_a_batch_is_held_against_the_plan(done: list[str], more: dict[str, Any], words: str | None) -> None:
    story = Chronicle()
    _plan(story, ["3-1", "3-2"])
    body: dict[str, Any] = {
        "batch_id": 1,
        "session_id": "s1",
        "stories_completed": done,
        "stories_failed": [],
        "batch_report": "r",
    }
    story.sprint(SLAVE, LEAD, "SLAVE_BATCH_COMPLETE", **{**body, **more})
    texts = [finding.message for finding in story.view().findings if finding.code == "STORY_COUNT_MISMATCH"]
    assert [words in text for text in texts if words] == ([True] if words else [])
    assert len(texts) == (1 if words else 0)
