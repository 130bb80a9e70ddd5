"""Warn about summaries that a list of messages shows badly: length in words of any script, greetings, language."""

from __future__ import annotations

import re
from unicodedata import category

FEWEST_WORDS, MOST_WORDS = 5, 10
"""Bounds in words."""
_WORDS_OF_SEVEN_HAN = 5
"""Chinese does not part its words, and a dictionary would be needed to count them: most have two characters, those that
join them one. With seven characters for five words the good examples of seed 001 section 4.1 (6 to 11 characters) and
`请查询今天所有任务的状态` (12 characters, 7 words) pass, and its bad one of 15 characters, which has 11 words, is too
long (001-f). Too short is only what has fewer than five characters: each can be a word."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-'./:@#][A-Za-z0-9])*")
_HAN = f"[{_CJK}]"
_WORD = rf"{_HAN}|[^\W_{_CJK}](?:[^\W_{_CJK}]|[-'’./:@#][^\W_{_CJK}])*"
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
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


def split_words(text: str) -> list[str]:
    """Split `text` into runs of letters and digits (`TASK-001`), and single Han characters and kana.

    Marks upon letters, vowels of Hindi or accents that stand by themselves, belong to the word they are in.
    """
    return _ASCII_WORD.findall(text) if text.isascii() else re.findall(_WORD, _without_marks(text))


def count_words(text: str) -> int:
    """Count the words of `text`; those in Han characters and kana are estimated."""
    parts = split_words(text)
    han = 0 if text.isascii() else sum(re.match(_HAN, part) is not None for part in parts)
    return len(parts) - han - (-han * _WORDS_OF_SEVEN_HAN // 7)


def _without_marks(text: str) -> str:
    """Return a text without accents and vowels that are signs of their own, and without joiners."""
    return "".join(sign for sign in text if sign not in _JOINERS and category(sign)[0] != "M")


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """Return the faults of a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = not summary.isascii() and re.search(_HAN, summary) is not None
    words = split_words(summary)
    found = _length_warnings(summary, len(words))
    if words and _only_greets(summary, words):
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found


def _length_warnings(summary: str, parts: int) -> list[str]:
    """Return the warning that a summary is too short or too long, where its words can be counted."""
    if not summary.isascii() and re.search(_UNSPACED, summary) is not None:
        return []
    words = count_words(summary)
    if parts < FEWEST_WORDS:
        says = {0: "no words say", 1: "1 word says"}.get(words, f"{words} words say")
        return [f"summary: {says} too little; use {FEWEST_WORDS}-{MOST_WORDS}"]
    return (
        [f"summary: {words} words are too long for a list; use {FEWEST_WORDS}-{MOST_WORDS}"]
        if words > MOST_WORDS
        else []
    )


def _only_greets(summary: str, words: list[str]) -> bool:
    if not summary.isascii():
        words = split_words(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)
