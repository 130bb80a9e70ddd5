"""How long a summary is in words of any script, and what a reader would miss in it (requirements 86-88)."""

from __future__ import annotations

import re

FEWEST, MOST, MOST_CJK = 5, 10, 11
"""Bounds in words. Han characters and kana count one each, so a summary that has any may have one word more:
with that the good examples of seed 001 section 4.1 (7 to 11) pass, and its bad ones (2, 15, 4) do not (001-f)."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?:[^\W{_CJK}]|[-'’./:@#][^\W_{_CJK}])*")
_HAN = re.compile(rf"[{_CJK}]")
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|greetings|good\s+(?:morning|afternoon|evening|day)|there|all|team|everyone|everybody|thanks|"
    r"thank\s+you|please|你好|您好|大家好|早上好|下午好|晚上好|各位|谢谢|嗨|哈喽)"
    r"(?:啊|呀|吗|了)?",
    re.IGNORECASE,
)


def count_words(text: str) -> int:
    """Words of `text`: each Han character and kana is one, each run of other letters and digits is one (`TASK-001`)."""
    return len(_WORD.findall(text))


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """What is wrong with a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = _HAN.search(summary) is not None
    words, most = count_words(summary), MOST_CJK if has_han else MOST
    found = []
    if words < FEWEST:
        found.append(f"summary: {words} {'word' if words == 1 else 'words'} say too little; use {FEWEST}-{MOST}")
    elif words > most:
        found.append(f"summary: {words} words are too long for a list; use {FEWEST}-{MOST}")
    if words and count_words(_GREETING.sub(" ", summary)) == 0:
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found
