"""Pictures in `screenshots/`, drawn from the showcase team: `python -m tests.screenshots [FOLDER]`."""

from __future__ import annotations

import argparse
import asyncio
import html
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from team_console.console.tui.app import ConsoleApp
from team_console.store.contract.snapshot import LockHolder
from team_console.store.model.clock import to_text
from textual.pilot import Pilot

from tests import showcase
from tests.equipment.cases import constant
from tests.goldens.draw import shown, surroundings

_FONTS = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'


class Picture(Struct, frozen=True):
    """A state of the screen worth a picture: its size and the keys that lead there."""

    name: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 34)
    theme: str = "dark"
    read_only: bool = False
    trouble: str = ""


PICTURES = constant(__file__, "PICTURES", list[Picture])


def main(arguments: Sequence[str]) -> int:
    """Draw every picture into the folder named, by default `screenshots`."""
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description="Draw the pictures anew.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"), help="(default: screenshots)")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, surroundings(scratch):
        for picture in PICTURES:
            os.environ["XDG_STATE_HOME"] = str(Path(scratch, f"state of {picture.name}"))  # no draft of the one before
            place = Path(scratch, picture.name)
            place.mkdir()
            target = folder / f"{picture.name}.svg"
            target.write_text(asyncio.run(draw(picture, place)), encoding="utf-8")
            print(target)
    return 0


async def draw(picture: Picture, place: Path) -> str:
    """The picture as SVG, of a showcase made in the empty folder `place`."""
    os.environ["TEAM_CONSOLE_THEME"] = picture.theme
    showcase.build(place)
    async with shown(place, picture.size, read_only=picture.read_only) as (app, pilot):
        if picture.trouble:
            await _quiet(app)
            _befall(app, picture.trouble, place)
        for key in (key for step in picture.keys for key in (step if " " in step else [step])):
            await _until_keys_act(app, pilot)
            await pilot.press("space" if key == " " else "full_stop" if key == "." else key)
        await _until_keys_act(app, pilot)
        await _quiet(app)
        return _plain(app.export_screenshot(title=f"team-console · {showcase.LEAD}"))


def _befall(app: ConsoleApp, trouble: str, place: Path) -> None:
    """Let something happen to the team in the folder `place`, or to what is known of it."""
    known = app.main.situation
    assert known.reading is not None
    if trouble == "unreadable":
        queue = place / "message-queue.yaml"
        queue.write_text(queue.read_text(encoding="utf-8").replace("messages:", "<<<<<<< ours\nmessages:", 1))
        app.look()
    elif trouble == "locked":
        holder = LockHolder(4711, "build-2", to_text(showcase.NOW - timedelta(seconds=48)), "compact", None)
        snapshot = replace(known.reading.snapshot, holder=holder)
        app.main.show(replace(known, reading=replace(known.reading, snapshot=snapshot)), showcase.NOW)
    else:
        since = showcase.NOW - timedelta(seconds=48)
        app.main.show(replace(known, failure="the share does not answer", shown_read_at=since), showcase.NOW)


async def _until_keys_act(app: ConsoleApp, pilot: Pilot[int]) -> None:
    """Let an open form stand there."""
    while not getattr(app.screen, "takes_keys", True):
        await pilot.pause(0.02)


async def _quiet(app: ConsoleApp) -> None:
    """Let everything that was asked for be drawn."""
    before = ""
    for _ in range(100):
        await asyncio.sleep(0.15)
        now = app.export_screenshot()
        if now == before:
            return
        before = now


def _plain(svg: str) -> str:
    """No fonts from elsewhere, and the same ids at every drawing."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'font-family: ?[^;"]*Fira Code[^;"]*', f"font-family: {_FONTS}", svg).replace(
        "Fira Code", "monospace"
    )
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'textLength="([\d.]+)"([^>]*)>([^<]*)', _as_wide_as_its_cells, svg)
    return re.sub(r"terminal-\d+", "terminal", svg)


def _as_wide_as_its_cells(text: re.Match[str]) -> str:
    """Give a text the width of its cells: Rich counts characters, and Chinese ones were drawn over each other."""
    characters = html.unescape(text[3])
    if characters.isascii():
        return text[0]
    width = float(text[1]) / len(characters) * cell_len(characters)
    return f'textLength="{round(width, 1):g}"{text[2]}>{text[3]}'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
