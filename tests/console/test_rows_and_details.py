"""Rows of two lines where they fit, details that begin with their title, ids on demand, empty lists that lead on."""

from __future__ import annotations

import pytest

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_the_detail_begins_with_its_title_and_shows_ids_on_demand(team: MemoryTeam) -> None:
    request = hand_in_plan(team, "Split the loader from the renderer")
    async with opened(team) as desk:
        await desk.reads("Split the loader")
        assert desk.detail.splitlines()[0] == "Split the loader from the renderer"
        assert desk.detail.splitlines()[1].startswith("task-manager → you · just asked · due in")
        assert request not in desk.detail
        await desk.performs("ids")
        assert request in "".join(desk.detail.split()), "it may go on in the next line"
        await desk.performs("ids")
        assert request not in desk.detail
