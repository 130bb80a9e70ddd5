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


async def test_the_lines_of_forms_that_are_closed_are_let_go(team: MemoryTeam) -> None:
    hand_in_plan(team)
    drawn: WeakSet[StylesCache] = WeakSet()
    async with opened(team) as desk:
        for key in ("a", "r", "question_mark"):
            await desk.press(key)
            await desk.until(lambda: len(desk.app.screen_stack) == 2, "something over the console")
            await desk.pilot.pause()
            drawn.update(widget._styles_cache for widget in desk.app.screen.walk_children(Widget, with_self=True))
            await desk.press("escape")
            await desk.until(lambda: len(desk.app.screen_stack) == 1, "the console alone")
        assert len(drawn) > 20
        gc.unfreeze()  # the console leaves what its start made out of collections, maybe with a form of ours
        gc.collect()
        assert len(drawn) < 5, "the toolkit may know the widget that had the focus last, not whole forms"
