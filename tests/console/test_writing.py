"""Messages, broadcasts, shutdowns and creations: who is meant and how many comes first, and nothing typed is lost."""

from __future__ import annotations

import pytest
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_while_the_team_is_asked_to_stop_other_things_are_done(team: MemoryTeam) -> None:
    sending.send(Caller(team, AUTHOR), to=LEAD, summary="The export is done for today", content="Here it is")
    async with opened(team) as desk:
        await desk.asks("S")
        await desk.press("enter")
        await desk.until(lambda: "stopping 1 of 3" in desk.app.main.around.busy, "somebody who is asked")
        await desk.press("escape", "S")
        await desk.shows("Shutdown of the team")
        await desk.press("escape", "d")
        await desk.tells("Read: ")
        assert "stopping 1 of 3" in desk.app.main.around.busy
        desk.app.main.background.stop_in_turn((AUTHOR,), None)
        await desk.tells("asked to stop already")
        await desk.press("escape", "escape")
        await desk.tells("Nobody else")
        assert desk.app.main.around.busy == ""
