"""Text that looks like a secret, so that the sender can think again (requirement 111); the secret is never repeated."""

from __future__ import annotations

import re

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("a private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
        ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255})"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("an API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
        ("an API key", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("a package registry token", r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,})"),
        ("a signed token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("a bearer token", r"(?i:\bbearer)\s+[A-Za-z0-9._~+/-]{20,}=*"),
        ("a password in an address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?!\*+@|\$\{|<)[^\s/@]{3,200}@"),
    )
)
_ASSIGNMENT = re.compile(
    r"(?i)(?P<name>(?:passwords?|passwd|passphrase|pwd|secret(?:[_-]?key)?|api[_-]?key|"
    r"access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|token)|密码|口令|密钥)"
    r"[\"'`]?\s{0,4}(?:=|:|：|是|为)\s{0,4}(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;，。；]{4,200})"
)
_PLACEHOLDER = re.compile(
    r"(?i)[*x.•_-]+$|[<{\[$(%]|(?:none|null|true|false|required|optional|missing|changeme|example|redacted|secret|password|"
    r"token|your|env|vault|getenv|os\.environ|process\.env)"
)
_ALWAYS_SECRET = re.compile(r"(?i)pass|pwd|密码|口令")


def secret_warnings(text: str) -> list[str]:
    """One warning for each sort of secret the text seems to hold, with its line; the value is not in it."""
    found: dict[str, int] = {}
    for what, pattern in _PATTERNS:
        match = pattern.search(text)
        if match:
            found.setdefault(what, _line(text, match.start()))
    for match in _ASSIGNMENT.finditer(text):
        if _is_secret(match):
            found.setdefault("a password or key", _line(text, match.start()))
            break
    return [
        f"line {line} looks like it holds {what}; messages are stored in plain text" for what, line in found.items()
    ]


def _is_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if _PLACEHOLDER.match(value):
        return False
    if _ALWAYS_SECRET.search(match["name"]):
        return bool(match["quote"]) or not value.isalpha() or len(value) >= 12
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return len(value) >= 12 and has_digit and has_letter


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
