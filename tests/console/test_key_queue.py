"""Keys act in the order in which they were typed, each on what stands there then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from team_console.console.tui import key_queue
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.list_screens import TeamRow
from team_console.store.backends.open import open_team
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.widgets.row_list import RowList
from textual.events import Key, MouseDown, MouseUp

from tests.console.conftest import Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


@contextmanager
def told_to_leave(app: ConsoleApp) -> Iterator[asyncio.Event]:
    """Set the event in place of leaving."""
    left = asyncio.Event()
    app.exit = lambda *_, **__: left.set()  # type: ignore[method-assign]
    yield left
    app.exit = type(app).exit.__get__(app)  # type: ignore[method-assign]


@pytest.mark.parametrize("mode", ["1", "right", "3", "4"])
async def test_keys_typed_ahead_act_on_what_stands_there_when_their_turn_comes(team: MemoryTeam, mode: str) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(desk.can_act, "a screen to act on")
        with told_to_leave(desk.app) as left:
            for key in (mode, "slash", "e", "enter", "escape", "escape", "q"):
                desk.app.post_message(Key(key, key if len(key) == 1 else None))
            await desk.until(left.is_set, "the end that q asks for")


async def test_whoever_leaves_does_not_wait_for_a_screen_that_never_comes(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was typed before is not done either: it would be done to whatever stands there."""
    async with opened(team) as desk:
        with monkeypatch.context() as patch, told_to_leave(desk.app) as left:
            patch.setattr(type(desk.app.screen), "takes_keys", False, raising=False)
            patch.setattr(key_queue, "_LONGEST_HOLD", 3600.0)
            for key in ("3", "4", "ctrl+q"):
                desk.app.post_message(Key(key, key if len(key) == 1 else None))
            await desk.until(lambda: len(desk.app._keys._waiting) == 3, "keys that wait")
            patch.setattr(key_queue, "_LONGEST_HOLD", 0.0)
            await desk.until(left.is_set, "the end that ctrl+q asks for")
        assert desk.app.main.lists.mode == "needs"


@pytest.mark.usefixtures("long_grace")
async def test_an_escape_during_the_check_leaves_and_decides_nothing(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reaches the form at once: held back until the check ended, it would be too late, and go to the list."""
    hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("a")
        act, goes_on = form.answer(), Event()
        monkeypatch.setattr(form, "answer", lambda: lambda: (goes_on.wait(60), act())[1])
        await desk.press("enter")
        await desk.until(lambda: form.is_at_work, "the beginning of the check")
        desk.app.post_message(Key("escape", None))
        await desk.shows("leaving as soon as the check ends")
        goes_on.set()
        await desk.until(lambda: desk.app.main.form is None, "the end of the form")
        assert not desk.app.main.pending_decisions


@pytest.mark.usefixtures("long_grace")
async def test_a_click_decides_before_the_key_that_follows_it(team: MemoryTeam) -> None:
    """It travels behind its event: by the time it arrives, the next key would have said what was seen before it."""
    hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("a")
        await desk.until(lambda: form._held_terms[0] == form.terms(), "a form that the terminal holds")
        x, y = form.button.region.offset
        for kind in (MouseDown, MouseUp):
            desk.app.post_message(kind(None, x, y, 0, 0, 1, False, False, False))
        desk.app.post_message(Key("pagedown", None))
        await desk.until(lambda: len(desk.app.main.pending_decisions) == 1, "the decision")
        assert desk.app.frames.decided[1] == "mouse"


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two teams side by side, in one of which a plan waits, and one whose queue cannot be read."""
    for name in ("alpha", "beta", "gamma"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "message-queue.yaml").write_text("messages: []\n", encoding="utf-8")
    requests.submit_plan(Caller(open_team(str(tmp_path / "beta")), "bob"), content="1. Go")
    (tmp_path / "gamma" / "message-queue.yaml").write_text("messages: {", encoding="utf-8")
    return tmp_path


def rows(desk: Desk) -> tuple[TeamRow, ...]:
    """The teams that are listed."""
    return tuple(desk.front.query_one(RowList).rows)


async def test_every_team_says_what_waits_in_it_and_enter_goes_there(folders: Path) -> None:
    async with opened(open_team(str(folders / "alpha"))) as desk:
        await desk.performs("teams")
        await desk.shows("beta", "1 waiting", "alpha", "gamma", "unreadable")
        await desk.press(*("j" * [row.name for row in rows(desk)].index("beta")), "enter")
        await desk.until(lambda: desk.app.next_team == str(folders / "beta"), "the team where something waits")
