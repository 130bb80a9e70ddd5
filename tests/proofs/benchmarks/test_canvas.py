"""Fewer bytes, same picture: what the sparing driver writes looks as what Textual would have written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from types import SimpleNamespace
from unicodedata import category, normalize

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len, set_cell_size
from team_console.console import canvas as ordering
from team_console.console.canvas import Canvas, cells_of
from wcwidth import wcwidth

pytestmark = pytest.mark.slow

COLUMNS, LINES = 24, 6
_COLOURS = st.sampled_from(["38;2;10;20;30", "38;5;200", "31", "39", "90"])
_GROUNDS = st.sampled_from(["48;2;1;2;3", "48;5;17", "44", "49"])
_ATTRIBUTES = st.sampled_from(["1", "3", "4", "7", "9", "2"])
_STYLES = st.builds(
    lambda *parts: ";".join(part for part in parts if part),
    st.one_of(st.just(""), _ATTRIBUTES),
    st.one_of(st.just(""), _COLOURS),
    st.one_of(st.just(""), _GROUNDS),
)
_TEXTS = st.text(alphabet="ab  │●█", min_size=1, max_size=14)


@st.composite
def frames(draw: st.DrawFn) -> str:
    """Some runs of styled text at some places, as a compositor writes them."""
    pieces = []
    for _ in range(draw(st.integers(1, 5))):
        row, column = draw(st.integers(1, LINES)), draw(st.integers(1, 8))
        pieces.append(f"\x1b[{row};{column}H")
        for style, text in draw(st.lists(st.tuples(_STYLES, _TEXTS), min_size=1, max_size=3)):
            room = COLUMNS - column + 1
            pieces.append(f"\x1b[{style}m{text[:room]}\x1b[0m" if style else text[:room])
            column += len(text[:room])
            if column > COLUMNS:
                break
    return "".join(pieces)


@settings(max_examples=100, deadline=None)
@given(st.lists(frames(), min_size=1, max_size=5), st.booleans())
def test_a_sparing_screen_looks_like_a_lavish_one(pictures: list[str], erases: bool) -> None:
    lavish, sparing = pyte.Screen(COLUMNS, LINES), pyte.Screen(COLUMNS, LINES)
    canvas = Canvas(erases=erases)
    for picture in pictures:
        pyte.Stream(lavish).feed(picture + "\x1b[0m")
        pyte.Stream(sparing).feed(canvas.update(picture))
        assert _look(sparing) == _look(lavish)


def test_an_unchanged_picture_costs_nothing() -> None:
    canvas = Canvas()
    picture = "\x1b[1;1H\x1b[1;31mready\x1b[0m"
    assert canvas.update(picture)
    assert canvas.update(picture) == ""


@pytest.mark.parametrize("aside", ["\x07", "\x1b]22;default\x07", "\x1b[?1003h\x1b[?25l"])
def test_a_bell_or_another_pointer_does_not_cost_a_whole_picture(aside: str) -> None:
    canvas = Canvas()
    picture = "\x1b[1;1H\x1b[1;31mready\x1b[0m"
    canvas.update(picture)
    assert canvas.update(aside) == aside
    assert canvas.update(picture) == ""


def test_after_a_sequence_that_is_not_understood_the_whole_picture_is_written_again() -> None:
    canvas = Canvas()
    picture = "\x1b[1;1Hready"
    canvas.update(picture)
    canvas.update("\x1b[2J")
    assert "ready" in canvas.update(picture)


def test_what_is_passed_on_unchanged_meets_the_pen_it_expects() -> None:
    canvas = Canvas()
    canvas.update("\x1b[1;1H\x1b[1;31;44mready\x1b[0m")
    assert canvas.update("\x1b[?1049l") == "\x1b[m\x1b[?1049l"


def test_after_another_wrote_to_the_terminal_its_pen_is_not_relied_upon() -> None:
    canvas, screen = Canvas(), pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    stream.feed(canvas.update("\x1b[1;1H\x1b[31mready\x1b[0m"))
    canvas.forget()
    stream.feed("\x1b[7;32m")
    stream.feed(canvas.update("\x1b[2;1H\x1b[31mset\x1b[0m"))
    assert (screen.buffer[1][0].fg, screen.buffer[1][0].reverse) == ("red", False)


def test_a_scrollbar_that_comes_costs_few_bytes_a_row() -> None:
    canvas, rows = Canvas(), range(10, 40)
    canvas.update("".join(f"\x1b[{row};1H{' ' * 80}" for row in rows))
    bar = "".join(f"\x1b[{row};79H\x1b[48;2;40;50;60m \x1b[0m" for row in rows)
    assert len(canvas.update(bar)) < 6 * len(rows)


def test_a_frame_between_two_changes_is_not_written_again() -> None:
    canvas = Canvas()
    frame = "\x1b[38;2;40;50;60m││\x1b[0m"
    canvas.update(f"\x1b[1;1H\x1b[31mone\x1b[0m{frame}\x1b[31mtwo\x1b[0m")
    assert "│" not in canvas.update(f"\x1b[1;1H\x1b[31mhis\x1b[0m{frame}\x1b[31mher\x1b[0m")


def _look(screen: pyte.Screen) -> list[list[object]]:
    return [[_cell(screen.buffer[row][column]) for column in range(COLUMNS)] for row in range(LINES)]


def _cell(char: pyte.screens.Char) -> object:
    """What the eye sees: a blank has no foreground unless it is underlined, ink alone is a blank of its colour."""
    if char.reverse and "default" not in (char.fg, char.bg):
        char = char._replace(fg=char.bg, bg=char.fg, reverse=False)
    if char.data == " " and not (char.underscore or char.strikethrough):
        return " ", char.fg if char.reverse else char.bg
    if char.data == "█" and not (char.underscore or char.strikethrough or char.reverse):
        return " ", char.fg
    return char


def test_a_bar_of_ink_is_erased_in_its_colour_instead_of_written() -> None:
    canvas = Canvas(erases=True)
    bar = canvas.update(f"\x1b[1;1H\x1b[38;2;40;50;60;48;2;1;2;3m{'█' * 20}\x1b[0m")
    assert bar.startswith("\x1b[1H\x1b[48;2;40;50;60m\x1b[20X")
    assert "█" in Canvas().update(f"\x1b[1;1H\x1b[31m{'█' * 20}\x1b[0m"), "a colour of the palette may look otherwise"


def test_what_changes_in_two_inks_is_written_ink_by_ink() -> None:
    canvas, quiet, loud = Canvas(), "38;2;128;140;153;48;2;19;25;32", "38;2;207;214;222;48;2;19;25;32"
    rows = [(f"\x1b[{row};1H", f"09:{row:02} ", f"note {row * 7919}") for row in range(1, 7)]
    picture = "".join(f"{place}\x1b[{quiet}m{time}\x1b[{loud}m{text}\x1b[0m" for place, time, text in rows)
    canvas.update("\x1b[9;1Hthe first picture is written as it stands")
    change = canvas.update(picture)
    assert change.count("38;2;128;140;153") == 1
    assert change.count("38;2;207;214;222") == 1


def test_the_first_picture_is_written_as_it_stands_without_trying_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def by_style(runs: Sequence[ordering.Run], inks: object, style: object) -> list[ordering.Run]:
        tried.append(len(runs))
        return list(runs)

    monkeypatch.setattr(ordering, "_by_style", by_style)
    canvas = Canvas()
    picture = "".join(f"\x1b[{row};1H\x1b[31m{row}\x1b[32m note\x1b[0m" for row in range(1, 7))
    canvas.update(picture)
    assert tried == []
    canvas.update(picture.replace("note", "word").replace("31m", "33m"))
    assert tried != []


def test_pieces_of_a_scrollbar_between_letters_are_written_together() -> None:
    canvas, page, thumb = Canvas(), "38;2;207;214;222;48;2;19;25;32", "38;2;9;9;9;48;2;44;55;66"

    def picture(word: str) -> str:
        rows = range(1, 9)
        return "".join(f"\x1b[{row};1H\x1b[{page}m{word} {row}\x1b[{thumb}m \x1b[{page}m{word}\x1b[0m" for row in rows)

    canvas.update("\x1b[20;1Hsomething")
    assert canvas.update(picture("note")).count("48;2;44;55;66") == 1


def test_blanks_of_two_styles_that_look_alike_are_one_erasure() -> None:
    canvas, back = Canvas(erases=True), "48;2;19;25;32"
    canvas.update(f"\x1b[1;1H\x1b[{back}m{'x' * 40}\x1b[0m")
    blanks = f"\x1b[38;2;1;1;1;{back}m{' ' * 30}\x1b[38;2;2;2;2;{back}m{' ' * 10}"
    assert canvas.update(f"\x1b[1;1H{blanks}\x1b[0m").count("X") == 1


def test_styles_are_written_in_the_order_of_the_shortest_changes() -> None:
    canvas, page, bar = Canvas(), "48;2;19;25;32", "48;2;25;33;42"
    canvas.update("\x1b[20;1Hsomething")
    inks = ("38;2;200;0;0", "38;2;0;200;0", "38;2;0;0;200")
    pieces = [
        f"\x1b[{row};1H\x1b[{ink};{back}mword {row}\x1b[0m"
        for row, (ink, back) in enumerate([(ink, back) for ink in inks for back in (page, bar)] * 2, start=1)
    ]
    change = canvas.update("".join(pieces))
    assert change.count(page) + change.count(bar) <= 4, "the ground changes when all of one ground is written"


def test_blanks_beside_letters_of_any_script_are_erased() -> None:
    canvas = Canvas(erases=True)
    assert "\x1b[20X" in canvas.update(f"\x1b[1;1H\x1b[48;2;1;2;3ma → b{' ' * 20}\x1b[0m")


_SCRIPTS = (
    "कृपया रिपोर्ट क्षि",
    "ஐந்து தமிழ்",
    "বাংলা কো",
    "กำลัง ทำ",
    "\u1112\u1161\u11ab",
    "👩🏽‍💻🫩",
    "ខ្មែរ",
    "မြန်မာ",
    "שָׁלוֹם",
)


def _differs(letter: str) -> bool:
    """Whether terminals give the letter different widths."""
    return category(letter) == "Mc" or letter in "\u0e33\u1161\u11ab\u200d\U0001f3fd\U0001fae9"


def _mixed(chance: random.Random) -> str:
    """A line of letters, numbers and rules with texts of other scripts in between, as wide as the widgets count it."""
    line = ""
    while (room := COLUMNS - cell_len(line)) > 0:
        line += set_cell_size(
            chance.choice((*_SCRIPTS, "plain text", "1. look │ ")), min(room, chance.randrange(3, 12))
        )
    return line


def _has_its_place(texts: list[str], column: int) -> bool:
    """Whether a cell is ASCII and no blank behind words of another script, which may need it."""
    before = next((text for text in reversed(texts[: column + 1]) if text not in ("", " ")), "")
    return texts[column] != "" and texts[column].isascii() and before.isascii()


@pytest.mark.parametrize("width", [0, 1], ids=["no cell", "one cell"])
@pytest.mark.parametrize("scrolls", [False, True])
def test_where_terminals_differ_on_a_width_everything_else_stands_in_its_place(
    monkeypatch: pytest.MonkeyPatch, width: int, scrolls: bool
) -> None:
    chance = random.Random(4)
    monkeypatch.setattr(pyte.screens, "wcwidth", lambda letter: width if _differs(letter) else wcwidth(letter))
    # What takes no cell belongs to the letter before; pyte itself would drop all that follows some of it.
    monkeypatch.setattr(pyte.screens, "unicodedata", SimpleNamespace(combining=bool, normalize=normalize))
    screen, canvas, lines = pyte.Screen(COLUMNS, LINES), Canvas(scrolls=scrolls), [""] * LINES
    screen.reset_mode(7, private=True)  # as the toolkit does: what is too long stays in the last cell
    for number in range(300):
        first = chance.randrange(LINES)
        for row in range(first, LINES):
            lines[row] = _mixed(chance) if chance.random() < 0.6 else "".join(chance.choices("abc │12", k=COLUMNS))
        picture = "".join(f"\x1b[{row + 1};1H{line}" for row, line in enumerate(lines) if row >= first)
        pyte.Stream(screen).feed(canvas.update(picture))
        for row in range(LINES):
            shown = [screen.buffer[row][column].data for column in range(COLUMNS)]
            wanted = [text for text, _ in cells_of(lines[row], "")]
            sure = {column: text for column, text in enumerate(wanted) if _has_its_place(wanted, column)}
            assert {column: shown[column] for column in sure} == sure, f"seed 4, picture {number}, row {row}"


@pytest.mark.parametrize("width", [0, 1], ids=["no cell", "one cell"])
@pytest.mark.parametrize("words", ["कृपया रिपोर्ट की", "ஐந்து தமிழ்", "বাংলা কো"])
def test_words_keep_their_vowels_where_there_is_room(monkeypatch: pytest.MonkeyPatch, words: str, width: int) -> None:
    monkeypatch.setattr(pyte.screens, "wcwidth", lambda letter: width if _differs(letter) else wcwidth(letter))
    monkeypatch.setattr(pyte.screens, "unicodedata", SimpleNamespace(combining=bool, normalize=normalize))
    screen, canvas = pyte.Screen(60, 1), Canvas()
    for picture in ("x" * 60, set_cell_size(words, 40) + "the end of it"):
        pyte.Stream(screen).feed(canvas.update(f"\x1b[1;1H{picture}"))
    shown = screen.display[0]
    assert [shown[: len(words) + 9].split(), screen.buffer[0][40].data] == [words.split(), "t"]
