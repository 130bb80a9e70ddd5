"""A number of things is said in one way."""

from __future__ import annotations

import pytest
from team_console.console.cli.checking import findings_of
from team_console.store.model.safe import counted
from team_console.store.protocol.free_text import summary_warnings


@pytest.mark.parametrize(
    ("number", "word", "text"),
    [
        (1, "message", "1 message"),
        (2, "delivery", "2 deliveries"),
        (0, "inbox", "0 inboxes"),
        (5000, "day", "5,000 days"),
    ],
)
def test_one_is_not_many(number: int, word: str, text: str) -> None:
    assert counted(number, word) == text


@pytest.mark.parametrize(
    ("number", "errors", "text"),
    [
        (1, 0, "1 finding"),
        (1, 1, "1 finding, an error"),
        (3, 0, "3 findings"),
        (3, 1, "3 findings, 1 of them an error"),
        (3, 2, "3 findings, 2 of them errors"),
    ],
)
def test_findings_and_their_errors_are_counted_in_a_sentence(number: int, errors: int, text: str) -> None:
    assert findings_of(number, errors) == text


@pytest.mark.parametrize(
    ("summary", "words"), [("", "no words say"), ("Hello", "1 word says"), ("so it is", "3 words say")]
)
def test_a_summary_that_is_too_short_is_told_its_length(summary: str, words: str) -> None:
    assert summary_warnings(summary, language="any")[0] == f"summary: {words} too little; use 5-10"
