"""How long a summary is in words of any script, and what a reader would miss in it (requirements 86-88)."""

from __future__ import annotations

import re
from functools import cache

FEWEST, MOST, MOST_CJK = 5, 10, 11
"""Bounds in words. Han characters and kana count one each, so a summary that has any may have one word more:
with that the good examples of seed 001 section 4.1 (7 to 11) pass, and its bad ones (2, 15, 4) do not (001-f)."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-'./:@#][A-Za-z0-9])*")
_GREETINGS = frozenset(
    (
        *("hi", "hello", "hey", "dear", "greetings", "good", "morning", "afternoon", "evening", "day", "there"),
        *("all", "team", "everyone", "everybody", "thanks", "thank", "you", "please"),
    )
)
_CJK_GREETING = "(?:你好|您好|大家好|早上好|下午好|晚上好|各位|谢谢|嗨|哈喽)[啊呀吗了]?"


@cache
def _any_word() -> re.Pattern[str]:
    return re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?:[^\W_{_CJK}]|[-'’./:@#][^\W_{_CJK}])*")


@cache
def _han() -> re.Pattern[str]:
    return re.compile(f"[{_CJK}]")


def words_of(text: str) -> list[str]:
    """Words of `text`: each Han character and kana is one, each run of other letters and digits is one (`TASK-001`)."""
    return _ASCII_WORD.findall(text) if text.isascii() else _any_word().findall(text)


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """What is wrong with a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = not summary.isascii() and _han().search(summary) is not None
    words, most = words_of(summary), MOST_CJK if has_han else MOST
    found = []
    if len(words) < FEWEST:
        says = {0: "no words say", 1: "1 word says"}.get(len(words), f"{len(words)} words say")
        found.append(f"summary: {says} too little; use {FEWEST}-{MOST}")
    elif len(words) > most:
        found.append(f"summary: {len(words)} words are too long for a list; use {FEWEST}-{MOST}")
    if words and _only_greets(summary, words):
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found


def _only_greets(summary: str, words: list[str]) -> bool:
    if not summary.isascii():
        words = words_of(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)
