"""Names of the team in the palette are text: no markup, no control character."""

from __future__ import annotations

import pytest
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import LEAD, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio

HOSTILE = "zebra[@click=app.quit]here[/]\u2028\x1b[31m"


async def test_a_name_that_is_markup_stands_there_letter_by_letter(team: MemoryTeam) -> None:
    sent = sending.send(Caller(team, LEAD), to="task-manager", summary="Please do begin with it", content="x")
    (message,) = sent.messages
    with team.transaction(actor="drop", action="drop", wait=1.0) as tx:
        tx.add(message.with_changes(message_id="MSG-HOSTILE", to=LEAD, **{"from": HOSTILE}))
        tx.record("drop")
    async with opened(team) as desk:
        await desk.press("colon")
        await desk.type("zebra")
        await desk.shows("agent zebra")
        assert "[@click=app.quit]here[/]" in desk.text
        assert not {"\u2028", "\x1b"} & set(desk.text)
