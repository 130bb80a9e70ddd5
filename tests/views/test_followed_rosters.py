"""Rosters that are edited after they were sent: the lives they are a step of follow them."""

from __future__ import annotations

import json

import pytest
from team_console.store.model.message import Message
from team_console.store.views.board import Board, view_of

from tests.views.chronicle import LEAD, Chronicle, creation

AGENT = "dev-runner-3-1"


def with_temps(message: Message, *temps: str) -> str:
    """The content of a roster that lists these temporary agents instead."""
    name, _, text = message.content.partition(": ")
    body = json.loads(text)
    return f"{name}: {json.dumps({**body, 'roster': {**body['roster'], 'temps': list(temps)}})}"


@pytest.mark.parametrize("place", [0, -1], ids=["the first roster", "the last roster"])
@pytest.mark.parametrize("temps", [(), (AGENT,)], ids=["without the agent", "with the agent"])
@pytest.mark.parametrize("upto", [4, 11])
def test_a_roster_that_is_edited_is_the_step_that_a_fresh_look_sees(
    upto: int, place: int, temps: tuple[str, ...]
) -> None:
    story = Chronicle()
    creation(story, AGENT, upto=3)
    story.roster()
    creation(story, AGENT, upto=upto, skip=(1, 3))
    board = Board(LEAD)
    board.update(story.snapshot(), story.now)
    rosters = [message for message in story.messages if "AGENT_ROSTER" in message.content]
    chosen = rosters[place]
    story.change(chosen, payload={**chosen.payload, "content": with_temps(chosen, *temps)})
    followed = board.update(story.snapshot(), story.now)
    fresh = view_of(story.snapshot(), me=LEAD, now=story.now)
    assert followed.lifecycles == fresh.lifecycles
    assert followed.findings == fresh.findings
