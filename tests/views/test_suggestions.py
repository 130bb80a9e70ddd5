"""Suggestions of clients in words: their own rules as they write them, and whatever is not understood in full."""

from __future__ import annotations

from typing import Any

from team_console.store.protocol.suggestions import suggestion_words

from tests.equipment.cases import cases


@cases
def test_a_suggestion_is_told_in_the_words_of_its_client(suggestion: Any, words: str) -> None:
    assert suggestion_words(suggestion) == words
