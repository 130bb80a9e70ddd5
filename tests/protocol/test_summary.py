"""Summaries are counted in words of any script; the source's good examples pass and its bad ones warn."""

from __future__ import annotations

import pytest
from team_console.store.protocol.free_text import count_words, summary_warnings

GOOD = ["创建新任务：财务报表生成", "查询任务 TASK-001 状态", "批准任务变更计划", "项目 PROJ-001 启动通知"]
LONGER = ["请查询今天所有任务的状态", "重新提交财务报表生成计划"]
"""Of 7 and 6 words, in 12 characters each."""
BAD = {"你好": "greets", "我有个问题想问你关于任务的事情": "too long", "Message about task status": "too little"}


@pytest.mark.parametrize("language", ["zh", "any"])
@pytest.mark.parametrize("summary", GOOD + LONGER)
def test_a_good_example_of_the_source_passes(summary: str, language: str) -> None:
    assert summary_warnings(summary, language=language) == []


@pytest.mark.parametrize("language", ["zh", "any", "en"])
@pytest.mark.parametrize(("summary", "word"), BAD.items())
def test_a_bad_example_of_the_source_warns(summary: str, word: str, language: str) -> None:
    assert any(word in warning for warning in summary_warnings(summary, language=language))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("…—!", 0),
        ("项目 PROJ-001 启动通知", 6),
        ("Refactor the report generator", 4),
        ("don't", 1),
        ("naïve café", 2),
        ("プランを見る", 5),
        ("TASK-2026-02-24-001 done", 2),
        ("保存v2版", 4),
        ("重新提交财务报表生成计划", 9),
        ("我有个问题想问你关于任务的事情", 11),
        ("नमस्ते दुनिया योजना की स्वीकृति दें", 6),
        ("cafe\u0301 noir", 2),
        ("فایل\u200cها را می\u200cبینم", 3),
        ("திட்டத்தை ஏற்கவும்", 2),
    ],
)
def test_words_are_runs_of_letters_and_seven_han_characters_are_five(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(("words", "warned"), [(4, True), (5, False), (10, False), (11, True)])
def test_five_to_ten_words_are_right(words: int, warned: bool) -> None:
    assert bool(summary_warnings(" ".join(["word"] * words), language="en")) is warned


def test_how_long_a_text_without_spaces_is_cannot_be_told_and_is_not() -> None:
    assert summary_warnings("ขออนุมัติแผนงานสำหรับรายงานประจำเดือนนี้", language="any") == []
    assert summary_warnings("ขออนุมัติแผน", language="zh") == ["summary: it is not in the team's language (zh)"]


@pytest.mark.parametrize(
    "summary", ["hello there everyone", "Hi team, good morning all!", "大家好，早上好", "您好谢谢"]
)
def test_a_mere_greeting_is_told_so(summary: str) -> None:
    assert any("greets" in warning for warning in summary_warnings(summary, language="any"))


@pytest.mark.parametrize(
    ("language", "summary"), [("zh", "Refactor the report generator today"), ("en", "创建新任务财务报表")]
)
def test_another_language_than_the_team_s_is_told_so(language: str, summary: str) -> None:
    assert any("language" in warning for warning in summary_warnings(summary, language=language))
    assert summary_warnings(summary, language="any") == []
