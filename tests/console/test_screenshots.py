"""The pictures are made from code, the same at every drawing, and point to nothing outside themselves."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.equipment.command_line import ROOT
from tests.screenshots import PICTURES, draw

pytestmark = pytest.mark.slow


def test_a_picture_is_the_same_at_every_drawing(tmp_path: Path) -> None:
    pictures = []
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        pictures.append(asyncio.run(draw(PICTURES[0], place)))
    assert pictures[0] == pictures[1]
    assert "Refactor" in pictures[0]


def test_the_pictures_there_are_are_those_that_can_be_drawn() -> None:
    assert {path.stem for path in (ROOT / "screenshots").glob("*.svg")} == {
        *(picture.name for picture in PICTURES),
        "demo",
        "side-by-side",
    }


def test_pictures_load_nothing_and_name_no_place_of_a_machine() -> None:
    for path in (ROOT / "screenshots").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        outside = set(re.findall(r"https?://[^\"'<> ]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, path
        assert not re.search(r"/(?:tmp|home|root|work)/", text), path
