"""A form that is closed leaves nothing behind in memory: a console stays open for days."""

from __future__ import annotations

import gc
from weakref import WeakSet

import pytest
from textual._styles_cache import StylesCache
from textual.widget import Widget

from tests.console.conftest import hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def left_of(drawn: WeakSet[StylesCache]) -> int:
    """How many there are once everything was collected, also what the console leaves out since its start."""
    gc.unfreeze()
    gc.collect()
    return len(drawn)


async def test_the_lines_of_forms_that_are_closed_are_let_go(team: MemoryTeam) -> None:
    hand_in_plan(team)
    drawn: WeakSet[StylesCache] = WeakSet()
    async with opened(team) as desk:
        for key in ("a", "r", "question_mark"):
            await desk.press(key)
            await desk.until(lambda: len(desk.app.screen_stack) == 2, "something over the console")
            await desk.pilot.pause()
            caches = [widget._styles_cache for widget in desk.app.screen.walk_children(Widget, with_self=True)]
            assert len(caches) > 3
            drawn.update(caches)
            del caches
            await desk.press("escape")
            await desk.until(lambda: len(desk.app.screen_stack) == 1, "the console alone")
        await desk.until(lambda: left_of(drawn) < 5, "all forms let go, but for the widget that had the focus last")
