"""A defect in one part of the console ends nothing else: a banner, a log without messages, the rest goes on."""

from __future__ import annotations

import ast
import os
import stat
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import team_console.console.commands
from team_console.console.actions import ACTIONS
from team_console.console.crash_guard import ContainedApp
from team_console.console.faults import Faults, log
from team_console.console.main import MainScreen
from team_console.console.modes.pane import ListPane
from team_console.console.selection import Mode
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.widgets.form import Form
from team_console.widgets.forms import Confirm
from team_console.widgets.guarded import CANNOT_BE_SHOWN, Guarded
from team_console.widgets.help_panel import HelpPanel
from team_console.widgets.row_list import RowList
from textual.app import App
from textual.screen import Screen
from textual.widget import Widget

from tests.conftest import ROOT
from tests.console.conftest import AUTHOR, LEAD, Desk, hand_in_plan, opened
from tests.memory_team import MemoryTeam
from tests.samples import EXHAUSTIVE

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SECRET = "the token is hunter2"


def fail(*arguments: object, **options: object) -> Any:
    """What a defect does, with a message's words in its own."""
    secret_local = SECRET
    raise ZeroDivisionError(secret_local)


def defects(home: Path) -> Path:
    """The log below the state folder of the test."""
    return home / "state" / "team-console" / "log" / "defects.log"


async def told(desk: Desk) -> None:
    """The banner stands there, and does not say what the exception said."""
    await desk.until(lambda: "✗ DEFECT" in desk.text, "the banner")
    assert "ZeroDivisionError" in desk.text
    assert SECRET not in desk.text


async def goes_on(desk: Desk, *modes: Mode) -> None:
    """The modes can be gone to, and the keys at the edges work."""
    for mode in modes or (Mode.NEEDS, Mode.REQUESTS):
        await desk.press(str(list(Mode).index(mode) + 1))
        assert desk.app.main.pane.MODE is mode
    await desk.press("question_mark")
    await desk.until(lambda: isinstance(desk.app.screen, HelpPanel), "the help")
    await desk.press("escape")
    await desk.until(lambda: desk.app.screen is desk.app.main, "the list again")


PARTS = ("rows_of", "key_of", "draw", "document_of", "subject_of", "matter_of", "title_of", "notes", "words_of")


def pane_of(mode: Mode) -> type[ListPane[Any]]:
    """The class of the pane of a mode."""
    kind: type[ListPane[Any]] = getattr(import_module(f"team_console.console.modes.{mode}"), f"{mode.capitalize()}Pane")
    return kind


