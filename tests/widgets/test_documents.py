"""What a detail says of a message, and Markdown and cells in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_console.store.model.message import Message, from_record
from team_console.store.model.safe import safe_text
from team_console.store.protocol.message_seal import Seal
from team_console.widgets.document import Document, Heading, laid_out
from team_console.widgets.markdown_and_code import prose
from team_console.widgets.message_documents import message_document
from team_console.widgets.message_words import decision_words
from team_console.widgets.text import Line, crop, crop_name, fit, spread, text_of, width_of
from team_console.widgets.wrapping import pieces, wrap

from tests.equipment.cases import cases

NOW = datetime(2026, 2, 24, 10, 34, tzinfo=UTC)


def message(**record: object) -> Message:
    base = {"message_id": "MSG-1", "type": "message", "from": "a", "to": "b", "created": "2026-02-24T10:30:00Z"}
    return from_record({**base, "payload": {"content": "Here"}, **record})


def shown(*, seal: Any = None, **record: object) -> str:
    """What a detail says of a message with these fields."""
    document = message_document(message(**record), now=NOW, seal=seal)
    return "\n".join(text_of(laid.line) for laid in laid_out(document, 80))


@cases
def test_a_signature_is_shown_for_what_it_is_worth(seal: Seal, words: str) -> None:
    assert words in shown(signature="x", seal=seal)


@cases
def test_what_a_message_says_is_told_to_its_end(record: dict[str, Any], told: list[str]) -> None:
    text = " ".join(shown(**record).split())
    assert [words for words in told if words not in text] == []


@cases
def test_an_answer_is_told_in_words(type: str, payload: dict[str, Any], words: str) -> None:
    assert text_of(decision_words(message(type=type, payload={"request_id": "r-1", **payload}))) == words


def test_words_that_stand_above_are_not_said_again() -> None:
    assert shown(payload={"summary": "One", "content": "Two"}).count("One") == 1


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe [@click=app.quit]x[/] [/nope]"


def test_every_field_is_made_safe() -> None:
    text = shown(
        **{
            **dict.fromkeys(("message_id", "type", "from", "to", "priority", "status", "created"), HOSTILE),
            "error_message": HOSTILE,
            "payload": {"content": HOSTILE, "summary": HOSTILE, "request_id": HOSTILE, HOSTILE: {HOSTILE: [HOSTILE]}},
        }
    )
    assert safe_text(text) == text
    assert "owned" in text


def test_an_endless_text_is_cut_and_the_cut_is_said() -> None:
    text = shown(payload={"content": "word " * 100_000})
    assert "400,000 more characters are not shown here" in text


def texts(groups: Iterable[Sequence[Line]]) -> list[str]:
    return [text_of(line) for group in groups for line in group]


@cases
def test_markdown_is_drawn_and_nothing_of_it_is_lost(text: str, width: int, shown: list[str]) -> None:
    assert texts(prose(text, width)) == shown


@cases
def test_what_a_markdown_reader_would_hide_is_shown(text: str) -> None:
    assert texts(prose(text, 120)) == [text]


@pytest.mark.parametrize("width", [80, 40, 20, 8])
def test_however_narrow_a_table_is_all_of_its_letters_are_there(width: int) -> None:
    table = "| a | b |\n|---|---|\n| 中文的名字很长 | a cell of many words, longer than there is room |\n| x |"
    shown = re.sub(r"[\s│┼─|-]", "", "".join(texts(prose(table, width))))
    assert sorted(shown) == sorted(re.sub(r"[\s|-]", "", table))


def test_a_text_in_three_quotes_is_one_text_also_where_the_screen_breaks_it() -> None:
    groups = list(prose('```python\n"""All of it in order for us"""\n```', 24))
    assert [[tone for _, tone in line[1:]] for line in groups[1]] == [["good"], ["good"]]


@pytest.mark.parametrize("width", range(8, 24))
def test_no_line_begins_with_a_mark_that_ends_a_phrase(width: int) -> None:
    text = "1. 把表 orders，迁移到新集群（和校验和），然后切换读流量。"
    lines = [text_of(line) for line in wrap(((text, ""),), width)]
    assert not [line for line in lines if line[0] in "，。）" or line[-1] == "（"], lines


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


@cases
@pytest.mark.parametrize("width", range(1, 16))
def test_what_stands_in_one_place_is_shown_whole_or_not_at_all(one: str, width: int) -> None:
    text = "ab" + one * 6 + "cd"
    for cut in (crop(text, width), *(text_of(line) for line in wrap(((text, ""),), width))):
        assert not set(cut.replace(one, "")) - set("abcd …")


@cases
def test_a_name_is_cut_before_its_last_word(name: str, width: int, shown: str) -> None:
    assert crop_name(name, width) == shown


@cases
def test_a_text_is_cut_behind_a_whole_word_where_one_ends_near(text: str, width: int, shown: str) -> None:
    assert crop(text, width) == shown


@cases
def test_a_long_word_is_broken_where_a_reader_would(text: str, width: int, shown: list[str]) -> None:
    assert pieces(text, width) == shown


def test_a_heading_of_wide_letters_is_ruled_to_the_end_of_its_line() -> None:
    document = Document(key="", title="", headline="", blocks=(Heading("区域"),))
    lines = [text_of(laid.line) for laid in laid_out(document, 40)]
    assert "── 区域 " + "─" * 32 in lines
