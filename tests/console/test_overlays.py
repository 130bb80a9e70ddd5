"""What lies over the list is closed once, however often it is asked to; the list is never closed with it."""

from __future__ import annotations

import threading

import pytest
from team_console.console.tui.commands import looking
from team_console.console.tui.screens import ReadingScreen, ThemeList
from team_console.widgets.help_panel import HelpPanel
from team_console.widgets.overlay import Overlay
from textual.events import Key

from tests.console.conftest import WAIT, Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

OPENED_BY = {
    "colon": HelpPanel,
    "question_mark": HelpPanel,
    "c": ReadingScreen,
}


async def overlay(desk: Desk, key: str) -> Overlay:
    """What a key opens over the list."""
    await desk.press(key)
    await desk.until(lambda: isinstance(desk.front, OPENED_BY[key]), "what lies over the list")
    front = desk.app.screen
    assert isinstance(front, Overlay)
    return front


async def test_what_is_closed_twice_or_below_another_screen_takes_nothing_else_with_it(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        for key in OPENED_BY:
            front, above = await overlay(desk, key), ThemeList()
            await desk.app.push_screen(above)
            front.dismiss()
            assert desk.app.screen is above, key
            await above.dismiss()
            assert desk.app.screen is front, key
            front.dismiss()
            front.dismiss()
            await desk.until(lambda front=front: not front.is_attached, "its end")  # type: ignore[misc]
            await desk.is_back()


async def test_a_form_whose_work_ends_below_another_screen_closes_with_its_result(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    gate = threading.Event()
    async with opened(team) as desk:
        form = await desk.asks("a")
        act = form.answer()
        monkeypatch.setattr(form, "answer", lambda: lambda: (gate.wait(WAIT), act())[1])
        desk.app.post_message(Key("enter", None))
        await desk.until(lambda: form.is_at_work, "the beginning of the work")
        above = ThemeList()
        await desk.app.push_screen(above)
        gate.set()
        await desk.decided(team)
        assert desk.app.screen is above
        above.dismiss()
        await desk.is_back()


async def test_a_form_that_comes_late_leaves_an_open_one_where_it_is(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("a")
        looking.pipe(desk.app.main, desk.app.main.context())
        await desk.tells("Another form is open")
        assert desk.front is form
        await desk.press("enter")
        await desk.decided(team)
