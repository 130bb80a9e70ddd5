"""Faults of Textual that a user would notice are mended; what is painted anew is in test_repainting.py."""

from __future__ import annotations

import asyncio
from itertools import chain, repeat
from types import SimpleNamespace

import pytest
from rich.segment import Segment
from team_console.console.tui.textual_fixes import MendedDriver, mend_textual
from team_console.widgets.text import width_of
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.strip import Strip

from tests.equipment.cases import cases


@pytest.fixture(autouse=True)
def mended() -> None:
    """Textual as the console has it."""
    mend_textual()


ACCENT, HINDI = "e\u0301", "\u0915\u093f"


@cases
@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_that_another_widget_begins_over_is_cut_between_characters(one: str, cut: int) -> None:
    text = "ab" + one * 6 + "cd"
    width = width_of(((text, ""),))
    pieces = Strip([Segment(text)], width).divide([cut, width])
    assert [piece.cell_length for piece in pieces] == [width_of(((piece.text, ""),)) for piece in pieces]
    assert not set("".join(piece.text for piece in pieces).replace(one, "")) - set("abcd ")
    assert (cut % 2 and one not in (ACCENT, HINDI)) or "".join(piece.text for piece in pieces) == text


@pytest.mark.anyio
async def test_a_stop_waits_until_what_is_under_way_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an editor has the terminal nothing is under way; else what waits is written first."""
    done: list[str] = []
    app = SimpleNamespace(_suspend_signal=lambda: done.append("written"), stopping=lambda: done.append("away"))
    monkeypatch.setattr(LinuxDriver, "_sigtstp_application", lambda driver, *_: done.append("stopped"))
    for restarts, at_once in ((True, []), (False, ["away", "stopped"])):
        done.clear()
        driver = MendedDriver.__new__(MendedDriver)
        driver._app, driver._auto_restart = app, restarts  # type: ignore[assignment]
        driver._sigtstp_application()
        assert done == at_once
        await asyncio.sleep(0)
        assert done == (["written"] if restarts else []) + ["away", "stopped"]


@pytest.mark.anyio
async def test_a_timer_that_is_to_come_once_comes_though_it_is_late_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine took longer between two looks at the clock than the timer waits."""
    came = asyncio.Event()
    async with App[None]().run_test() as pilot:
        with monkeypatch.context() as patch:
            clock = chain([0.0], repeat(1.0))
            patch.setattr("textual._time.get_time", lambda: next(clock))
            pilot.app.set_timer(0.01, came.set)
            async with asyncio.timeout(30):
                await came.wait()
