"""Find secrets in a text (requirement 111), to warn of them or to mask them; below, summaries that lists show badly."""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import category


class _Secret(NamedTuple):
    """A sort of secret.

    Attributes:
        marker: What a text holds that may hold one: a text without it is not searched.
        what: What it would be, in words.
        pattern: A regular expression of one.
    """

    marker: str
    what: str
    pattern: str


_SECRETS = (
    _Secret("PRIVATE KEY", "a private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    _Secret("AKIA", "an AWS access key", r"\bAKIA[0-9A-Z]{16}\b"),
    _Secret("ASIA", "an AWS access key", r"\bASIA[0-9A-Z]{16}\b"),
    _Secret("gh", "a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{20,255}"),
    _Secret("github_pat_", "a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    _Secret("glpat-", "a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    _Secret("sk-", "an API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    _Secret("k_", "an API key", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _Secret("AIza", "a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    _Secret("xox", "a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _Secret("npm_", "a package registry token", r"\bnpm_[A-Za-z0-9]{36}"),
    _Secret("pypi-", "a package registry token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    # Not \b: in -eyJa-eyJa-eyJa each would be looked at up to the end of the text.
    _Secret(
        "eyJ", "a signed token", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    ),
    _Secret("earer", "a bearer token", r"\b[Bb]earer\s+[A-Za-z0-9._~+/-]{20,}=*"),
    _Secret(
        "://", "a password in an address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?!\*+@|\$\{|<)[^\s/@]{3,200}@"
    ),
)
"""Sorts of secrets that are known by their form; patterns are compiled only when needed."""

_SECRET_WORDS = ("pass", "pwd", "secret", "key", "token", "密码", "口令", "密钥")
"""Words of which a text holds one where it may assign a secret: quick, before `_ASSIGNMENT` is searched for."""
_ASSIGNMENT = (
    r"(?i)(?P<name>(?:passwords?|passwd|passphrase|pwd|secret(?:[_-]?key)?|api[_-]?key|"
    r"access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|token)|密码|口令|密钥)"
    r"[\"'`]?\s{0,4}(?:=|:|：|是|为)\s{0,4}(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;，。；]{4,200})"
)
"""A name such as `password` or `api_key`, a sign or a word that gives it a value, and the value."""
_PLACEHOLDER = (
    r"(?i)[*x.•_-]+$|[<{\[$(%]|(?:none|null|true|false|required|optional|missing|changeme|example|redacted|secret|password|"
    r"token|your|env|vault|getenv|os\.environ|process\.env)"
)
"""How a value begins, or what it is, that stands for a secret and is none: `****`, `<token>`, `$TOKEN`, `none`."""
_ALWAYS_SECRET = r"(?i)pass|pwd|密码|口令"
"""Names whose value is a secret though it be a plain word; of a key or token only what looks drawn at random is."""


def secret_warnings(text: str) -> list[str]:
    """Return one warning for each sort of secret the text seems to hold, with its line; the value is not in it."""
    found: dict[str, re.Match[str]] = {}
    for marker, what, pattern in _SECRETS:
        if marker in text and (match := re.search(pattern, text)):
            found.setdefault(what, match)
    if _may_name_secret(text) and (secret := next(filter(_is_secret, re.finditer(_ASSIGNMENT, text)), None)):
        found["a password or key"] = secret
    lines = {what: text.count("\n", 0, match.start()) + 1 for what, match in found.items()}
    return [f"line {at} looks like it holds {what}; messages are stored in plain text" for what, at in lines.items()]


def mask_secrets(text: str) -> str:
    """Return the text with a word in place of each secret that `secret_warnings` knows; a private key goes to its
    end.
    """
    for marker, what, pattern in _SECRETS:
        if marker in text:
            whole = rf"{pattern}(?s:.*?)(?:-----END [A-Z0-9 ]{{0,60}}-----|\Z)" if what == "a private key" else pattern
            text = re.sub(whole, f"[{what}]", text)
    if _may_name_secret(text):
        # guard: transcript-secrets-masked
        text = re.sub(_ASSIGNMENT, _mask_assignment, text)
    return text


def _may_name_secret(text: str) -> bool:
    """Return whether a text holds any word that the name of a secret has."""
    folded = text.casefold()
    return any(name in folded for name in _SECRET_WORDS)


def _mask_assignment(match: re.Match[str]) -> str:
    """Return an assignment with a word in place of its value where that is a secret, else as it is."""
    head = match.group()[: -len(match["value"])]
    return f"{head}[a password or key]" if _is_secret(match) else match.group()


def _is_secret(match: re.Match[str]) -> bool:
    """Return whether a value that is assigned to such a name is a secret, and no word that stands for one."""
    value = match["value"]
    if re.match(_PLACEHOLDER, value):
        return False
    if re.search(_ALWAYS_SECRET, match["name"]):
        return bool(match["quote"]) or not value.isalpha() or len(value) >= 12
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return len(value) >= 12 and has_digit and has_letter


# Summaries that a list shows badly: length in words of any script, greetings, language.

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
    """Return whether every word of a summary belongs to a greeting, in English or Chinese."""
    if not summary.isascii():
        words = split_words(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)
