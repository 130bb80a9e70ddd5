"""Differences of texts: they apply to what they were made from, and long texts do not make them slow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from team_console.store.views.differences import NO_LINE_END, counts_of, line_difference

pytestmark = pytest.mark.slow

TEXT = st.lists(st.sampled_from(("a", "b", "c", "", "d\r")), max_size=30).map("\n".join)


def applied(before: str, lines: tuple[str, ...]) -> str:
    """What the difference makes of `before`; it must fit."""
    old = re.findall(r"[^\n]*\n|[^\n]+\Z", before)
    new: list[str] = []
    place = 0
    for number, line in enumerate(lines):
        ending = "" if lines[number + 1 : number + 2] == (NO_LINE_END,) else "\n"
        if match := re.fullmatch(r"@@ -(\d+),(\d+) \+\d+,\d+ @@", line):
            start = int(match[1]) - (1 if int(match[2]) else 0)
            new += old[place:start]
            place = start
        elif line != NO_LINE_END:
            sign, text = line[0], line[1:] + ending
            if sign in " -":
                assert old[place] == text
                place += 1
            if sign in " +":
                new.append(text)
    return "".join(new + old[place:])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(before=TEXT, after=TEXT)
def test_a_difference_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    lines = line_difference(before, after)
    assert applied(before, lines) == after
    assert (lines == ()) is (before == after)


def test_texts_made_to_be_slow_to_compare_are_told_as_replaced() -> None:
    before, after = "x\ny\n" * 400 + "a", "y\nx\n" * 400 + "b"
    assert counts_of(line_difference(before, after)) == "+801 −801"
