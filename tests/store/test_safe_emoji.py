"""Joined emoji stay one, and no joiner hides where there is nothing to join."""

from __future__ import annotations

import re
from itertools import product

import pytest
from team_console.store.model.safe import _CHAIN, safe_line, safe_text

WHOLE = [
    "👩\u200d👩\u200d👧",
    "🏳\ufe0f\u200d🌈",
    "👩🏽\u200d💻",
    "🧑\u200d⚕\ufe0f",
    "👨\u200d👩\u200d👧\u200d👦 and text",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_joined_emoji_stays_whole(text: str) -> None:
    assert safe_text(text) == text
    assert safe_line(text) == text


@pytest.mark.parametrize(
    "text", ["a\u200db", "\u200d👩", "👩\u200d", "👩\u200d\u200d👩", "rm\u200d👩", "👩\u200d x", "١\u200d٢"]
)
def test_a_joiner_that_joins_no_emoji_is_shown(text: str) -> None:
    assert safe_text(text) == text.replace("\u200d", "\ufffd")


def test_a_chain_without_end_is_cut() -> None:
    shown = safe_text("\u200d".join(["👩"] * 40))
    assert max(len(part) for part in shown.split("\ufffd")) <= 9


def test_a_line_is_not_cut_within_a_joiner() -> None:
    assert safe_line("👩\u200d👩\u200d👧", 4) == "👩\u200d👩…"


_E = "\u2600-\u27bf\U0001f000-\U0001faff"
_PLAIN = re.compile(f"((?:[{_E}][\ufe0f\U0001f3fb-\U0001f3ff]*\u200d){{4}}[{_E}]\ufe0f?)\u200d")
"""The rule as one would write it down: it tries every modifier of a run as the first emoji."""
_PIECES = ("👩", "🏻", "\ufe0f", "a", "👩\u200d")


def test_a_chain_is_cut_where_the_plain_rule_cuts_it() -> None:
    middles = ("👩\u200d" * 3, "🏻\u200d" * 4, "👩🏻\ufe0f\u200d👩\u200d🏻\u200d", "👩\u200d" * 9)
    for size in range(5):
        for before in product(_PIECES, repeat=size):
            for middle, after in product(middles, ("\u200d👩\u200d👩", "👩\ufe0f\u200d👩", "🏻🏻\u200d👩")):
                text = f"{''.join(before)}{middle}{after}"
                assert _CHAIN.sub(r"\1+", text) == _PLAIN.sub(r"\1+", text), ascii(text)


def test_a_run_of_modifiers_is_read_once_and_not_from_each_of_them() -> None:
    text = "a" + "🏻" * 8 + "\u200d👩" * 5
    assert _CHAIN.match(text, 1) is not None
    assert [_CHAIN.match(text, place) for place in range(2, 9)] == [None] * 7
    assert safe_text("🏻" * 200_000 + "\u200d").startswith("🏻")