@pytest.mark.parametrize("mode", list(Mode))
async def test_a_defect_in_a_part_of_a_pane_leaves_the_others(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    hand_in_plan(team)
    sending.send(Caller(team, AUTHOR), to=(LEAD,), summary="State of the export job please", content=SECRET)
    other = Mode.SPRINT if mode is not Mode.SPRINT else Mode.HISTORY
    async with opened(team, faults=None) as desk:
        for part in PARTS if EXHAUSTIVE else PARTS[list(Mode).index(mode) % 3 :: 3]:
            with monkeypatch.context() as patched:
                patched.setattr(pane_of(mode), part, fail)
                await desk.press(str(list(Mode).index(mode) + 1))
                desk.app.main.show_again()
                await desk.press(*(("j",) if part != "words_of" else ("slash", "e", "enter", "escape")))
                await desk.press(str(list(Mode).index(other) + 1))
                assert desk.app.main.pane.MODE is other, part
            desk.app.main.show_again()
        await goes_on(desk, mode, other)
        assert desk.app.faults.all
        assert SECRET not in desk.text


@pytest.mark.parametrize("mode", list(Mode))
async def test_a_pane_that_cannot_be_shown_says_so(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    hand_in_plan(team)
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        monkeypatch.setattr(pane_of(mode), "show", fail)
        desk.app.main.show_again()
        await desk.press(str(list(Mode).index(mode) + 1))
        await told(desk)
        await desk.until(lambda: CANNOT_BE_SHOWN in desk.text, "the words in the list")
        await goes_on(desk, Mode.SPRINT if mode is not Mode.SPRINT else Mode.HISTORY)


async def test_one_row_that_cannot_be_drawn_leaves_the_other_rows(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hand_in_plan(team, "The plan that breaks the drawing")
    requests.request_shutdown(Caller(team, LEAD), agent="file-manager", reason=None)
    import team_console.console.modes.requests as module

    lines = vars(module)["request_lines"]

    def draw(row: Any, drawing: Any) -> Any:
        return fail() if row.kind == "plan" else lines(row, drawing)

    monkeypatch.setattr(module, "request_lines", draw)
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        await desk.press("3")
        await told(desk)
        assert CANNOT_BE_SHOWN in desk.text
        assert "file-manager" in desk.text
        await desk.press("escape")
        await desk.until(lambda: "✗ DEFECT" not in desk.text, "the banner gone")
        await goes_on(desk)


async def test_a_defect_in_a_handler_leaves_the_others(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in_plan(team)
    table = dict(team_console.console.commands.handlers())
    async with opened(team, faults=None) as desk:
        monkeypatch.setattr("team_console.console.commands.handlers", lambda: table)
        for action in ACTIONS if EXHAUSTIVE else ACTIONS[::3]:
            mode = next(iter(sorted(action.modes)), Mode.NEEDS)
            await desk.press(str(list(Mode).index(mode) + 1))
            usable = action.disabled(desk.app.main.subject()) is None
            failing = mock.Mock(side_effect=fail)
            with mock.patch.dict(table, {action.id: failing}):
                desk.app.main.performer._do(action)
                assert failing.called == (usable and not action.deciding) or action.deciding
            if failing.called:
                await told(desk)
                await desk.press("escape")
        await goes_on(desk)


async def test_a_defect_while_a_form_is_made_takes_the_form_away(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    monkeypatch.setattr("team_console.widgets.forms.Approval.fields", fail)
    async with opened(team, faults=None) as desk:
        await desk.press("a")
        await told(desk)
        await desk.until(lambda: desk.app.screen is desk.app.main, "the list again")
        await goes_on(desk)


@pytest.mark.parametrize("part", ["typed", "answer", "keep", "_entered"])
async def test_a_form_with_a_defect_can_be_left(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    hand_in_plan(team)
    async with opened(team, faults=None) as desk:
        await desk.press("a")
        form = await desk.form()
        monkeypatch.setattr(form, part, fail)
        await desk.press("x", "enter")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "the list again")
        await goes_on(desk)


async def test_a_write_that_fails_unexpectedly_says_that_its_outcome_is_not_sure(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hand_in_plan(team)
    monkeypatch.setattr(requests, "approve", fail)
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        await desk.press("a")
        await desk.form()
        await desk.press("enter")
        await desk.until(lambda: "not sure" in desk.said, "the words")
        assert "ZeroDivisionError" in desk.said
        assert SECRET not in desk.text
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "the list again")
        await told(desk)


async def test_a_worker_with_a_defect_is_told(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in_plan(team)
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        desk.app.main.background.run(fail, None)
        await told(desk)
        await desk.until(lambda: any("not sure" in toast for toast in desk.toasts), "the toast")
        assert not any(SECRET in toast for toast in desk.toasts)
        await goes_on(desk)


async def test_a_timer_and_a_callback_with_a_defect_are_told(team: MemoryTeam) -> None:
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        desk.app.set_timer(0.001, fail)
        desk.app.main.call_later(fail)
        desk.app.main.call_after_refresh(fail)
        desk.app.call_next(fail)
        await told(desk)
        await goes_on(desk)


async def test_the_reading_that_fails_unexpectedly_is_told_and_tried_again(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("team_console.console.app.HOLDER_LOOK", 0.05)
    hand_in_plan(team)
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        monkeypatch.setattr(desk.app.feed, "read", fail)
        desk.app.look()
        await told(desk)
        await desk.until(lambda: "◌ STALE" in desk.text, "the stale screen")
        monkeypatch.undo()
        await desk.until(lambda: "◌ STALE" not in desk.text, "a reading that went well")


async def test_the_log_is_private_and_holds_places_but_no_words(team: MemoryTeam, tmp_path: Path) -> None:
    async with opened(team, faults=("ZeroDivisionError",)) as desk:
        desk.app.main.background.run(fail, None)
        await told(desk)
    path = defects(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    text = path.read_text()
    assert "ZeroDivisionError" in text
    assert "test_faults.py" in text
    assert "hunter2" not in text
    assert str(Path.home()) not in text


def test_a_defect_is_logged_once_however_often_it_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    faults = Faults()
    for _ in range(50):
        with pytest.raises(ZeroDivisionError) as caught:
            fail()
        faults.record(caught.value, where="mode needs")
    assert len(faults.all) == 1
    assert defects(tmp_path).read_text().count("ZeroDivisionError") == 1


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


def classes() -> list[type]:
    """Every widget, screen and app that the console defines."""
    found: list[type] = []
    for path in sorted([*(ROOT / "widgets").rglob("*.py"), *(ROOT / "console").rglob("*.py")]):
        names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
        if names and "demo" not in path.parts and "cli" not in path.parts:
            module = import_module("team_console." + ".".join(path.relative_to(ROOT).with_suffix("").parts))
            found += [getattr(module, name) for name in names]
    return found


def test_every_widget_and_screen_is_guarded_and_every_app_contained() -> None:
    of_textual = [kind for kind in classes() if issubclass(kind, Widget | Screen)]
    assert {MainScreen, RowList, Form, Confirm, ListPane} <= set(of_textual)
    assert [kind for kind in of_textual if not issubclass(kind, Guarded)] == []
    apps = [kind for kind in classes() if issubclass(kind, App)]
    assert apps
    assert [kind for kind in apps if not issubclass(kind, ContainedApp)] == []
