"""Lines are cut, padded and wrapped by cells, whatever script they are in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_console.widgets.text import Line, crop, crop_name, fit, spread, text_of, width_of, wrap

from tests.equipment.cases import cases

TEXTS = st.text(st.sampled_from("ab c日本e\u0301🙂…-"), max_size=60)


@given(st.lists(TEXTS, max_size=4), st.integers(1, 40))
def test_a_fitted_line_has_exactly_the_width(texts: list[str], width: int) -> None:
    line: Line = tuple((text, "muted") for text in texts)
    assert width_of(fit(line, width)) == width


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["", "muted"])), max_size=4), st.integers(2, 40))
def test_wrapping_keeps_to_the_width_and_loses_nothing_but_spaces(parts: list[tuple[str, str]], width: int) -> None:
    wrapped = wrap(tuple(parts), width)
    text = "".join(map(text_of, wrapped))
    assert text.replace(" ", "") == "".join(text for text, _ in parts).replace(" ", "")
    for line in wrapped:
        assert width_of(line) <= width
        assert text_of(line) == text_of(line).rstrip(" "), "no space stands at the end"
        assert all(first[1] != second[1] for first, second in pairwise(line)), "neighbours of one tone are one part"


@pytest.mark.parametrize("text", ["two words", "日本 語です"])
def test_what_just_fits_stands_in_one_line(text: str) -> None:
    assert [text_of(line) for line in wrap(((text, ""),), width_of(((text, ""),)))] == [text]


@pytest.mark.parametrize("width", [3, 9, 30])
def test_the_right_end_of_a_spread_line_is_always_there(width: int) -> None:
    line = spread((("something long at the left", ""),), ((" 4m", "muted"),), width)
    assert text_of(line).endswith(" 4m")
    assert width_of(line) == width


FAMILY, FLAG, THUMB, ACCENT = "👨\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "e\u0301"
HINDI, THAI, LAO = "\u0915\u093f", "\u0e19\u0e49\u0e33", "\u0e99\u0eb3"
"""A letter with its vowel; that of Thai and Lao takes a cell of its own, in Thai behind a tone."""


@cases
@pytest.mark.parametrize("width", range(1, 16))
def test_what_stands_in_one_place_is_shown_whole_or_not_at_all(one: str, width: int) -> None:
    text = "ab" + one * 6 + "cd"
    for cut in (crop(text, width), *(text_of(line) for line in wrap(((text, ""),), width))):
        assert not set(cut.replace(one, "")) - set("abcd …")


@cases
def test_a_name_is_cut_before_its_last_word(name: str, width: int, shown: str) -> None:
    assert crop_name(name, width) == shown
