"""What is discarded stands in the question, id and all, and a reason that was typed is kept."""

from __future__ import annotations

import pytest
from team_console.store.model.message import from_record
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def given_up(team: MemoryTeam, summary: str) -> str:
    """A message whose delivery was given up; its id."""
    sent = sending.send(Caller(team, LEAD), to=AUTHOR, summary=summary, content="x").messages[0]
    failed = {"status": "failed", "error_message": "exit status 75", "retry_count": 3}
    state = team._state
    state.messages = tuple(
        from_record({**message.record, **failed}) if message.message_id == sent.message_id else message
        for message in state.messages
    )
    state.revision += 1
    return sent.message_id


async def test_many_are_marked_previewed_and_treated_as_one_and_the_rest_is_left_alone(team: MemoryTeam) -> None:
    for name in ("first", "second", "third"):
        given_up(team, f"The {name} export has no home")

    def states() -> list[str]:
        return sorted(message.status for message in team.snapshot().messages)

    async with opened(team) as desk:
        await desk.press("6")
        await desk.reads("exit status 75")
        await desk.press("space", "space")
        await desk.asks("t")
        await desk.until(lambda: "2 messages: each starts again with all its tries" in desk.text, "the question")
        await desk.press("escape")
        assert states() == ["failed"] * 3
        await desk.asks("t")
        await desk.press("enter")
        await desk.until(lambda: states() == ["failed", "pending", "pending"], "both tried again")
    assert [len(line.facts["ids"]) for line in team.audit() if line.action == "retry"] == [2]
