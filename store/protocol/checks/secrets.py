"""Text that looks like a secret, so that the sender can think again (requirement 111); the secret is never repeated."""

from __future__ import annotations

import re

_PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("PRIVATE KEY", "a private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    ("AKIA", "an AWS access key", r"\bAKIA[0-9A-Z]{16}\b"),
    ("ASIA", "an AWS access key", r"\bASIA[0-9A-Z]{16}\b"),
    ("gh", "a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{20,255}"),
    ("github_pat_", "a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("glpat-", "a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("sk-", "an API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("k_", "an API key", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("AIza", "a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("xox", "a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("npm_", "a package registry token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("pypi-", "a package registry token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    # Not \b: in -eyJa-eyJa-eyJa each would be looked at up to the end of the text.
    ("eyJ", "a signed token", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("earer", "a bearer token", r"\b[Bb]earer\s+[A-Za-z0-9._~+/-]{20,}=*"),
    ("://", "a password in an address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?!\*+@|\$\{|<)[^\s/@]{3,200}@"),
)
"""(what the text must contain to be looked at, what it would be, the pattern); compiled only when needed."""

_NAMES = ("pass", "pwd", "secret", "key", "token", "密码", "口令", "密钥")
_ASSIGNMENT = (
    r"(?i)(?P<name>(?:passwords?|passwd|passphrase|pwd|secret(?:[_-]?key)?|api[_-]?key|"
    r"access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|token)|密码|口令|密钥)"
    r"[\"'`]?\s{0,4}(?:=|:|：|是|为)\s{0,4}(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;，。；]{4,200})"
)
_PLACEHOLDER = (
    r"(?i)[*x.•_-]+$|[<{\[$(%]|(?:none|null|true|false|required|optional|missing|changeme|example|redacted|secret|password|"
    r"token|your|env|vault|getenv|os\.environ|process\.env)"
)
_ALWAYS_SECRET = r"(?i)pass|pwd|密码|口令"


def secret_warnings(text: str) -> list[str]:
    """One warning for each sort of secret the text seems to hold, with its line; the value is not in it."""
    found: dict[str, int] = {}
    for marker, what, pattern in _PATTERNS:
        match = re.search(pattern, text) if marker in text else None
        if match:
            found.setdefault(what, _line(text, match.start()))
    folded = text.casefold()
    if any(name in folded for name in _NAMES):
        secret = next(filter(_is_secret, re.finditer(_ASSIGNMENT, text)), None)
        if secret:
            found.setdefault("a password or key", _line(text, secret.start()))
    return [
        f"line {line} looks like it holds {what}; messages are stored in plain text" for what, line in found.items()
    ]


def _is_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if re.match(_PLACEHOLDER, value):
        return False
    if re.search(_ALWAYS_SECRET, match["name"]):
        return bool(match["quote"]) or not value.isalpha() or len(value) >= 12
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return len(value) >= 12 and has_digit and has_letter


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
