"""What the place of a verdict really showed is kept with it: evidence in Inboxes, and no more than was painted."""

from __future__ import annotations

import pytest
from team_console.store.protocol.verdicts import EVIDENCE, SHOWN, SHOWN_BY

from tests.console.conftest import hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_an_approval_in_inboxes_shows_and_keeps_the_evidence(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(160, 50)) as desk:
        await desk.press("2", "enter")
        await desk.reads("unknown (not connected with `join`)")
        await desk.approves(team)
    payload = verdicts(team)[0].payload
    assert payload[SHOWN_BY] == "the console: lines 1-2 of 2; of its evidence all"
    assert any("unknown (not connected with `join`)" in line for line in payload[EVIDENCE])
    assert len(payload[SHOWN]) == 64
