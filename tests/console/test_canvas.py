"""Fewer bytes, same picture: what the canvas writes looks as what Textual would have written."""

from __future__ import annotations

import random
from types import SimpleNamespace
from unicodedata import category, normalize

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import set_cell_size
from team_console.console.tui.canvas import Canvas
from wcwidth import wcwidth

from tests.equipment.cases import cases

pytestmark = pytest.mark.slow

COLUMNS, LINES = 24, 6
_STYLES = st.builds(
    lambda *parts: ";".join(filter(None, parts)),
    st.sampled_from(["", "1", "3", "4", "7", "9", "2"]),
    st.sampled_from(["", "38;2;10;20;30", "38;5;200", "31", "39", "90"]),
    st.sampled_from(["", "48;2;1;2;3", "48;5;17", "44", "49"]),
)
_TEXTS = st.text(alphabet="ab  │●█", min_size=1, max_size=14)


@st.composite
def frames(draw: st.DrawFn) -> str:
    """Some runs of styled text at some places, as Textual writes them."""
    pieces = []
    for _ in range(draw(st.integers(1, 5))):
        row, column = draw(st.integers(1, LINES)), draw(st.integers(1, 8))
        pieces.append(f"\x1b[{row};{column}H")
        for style, text in draw(st.lists(st.tuples(_STYLES, _TEXTS), min_size=1, max_size=3)):
            shown = text[: max(0, COLUMNS - column + 1)]
            pieces.append(f"\x1b[{style}m{shown}\x1b[0m" if style and shown else shown)
            column += len(shown)
    return "".join(pieces)


@settings(max_examples=100, deadline=None)
@given(st.lists(frames(), min_size=1, max_size=5))
def test_a_screen_of_changes_looks_like_one_of_whole_pictures(pictures: list[str]) -> None:
    whole, changed, canvas = pyte.Screen(COLUMNS, LINES), pyte.Screen(COLUMNS, LINES), Canvas()
    for picture in pictures:
        pyte.Stream(whole).feed(picture + "\x1b[0m")
        pyte.Stream(changed).feed(canvas.update(picture))
        for row in range(LINES):
            assert [whole.buffer[row][x] for x in range(COLUMNS)] == [changed.buffer[row][x] for x in range(COLUMNS)]
        assert canvas.update(picture) == "", "an unchanged picture costs nothing"


@cases
def test_what_changes_no_cell_goes_through_and_costs_no_picture(aside: str) -> None:
    canvas = Canvas()
    canvas.update("\x1b[1;1H\x1b[1;31mready\x1b[0m")
    assert canvas.update(aside) == aside
    assert canvas.update("\x1b[1;1H\x1b[1;31mready\x1b[0m") == ""


def test_after_what_is_not_understood_or_another_program_all_is_written_again() -> None:
    canvas, screen = Canvas(), pyte.Screen(COLUMNS, LINES)
    picture = "\x1b[1;1H\x1b[31mready\x1b[0m"
    canvas.update(picture)
    assert canvas.update("\x1b[2J") == "\x1b[2J"
    assert "ready" in canvas.update(picture)
    canvas.forget()
    pyte.Stream(screen).feed("\x1b[7;32m" + canvas.update(picture))
    assert (screen.buffer[0][0].data, screen.buffer[0][0].fg, screen.buffer[0][0].reverse) == ("r", "red", False)


_WORDS = ("कृपया", "ஐந்து", "বাংলা", "นํ้า", "日本語", "👩\u200d👩\u200d👧", "👍🏽", "e\u0301t", "plain", "│")


@pytest.mark.parametrize("narrow", [True, False])
def test_where_terminals_differ_on_a_width_every_word_stands_at_its_place(
    narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def width(letter: str) -> int:
        return int(not narrow) if category(letter) == "Mc" or letter == "\u0e33" else wcwidth(letter)

    monkeypatch.setattr(pyte.screens, "wcwidth", width)
    # What takes no cell belongs to the letter before; pyte itself would drop all that follows some of it.
    monkeypatch.setattr(pyte.screens, "unicodedata", SimpleNamespace(combining=bool, normalize=normalize))
    chance, screen, canvas = random.Random(4), pyte.Screen(60, 1), Canvas()
    screen.reset_mode(7, private=True)
    for number in range(60):
        words = chance.sample(_WORDS, 3)
        picture = "\x1b[1;1H" + "".join(set_cell_size(word, 18) for word in words) + "│ end"
        pyte.Stream(screen).feed(canvas.update(picture))
        assert [screen.buffer[0][54 + place].data for place in range(5)] == list("│ end"), f"seed 4, picture {number}"
