"""Find secrets in a text by their form (requirement 111), to warn of them or to mask them."""

from __future__ import annotations

import re
from typing import NamedTuple


class _Secret(NamedTuple):
    """A sort of secret.

    Attributes:
        marker: What a text holds that may hold one: a text without it is not searched.
        what: What it would be, in words.
        pattern: A regular expression of one.
        end: What follows up to its end, where the pattern finds its beginning alone: that is masked, too.
    """

    marker: str
    what: str
    pattern: str
    end: str = ""


_SECRETS = (
    _Secret(
        *("PRIVATE KEY", "a private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
        end=r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}-----|\Z)",
    ),
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
    for marker, what, pattern, _ in _SECRETS:
        if marker in text and (match := re.search(pattern, text)):
            found.setdefault(what, match)
    if _may_name_secret(text) and (secret := next(filter(_is_secret, re.finditer(_ASSIGNMENT, text)), None)):
        found["a password or key"] = secret
    lines = {what: text.count("\n", 0, match.start()) + 1 for what, match in found.items()}
    return [f"line {at} looks like it holds {what}; messages are stored in plain text" for what, at in lines.items()]


def mask_secrets(text: str) -> str:
    """Return the text with a word in place of each secret that `secret_warnings` knows."""
    for marker, what, pattern, end in _SECRETS:
        if marker in text:
            text = re.sub(pattern + end, f"[{what}]", text)
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
