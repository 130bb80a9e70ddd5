"""How long a summary is in words of any script, and what a reader would miss in it (requirements 86-88)."""

from __future__ import annotations

import re
from functools import cache
from unicodedata import category

FEWEST, MOST, MOST_CJK = 5, 10, 11
"""Bounds in words. Han characters and kana count one each, so a summary that has any may have one word more:
with that the good examples of seed 001 section 4.1 (7 to 11) pass, and its bad ones (2, 15, 4) do not (001-f)."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-'./:@#][A-Za-z0-9])*")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer are written without spaces: how many words a text has cannot be seen from it."""
_JOINERS = "\u200c\u200d"
"""Persian and Hindi write them between the letters of one word."""
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
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _han() -> re.Pattern[str]:
    return re.compile(f"[{_CJK}]")


def words_of(text: str) -> list[str]:
    """Words of `text`: each Han character and kana is one, each run of other letters and digits is one (`TASK-001`).

    Marks upon letters, vowels of Hindi or accents that stand by themselves, belong to the word they are in.
    """
    return _ASCII_WORD.findall(text) if text.isascii() else _any_word().findall(_without_marks(text))


def _without_marks(text: str) -> str:
    return "".join(sign for sign in text if sign not in _JOINERS and category(sign)[0] != "M")


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """What is wrong with a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = not summary.isascii() and _han().search(summary) is not None
    words = words_of(summary)
    found = _length_warnings(summary, len(words), MOST_CJK if has_han else MOST)
    if words and _only_greets(summary, words):
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found


def _length_warnings(summary: str, words: int, most: int) -> list[str]:
    if not summary.isascii() and _unspaced().search(summary) is not None:
        return []
    if words < FEWEST:
        says = {0: "no words say", 1: "1 word says"}.get(words, f"{words} words say")
        return [f"summary: {says} too little; use {FEWEST}-{MOST}"]
    return [f"summary: {words} words are too long for a list; use {FEWEST}-{MOST}"] if words > most else []


def _only_greets(summary: str, words: list[str]) -> bool:
    if not summary.isascii():
        words = words_of(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)
