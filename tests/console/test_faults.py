"""What fails is told for what it is: a record that cannot be drawn, a defect, a watch, an archive."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pyte
import pytest
import team_console.console.tui.app
from team_console.console.defects import log_defect
from team_console.console.selection import Mode
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.modes.pane import Pane
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Page, WatchHint
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.widgets.bars import Head
from team_console.widgets.document import CANNOT_BE_SHOWN
from textual._compositor import CompositorUpdate
from textual.events import Key

from tests import showcase
from tests.console.conftest import AUTHOR, LEAD, WAIT, Clock, Desk, hand_in_plan, in_thread, opened
from tests.equipment.cases import constant
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
    module = import_module(f"team_console.console.tui.modes.{'needs' if mode == 'requests' else mode}")
    kind: type[Pane[Any]] = getattr(module, f"{mode.capitalize()}Pane")
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
        if desk.app.defects.all and (
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
    assert log_defect(ValueError(SECRET), where="a test") == path
    assert path.stat().st_size < 1000
    assert path.with_suffix(".1.log").stat().st_size == 300_000
    path.unlink()
    target = tmp_path / "elsewhere"
    target.write_text("")
    os.symlink(target, path)
    assert log_defect(ValueError(SECRET), where="a test") is None
    assert target.read_text() == ""


class Deaf(MemoryTeam):
    """A team whose watch fails in a way nobody foresaw, until it is mended."""

    is_mended = False

    async def watch(self) -> AsyncIterator[WatchHint]:
        """See `Team.watch`."""
        if not self.is_mended:
            raise RuntimeError("the watcher\x1b broke")
        async for hint in super().watch():
            yield hint


async def test_a_watch_that_fails_makes_the_screen_stale_until_it_works_again(
    team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_console.console.tui.app, "TICK", 0.05)
    deaf = Deaf(config=team.config(), clock=clock)
    hand_in_plan(deaf)
    async with opened(deaf) as desk:
        await desk.shows("◌ old")
        assert "RuntimeError" in desk.text
        assert "the watcher" not in desk.text
        assert "Refactor the report" in desk.text
        deaf.is_mended = True
        await desk.until(lambda: "●" in desk.text and "◌" not in desk.text, "a live screen")


async def test_a_screen_that_was_old_is_so_no_more_once_it_was_looked_at(
    team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor was open, or the machine slept: nothing else changed, so all but the head looks as it did."""
    monkeypatch.setattr(team_console.console.tui.app, "TICK", 3600.0)
    hand_in_plan(team)

    def is_old() -> bool:
        clock.advance(60)  # each time: a look that was on its way may have come since
        desk.app.main.tick(team.clock())
        return "◌ old" in desk.text

    async with opened(team) as desk:
        await desk.until(is_old, "an old screen")
        desk.app.look()
        await desk.until(lambda: "●" in desk.text and "◌" not in desk.text, "a live screen")


@pytest.mark.parametrize("harm", [b"\0" * 400, b"- {a: [\n"], ids=["zeros", "a cut"])
async def test_archives_that_cannot_be_read_are_not_an_empty_history(tmp_path: Path, harm: bytes) -> None:
    showcase.build(tmp_path / "team")
    for archive in (tmp_path / "team" / "archive").glob("*.yaml"):
        archive.write_bytes(harm)
    (tmp_path / "team" / "message-queue.yaml").write_text("messages: []\n")
    async with opened(open_team(str(tmp_path / "team"))) as desk:
        await desk.press("3")
        await desk.shows("The archives cannot be read")
        assert "Nothing was found" not in desk.text
        assert "archive.yaml" in desk.text


