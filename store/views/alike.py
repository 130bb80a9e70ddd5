"""Requests that are alike: of one cause, so that they can be decided together, or as the same was decided before."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import headline_of, path_in, permission_of, questions_of, why_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import RequestRow

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*(?::[a-z0-9-]+)*")
_VARIES = re.compile(r"\d+|`[^`]*`|\"[^\"]*\"|'[^']*'")
_OPERATORS = re.compile(r"\s*(?:&&|\|\||[;|&\n])\s*")
MOST_BEFORE = 5


def cause_of(row: RequestRow) -> str:
    """Return what requests of one cause share: the shape of a command, a file, a site, or the question."""
    if row.kind is not RequestKind.PERMISSION:
        asked = " ".join(question.text for question in questions_of(row.question.payload))
        return f"{row.kind}: {_VARIES.sub('#', asked or row.title).casefold().strip()}"
    return _cause_of_permission(row.question)


@lru_cache(maxsize=4096)
def _cause_of_permission(question: Message) -> str:
    """Remembered: whoever looks at one request compares it with all others."""
    permission = permission_of(question.payload)
    given = permission.input
    command = given.get("command")
    if isinstance(command, str):
        return f"{permission.tool}: {' ; '.join(_shape(part) for part in _OPERATORS.split(command) if part)}"
    if path := path_in(given):
        return f"{permission.tool}: {path}"
    url = given.get("url")
    try:
        site = urlsplit(url).netloc if isinstance(url, str) else " ".join(sorted(map(str, given)))
    except ValueError:
        site = ""
    return f"{permission.tool}: {site}"


def _shape(command: str) -> str:
    """Return a command without what it is used on: the program, its subcommand, its flags."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    named = [word for word in words if not re.fullmatch(r"\w+=.*", word)]
    if not named:
        return ""
    second = named[1:2] if _SUBCOMMAND.fullmatch(named[1] if len(named) > 1 else "") else []
    flags = sorted({word.partition("=")[0] for word in named if word.startswith("-") and len(word) > 1})
    return " ".join([named[0].rpartition("/")[2], *second, *flags])


def outcome_of(row: RequestRow, rows: Iterable[RequestRow]) -> str:
    """Return the result of an approved permission by the asker's later requests: `ok`, `exit 1`; empty if unknown."""
    done = safe_line(headline_of(permission_of(row.question.payload))).partition(": ")[2]
    if not done or not row.is_approved or row.answered_at is None:
        return ""
    later = (
        why_in(other.question.payload)
        for other in rows
        if other.asker == row.asker and other.asked_at is not None and other.asked_at >= row.answered_at
    )
    calls = (call for why in later if why is not None for call in why.calls)
    return next((call.state for call in calls if call.subject and done.startswith(call.subject.rstrip("…"))), "")


def decided_before(row: RequestRow, rows: Iterable[RequestRow]) -> list[RequestRow]:
    """Return earlier decisions on the same thing, newest first, at most five.

    Args:
        rows: Every request that is known, those decided newest first.
    """
    cause = cause_of(row)
    found = (
        other
        for other in rows
        if other.verdict is not None
        and other.key != row.key
        and other.kind is row.kind
        and (row.asked_at is None or other.answered_at is None or other.answered_at <= row.asked_at)
        and cause_of(other) == cause
    )
    return [other for _, other in zip(range(MOST_BEFORE), found, strict=False)]
