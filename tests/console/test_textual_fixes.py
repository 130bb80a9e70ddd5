"""Faults of Textual that a user would notice are mended; what is painted anew is in test_repainting.py."""

from __future__ import annotations

import gc

import pytest
from rich.segment import Segment
from team_console.console.tui.textual_fixes import mend_textual
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, Lines
from team_console.widgets.text import width_of
from textual.app import App
from textual.strip import Strip
from textual.widgets import Static


@pytest.fixture(autouse=True)
def mended() -> None:
    """Textual as the console has it."""
    mend_textual()


@pytest.mark.anyio
async def test_a_widget_whose_place_was_asked_for_before_it_was_laid_out_is_told_its_size() -> None:
    app: App[None] = App()
    async with app.run_test(size=(60, 10)) as pilot:
        detail = Detail()
        await app.screen.mount(detail)
        detail.show(Document(key="k", title="t", token="t", blocks=(Lines(((("words", ""),),)),)))
        app.screen._compositor._full_map_invalidated = True  # as after a step of a scroll
        assert detail in app.screen._compositor.full_map
        for _ in range(100):
            if "words" not in _text(app):
                await pilot.pause()
        assert "words" in _text(app)


@pytest.mark.anyio
async def test_what_a_widget_painted_goes_with_the_widget() -> None:
    app: App[None] = App()
    async with app.run_test(size=(60, 10)) as pilot:
        for number in range(8):
            framed = Static(f"words {number}")
            framed.styles.border = ("round", "red")
            await app.screen.mount(framed)
            for _ in range(100):
                if f"words {number}" not in _text(app):
                    await pilot.pause()
            await framed.remove()
        gc.collect()
        assert not _holding("words 1")


def _holding(text: str) -> list[Strip]:
    return [item for item in gc.get_objects() if isinstance(item, Strip) and text in item.text]


def _text(app: App[None]) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


FAMILY, FLAG, THUMB, ACCENT = "👨\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "e\u0301"
HINDI, THAI, LAO = "\u0915\u093f", "\u0e19\u0e49\u0e33", "\u0e99\u0eb3"


@pytest.mark.parametrize("one", [FAMILY, FLAG, THUMB, ACCENT, HINDI, THAI, LAO, "1\ufe0f\u20e3"])
@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_that_another_widget_begins_over_is_cut_between_characters(one: str, cut: int) -> None:
    text = "ab" + one * 6 + "cd"
    width = width_of(((text, ""),))
    pieces = Strip([Segment(text)], width).divide([cut, width])
    assert [piece.cell_length for piece in pieces] == [width_of(((piece.text, ""),)) for piece in pieces]
    assert not set("".join(piece.text for piece in pieces).replace(one, "")) - set("abcd ")
    assert (cut % 2 and one not in (ACCENT, HINDI)) or "".join(piece.text for piece in pieces) == text
