"""A form stands below the thing it is about at every size of the terminal, also after it was another."""

from __future__ import annotations

import pytest

from tests.console.conftest import Desk, hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def stands_below_the_plan(desk: Desk) -> bool:
    """Whether the box of the form is as broad as the detail, and at its place."""
    form = desk.app.screen
    assert len(desk.app.screen_stack) > 1
    room = form.behind.room()  # type: ignore[attr-defined]
    box = form.query_one(".form--box").region
    return (box.x, box.width, box.bottom) == (room.x, room.width, room.bottom) and form.size == desk.app.size


async def test_a_form_follows_the_size_of_the_terminal(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(120, 40)) as desk:
        await desk.asks("a")
        for size in ((60, 20), (200, 55), (120, 40)):
            await desk.pilot.resize_terminal(*size)
            await desk.until(lambda: stands_below_the_plan(desk), f"the form at its place at {size}")
