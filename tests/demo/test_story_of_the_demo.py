"""The story of the demo names only what there is: nobody would see before minutes of play that it does not."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.console.demo.player import STORY, StoryStep, filled_in
from team_console.store.api import AgentClient

STEPS = [(scene, step) for scene, steps in STORY.scenes.items() for step in steps]


def scenes_of(step: StoryStep) -> Iterator[str]:
    """The scenes that a step goes on to or gives to a manner; those that stories choose among them."""
    yield from step.manners.values()
    yield from step.then.values()
    if "{" not in step.go:
        yield step.go
    elif step.go:
        yield from (entry["course"] for entry in STORY.lists["stories"])


def test_every_scene_that_is_named_is_there_and_every_scene_is_named() -> None:
    named = {scene for _, step in STEPS for scene in scenes_of(step)}
    named |= {scene for part in (*STORY.parts, STORY.newcomer) for scene in (part.scene, part.last)}
    named |= {scene for manners in STORY.manners.values() for scene in manners.values()}
    assert named - {""} == set(STORY.scenes)


def test_every_list_body_verb_and_agent_that_is_named_is_there() -> None:
    agents = {agent["name"] for agent in STORY.agents}
    assert {part.of for part in STORY.parts} - {""} | {step.pick for _, step in STEPS} - {""} == set(STORY.lists)
    assert {step.says for _, step in STEPS} - {""} == set(STORY.bodies)
    assert [(scene, step.do) for scene, step in STEPS if step.do and not hasattr(AgentClient, step.do)] == []
    assert {part.agent for part in STORY.parts} <= agents
    assert set(STORY.manners) - {"everybody"} <= agents


def test_a_value_stands_where_its_name_does_and_what_there_is_none_of_is_left_out() -> None:
    values = {"it": {"done": 3, "files": ["a", "b"]}}
    template = {"words": "{it.done} of {it.all|4}{it.none}", "files": "{it.files}", "gone": "{it.none}", "no": None}
    assert filled_in(template, values) == {"words": "3 of 4", "files": ["a", "b"], "no": None}
