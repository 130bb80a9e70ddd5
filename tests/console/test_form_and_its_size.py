"""A form stands below the thing it is about at every size of the terminal, also after it was another."""

from __future__ import annotations

import pytest

from tests.console.conftest import Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def stands_below_the_plan(desk: Desk) -> bool:
    """Whether the form is as broad as the detail, directly below it, and ends with the pane."""
    form, pane = desk.front.region, desk.app.main.pane
    above = pane.detail.region
    return (form.x, form.width, form.y, form.bottom) == (above.x, above.width, above.bottom, pane.region.bottom)


async def test_a_form_follows_the_size_of_the_terminal(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(120, 40)) as desk:
        await desk.asks("a")
        for size in ((60, 20), (200, 55), (120, 40)):
            await desk.pilot.resize_terminal(*size)
            await desk.until(lambda: stands_below_the_plan(desk), f"the form at its place at {size}")
