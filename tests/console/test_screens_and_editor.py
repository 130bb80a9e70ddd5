"""What opens over the list and beside it: a conversation, a shutdown, an editor, another team."""

from __future__ import annotations

import pytest
from team_console.console.tui.screens import ReadingScreen
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def read(desk: Desk) -> str:
    """What stands on the screen in front, in one line."""
    return " ".join(desk.text.split())


async def test_c_opens_the_conversation_of_a_plan_with_its_versions_and_esc_goes_back(
    team: MemoryTeam, clock: Clock
) -> None:
    first = hand_in_plan(team, "Refactor the loader", "1. Rewrite all of it")
    clock.advance(60)
    requests.reject(Caller(team, LEAD), request_id=first, reason="Say how to roll it back")
    clock.advance(60)
    hand_in_plan(team, "Refactor the loader", "1. Rewrite all of it\n2. Keep the old one")
    async with opened(team) as desk:
        await desk.press("c")
        await desk.until(lambda: "Keep the old one" in read(desk), "the second version")
        assert isinstance(desk.front, ReadingScreen)
        shown = read(desk)
        assert shown.index("Say how to roll it back") < shown.index("Keep the old one")
        asked = team.snapshot().messages[-1].message_id
        sending.send(Caller(team, AUTHOR), to=LEAD, summary="One word more", content="It is small", in_reply_to=asked)
        await desk.until(lambda: "It is small" in read(desk), "what was said meanwhile")
        await desk.pilot.press("escape")
        await desk.is_back()
