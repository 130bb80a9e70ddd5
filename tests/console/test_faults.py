"""A record that cannot be drawn takes nothing with it; any other defect ends the console in order, with a log."""

from __future__ import annotations

import os
import stat
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest
from team_console.console.faults import log
from team_console.console.selection import Mode
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.modes.pane import Pane
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.widgets.bars import Head
from team_console.widgets.document import CANNOT_BE_SHOWN
from textual.events import Key

from tests.console.conftest import AUTHOR, LEAD, Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SECRET = "the token is hunter2"


def fail(*arguments: object, **options: object) -> Any:
    """What a defect does, with a message's words in its own."""
    secret_local = SECRET
    raise ZeroDivisionError(secret_local)


def defects(home: Path) -> Path:
    """The log below the state folder of the test."""
    return home / "state" / "team-console" / "log" / "defects.log"


def pane_of(mode: Mode) -> type[Pane[Any]]:
    """The class of the pane of a mode."""
    name = "needs" if mode is Mode.REQUESTS else mode
    kind: type[Pane[Any]] = getattr(import_module(f"team_console.console.tui.modes.{name}"), f"{mode.capitalize()}Pane")
    return kind


async def go(desk: Desk, mode: Mode) -> None:
    """Go to a list by its keys."""
    await desk.press(mode.key, *(() if mode.place is mode else ("right",)))


@pytest.mark.parametrize(
    ("mode", "part"),
    [*((mode, "draw") for mode in Mode), (Mode.NEEDS, "document_of"), (Mode.REQUESTS, "show"), (Mode.SPRINT, "show")],
)
async def test_what_cannot_be_drawn_says_so_and_the_rest_goes_on(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, mode: Mode, part: str
) -> None:
    hand_in_plan(team)
    sending.send(Caller(team, AUTHOR), to=(LEAD,), summary="State of the export job please", content=SECRET)
    other = Mode.SPRINT if mode is not Mode.SPRINT else Mode.HISTORY
    async with opened(team, faults=None) as desk:
        monkeypatch.setattr(pane_of(mode) if part == "show" else pane_of(mode).LISTING, part, fail)
        desk.app.main.show_again()
        await go(desk, mode)
        if desk.app.faults.all and (
            part != "document_of" or mode not in (Mode.HISTORY, Mode.AGENTS)
        ):  # opened by a key there
            await desk.shows(CANNOT_BE_SHOWN)
        await go(desk, other)
        assert desk.app.main.pane.listing.MODE is other
        assert SECRET not in desk.text


@pytest.mark.parametrize("place", ["a widget that is drawn", "a key", "a timer", "a callback"])
async def test_any_other_defect_ends_the_console_and_the_log_names_the_place_but_no_words(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
) -> None:
    app = ConsoleApp(team, me=LEAD)
    async with app.run_test() as pilot:
        desk = Desk(app, pilot)
        await desk.until(lambda: app.main.situation.reading is not None, "a first reading")
        if place == "a widget that is drawn":
            monkeypatch.setattr(Head, "render_line", fail)
            app.main.query_one(Head).refresh()
        elif place == "a key":
            monkeypatch.setattr(app.main, "action_perform", fail)
            app.post_message(Key("2", "2"))
        elif place == "a timer":
            app.main.set_timer(0.001, fail)
        else:
            app.main.call_after_refresh(fail)
        while app.return_code is None:  # noqa: ASYNC110
            # A pause of the pilot draws by itself, where no app could catch the defect.
            await anyio.sleep(0.02)
    assert app.return_code == 1
    path = defects(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    text = path.read_text()
    assert "ZeroDivisionError" in text
    assert "test_faults.py" in text
    assert "hunter2" not in text
    assert str(Path.home()) not in text


async def test_a_write_that_fails_unexpectedly_says_that_its_outcome_is_not_sure(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    monkeypatch.setattr(requests, "decide", fail)
    async with opened(team, faults=None) as desk:
        await desk.asks("a")
        await desk.press("enter")
        await desk.until(lambda: "may or may not have been saved" in desk.said, "the words")
        assert "ZeroDivisionError" in desk.said
        assert SECRET not in desk.text


def test_the_log_is_put_aside_when_it_is_long_and_never_follows_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = defects(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 300_000)
    assert log(ValueError(SECRET)) == path
    assert path.stat().st_size < 1000
    assert path.with_suffix(".1.log").stat().st_size == 300_000
    path.unlink()
    target = tmp_path / "elsewhere"
    target.write_text("")
    os.symlink(target, path)
    assert log(ValueError(SECRET)) is None
    assert target.read_text() == ""
