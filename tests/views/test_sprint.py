"""Batches, stories and the eleven steps of temporary agents."""

from __future__ import annotations

from typing import Any

from team_console.store.views.rows import StoryState

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle, task

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


@cases
def test_a_report_moves_the_story_as_far_as_its_sender_can(agent: str, status: str, state: StoryState) -> None:
    story = Chronicle()
    _plan(story, ["3-1"])
    _assign(story, agent, "3-1")
    _report(story, agent, status)
    assert story.view().batches[0].stories[0].state is state


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
