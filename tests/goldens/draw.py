"""Draws every mode of the showcase team as text: one console for each size, one team for all."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from team_console.console.selection import Mode
from team_console.console.tui.app import ConsoleApp
from team_console.store.backends.open import open_team
from textual.pilot import Pilot

from tests import showcase

PICTURES = Path(__file__).parent / "pictures"
SIZES = ((60, 20), (80, 24), (120, 40), (200, 55))
_PLACE = "~/projects/reports"
_PLAIN = {"TZ": "UTC", "TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor", "TEAM_CONSOLE_THEME": "dark"}
_UNDER_WAY = ("◔ looking", "◔ reading", "◔  Reading")
_STEADY = 3
"""So many looks in a row must show the same, before what is shown counts."""


def draw(*sizes: tuple[int, int]) -> dict[str, str]:
    """Name -> the screen as text, for every mode at these sizes."""
    pictures: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch, surroundings(scratch):
        folder = Path(scratch, "team")
        folder.mkdir()
        showcase.build(folder)
        for size in sizes:
            pictures |= asyncio.run(_draw(folder, size))
    return pictures


async def _draw(folder: Path, size: tuple[int, int]) -> dict[str, str]:
    pictures = {}
    async with shown(folder, size) as (app, pilot):
        for mode in Mode:
            await pilot.press(mode.key, *(() if mode.place is mode else ("right",)))
            pictures[f"{mode}-{size[0]}x{size[1]}"] = await _settled(app, pilot)
    return pictures


@asynccontextmanager
async def shown(
    folder: Path, size: tuple[int, int], *, read_only: bool = False
) -> AsyncIterator[tuple[ConsoleApp, Pilot[int]]]:
    """The console on the showcase in `folder`, at its own time and under a name that is nobody's, once all is read."""
    team = open_team(str(folder), read_only=read_only, clock=lambda: showcase.NOW)
    team.location = _PLACE
    app = ConsoleApp(team, me=showcase.LEAD)
    async with app.run_test(size=size, notifications=True) as pilot:
        while app.main.situation.reading is None or not app.reader.knows_archives:
            await pilot.pause(0.02)
        yield app, pilot


async def _settled(app: ConsoleApp, pilot: Pilot[int]) -> str:
    looks: list[str] = []
    while len(looks) < _STEADY or len(set(looks[-_STEADY:])) > 1:
        await pilot.pause(0.05)
        looks = [*looks, screen_text(app)] if _is_whole(app) else []
    return looks[-1]


def _is_whole(app: ConsoleApp) -> bool:
    """Whether the thing under the cursor is drawn, and nothing is still looked for: rows come first."""
    pane, text = app.main.pane, screen_text(app)
    if not pane.is_mounted:
        return False
    has_rows = pane.rows.cursor_row is not None
    detail = pane.detail
    is_drawn = bool(detail._lines) if detail.document is not None and detail.size.width else not detail.is_on_screen
    return (is_drawn or not has_rows) and not any(word in text for word in _UNDER_WAY)


def screen_text(app: ConsoleApp) -> str:
    """What stands on the screen, without blanks at the ends of lines."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


@contextmanager
def surroundings(scratch: str) -> Iterator[None]:
    """One time zone and theme, and nothing of the user's."""
    before = dict(os.environ)
    homes = {name: str(Path(scratch, name.lower())) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    os.environ.update(_PLAIN, **homes)
    os.environ.pop("NO_COLOR", None)
    time.tzset()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        time.tzset()
