"""Joined emoji stay one, and no joiner hides where there is nothing to join."""

from __future__ import annotations

import pytest
from team_console.store.model.safe import safe_line, safe_text

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