async def test_a_history_that_was_not_read_to_its_end_says_why(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search is stopped, then a disk fails."""
    goes_on = Event()

    def older(*_: Any, **__: Any) -> Page:
        goes_on.wait(WAIT)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(MemoryTeam, "older", older)
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.press("3", "slash", *"twin", "enter")
        await desk.shows("Searching …")
        await desk.press("escape")
        await desk.shows("you stopped the search")
        goes_on.set()
        await desk.press("slash", "s", "enter")
        await desk.shows("not all of it was looked at: Input/output error")
        assert "Nothing was found" not in desk.text
        assert "found in 0+" in desk.text


async def test_without_write_permission_the_screen_says_so_before_the_first_write(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    monkeypatch.setattr(MemoryTeam, "obstacle", lambda self: "no write permission on /srv/team")
    async with opened(team) as desk:
        await desk.shows("Refactor the report")
        assert desk.text.count("READ-ONLY") == 2, "a badge and the reason"
        assert "no write permission on /srv/team" in desk.text
        assert "approve" not in desk.text.splitlines()[-1]
        await desk.press("a")
        await desk.tells("no write permission")
        monkeypatch.setattr(MemoryTeam, "obstacle", lambda self: "")
        await desk.press("ctrl+l")
        await desk.until(lambda: "READ-ONLY" not in desk.text, "a console that may write")
        assert "approve" in desk.text.splitlines()[-1]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pyte.Screen:
    """A terminal to which the console writes its updates as they come; a test may give it another size."""
    screen = pyte.Screen(120, 40)
    stream = pyte.Stream(screen)
    display = ConsoleApp._display

    def displayed(app: ConsoleApp, shown: Any, update: Any) -> None:
        display(app, shown, update)
        if isinstance(update, CompositorUpdate) and not app._batch_count:
            stream.feed(update.render_segments(app.console).replace("\n", ""))

    monkeypatch.setattr(ConsoleApp, "_display", displayed)
    return screen


async def is_painted(desk: Desk, terminal: pyte.Screen) -> None:
    """Fail unless the terminal comes to show, cell by cell, what stands on the screen: what is wrong stays wrong."""
    await desk.until(lambda: desk.app.main.lists.shown_in_front is desk.app.main.situation, "the newest reading")
    await desk.pilot.pause()
    with suppress(AssertionError):  # told below, with what differs
        await desk.until(lambda: _stripped(terminal.display) == _stripped(desk.text.splitlines()), "the picture")
    assert _stripped(terminal.display) == _stripped(desk.text.splitlines())


def _stripped(lines: Iterable[str]) -> list[str]:
    return [line.rstrip() for line in lines]


async def changed(desk: Desk, terminal: pyte.Screen, act: Callable[[], object]) -> None:
    """Let somebody else act, and see the change painted."""
    before = desk.app.main.situation
    await in_thread(act)
    await desk.until(lambda: desk.app.main.situation is not before, "a new reading")
    await is_painted(desk, terminal)


async def test_changes_are_painted_from_their_first_cell_to_their_last(
    team: MemoryTeam, clock: Clock, terminal: pyte.Screen
) -> None:
    async with opened(team) as desk:
        await is_painted(desk, terminal)
        for number, mode in enumerate("112l31"):
            await desk.press(mode)
            clock.advance(70 * number)
            sender = ("file-manager", AUTHOR, "schedule-manager")[number % 3]
            to = (LEAD, "file-manager", AUTHOR)[number % 3]
            text = "Word for word " * (number % 4 + 1)
            send = partial(sending.send, Caller(team, sender), to=to, summary=text.strip(), content=text)
            await changed(desk, terminal, send)
        request_id = hand_in_plan(team)
        desk.app.look()
        await desk.shows("Refactor the report")
        await is_painted(desk, terminal)
        await changed(
            desk, terminal, lambda: requests.reject(Caller(team, LEAD), request_id=request_id, reason="No, not so")
        )


_KEYS = constant(__file__, "_KEYS", tuple[str, ...])
"""Through every mode, lists and details up and down, filters, forms, overlays."""


async def test_every_key_is_painted_in_whole(tmp_path: Path, terminal: pyte.Screen) -> None:
    size = (80, 24)
    terminal.resize(size[1], size[0])
    showcase.build(tmp_path)
    async with opened(open_team(str(tmp_path)), size=size) as desk:
        for key in _KEYS:
            await desk.pilot.press(key)
            await desk.until(lambda: desk.app.is_running)
            await is_painted(desk, terminal)
