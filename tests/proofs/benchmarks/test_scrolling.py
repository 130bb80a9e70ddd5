"""Lines that move together are moved on the terminal, and the screen looks as if they had been written."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from team_console.console.canvas import Canvas

pytestmark = pytest.mark.slow

COLUMNS, LINES = 40, 14
_STYLE = "38;2;200;210;220;48;2;30;30;46"


def painted(rows: list[str], top: int = 1, style: str = _STYLE) -> str:
    """What a toolkit writes to show these lines from the line `top` on."""
    lines = (f"\x1b[{top + n};1H\x1b[{style}m{_fitted(row)}\x1b[0m" for n, row in enumerate(rows))
    return "".join(lines)


def letters(count: int, first: int = 0) -> list[str]:
    """Rows of a list, each another."""
    return [f"  09:{number:02} agent-{number} wrote note {number * 7919}" for number in range(first, first + count)]


def look(screen: pyte.Screen) -> list[list[object]]:
    """What the eye sees of each cell."""
    return [[_cell(screen.buffer[row][column]) for column in range(COLUMNS)] for row in range(LINES)]


def _cell(char: pyte.screens.Char) -> object:
    if char.data == " " and not (char.underscore or char.strikethrough or char.reverse):
        return " ", char.bg
    return char


def test_a_message_on_top_of_a_list_costs_its_line_and_a_scroll() -> None:
    canvas = Canvas(erases=True, scrolls=True)
    canvas.update(painted(["head", *letters(10), "foot", "keys"]))
    change = canvas.update(painted(["new one", *letters(9)], top=2))
    assert "\x1b[2;11r" in change
    assert len(change) < 100
    assert "agent-3" not in change


def test_a_list_that_moves_up_shows_what_comes_from_below() -> None:
    canvas, screen = Canvas(erases=True, scrolls=True), pyte.Screen(COLUMNS, LINES)
    lavish = pyte.Screen(COLUMNS, LINES)
    for rows in (letters(12), letters(12, first=4)):
        pyte.Stream(lavish).feed(painted(rows))
        pyte.Stream(screen).feed(canvas.update(painted(rows)))
        assert look(screen) == look(lavish)


def test_lines_that_differ_only_at_their_ends_are_found_again() -> None:
    canvas, wide = Canvas(erases=True, scrolls=True), 90
    rows = [f"  09:12:50  file-manager to ceo{' ' * 32}{chr(97 + number) * 20}" for number in range(10)]
    show = [f"\x1b[{{}};1H\x1b[{_STYLE}m{row:<{wide}}\x1b[0m" for row in rows]
    canvas.update("".join(line.format(number + 1) for number, line in enumerate(show)))
    change = canvas.update("".join(line.format(number + 1) for number, line in enumerate([show[0], *show[:-1]])))
    assert "r\x1b[" in change
    assert len(change) < 200


def test_a_terminal_without_margins_is_written_to() -> None:
    canvas = Canvas(erases=True)
    canvas.update(painted(letters(10)))
    assert "r\x1b[" not in canvas.update(painted(letters(10, first=1)))


def test_lines_that_are_not_all_known_are_not_moved() -> None:
    canvas = Canvas(scrolls=True)
    canvas.update("".join(f"\x1b[{n + 1};5H{row}" for n, row in enumerate(letters(10))))
    assert "r\x1b[" not in canvas.update("".join(f"\x1b[{n + 2};5H{row}" for n, row in enumerate(letters(10))))


_TEXTS = st.lists(st.sampled_from(["", *letters(16), "same words", "a wide 字 in it"]), min_size=6, max_size=LINES)


@st.composite
def pictures(draw: st.DrawFn) -> list[tuple[list[str], int]]:
    """A list that is scrolled, gets rows and loses rows, with something else beside it now and then."""
    rows = draw(_TEXTS)
    shown = [(rows, 1)]
    for _ in range(draw(st.integers(1, 4))):
        by, place = draw(st.integers(-4, 4)), draw(st.integers(0, len(rows) - 1))
        fresh = draw(_TEXTS)[: abs(by)]
        rows = [*rows[:place], *fresh, *rows[place:]] if by >= 0 else [*rows[:place], *rows[place - by :], *fresh]
        rows = rows[:LINES]
        shown.append((rows, 1))
    return shown


@seed(20261122)
@settings(max_examples=150, deadline=None, database=None)
@given(pictures(), st.booleans())
def test_a_screen_that_scrolls_looks_like_one_that_is_written(shown: list[tuple[list[str], int]], erases: bool) -> None:
    lavish, sparing = pyte.Screen(COLUMNS, LINES), pyte.Screen(COLUMNS, LINES)
    canvas = Canvas(erases=erases, scrolls=True)
    for rows, top in shown:
        picture = painted(rows, top)
        pyte.Stream(lavish).feed(picture)
        pyte.Stream(sparing).feed(canvas.update(picture))
        assert look(sparing) == look(lavish)


def _fitted(row: str) -> str:
    """A row of exactly as many cells as the screen has columns."""
    return row + " " * (COLUMNS - len(row) - row.count("字"))
