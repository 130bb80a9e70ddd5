"""Settings that were in force and are gone: told from an edit by what the text no longer says, and put on record."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem
from team_console.store.settings.problems import SETTINGS_LOST, SETTINGS_UNREADABLE, config_problems
from team_console.store.settings.team_config import TeamConfig

HINT = (
    "Until then those in force before are used, and nothing that needs authority is written. Put them back with "
    "'team-console check --heal', or confirm them as they are with 'team-console check --accept-settings'."
)
_NOTHING = re.compile(rb"(?:\s|\0|\xef\xbb\xbf|#[^\n]*+|---|\.\.\.|\{\s*+\}|~|null)*+")
"""A text without a setting: blanks, the zeros a crash leaves, comments such as `# begin`, `{}`.

Nothing is given back once it matched: the signs of `########` could be one comment or many, in ways that double with
each of them.
"""
_AUTHORITY = re.compile(
    rb"""(?m)(?:^|[{,]\s*)["']?(?P<key>lead|master|agents|members|key_file|humans|verdicts|team_id)["']?\s*:"""
)
"""A key that says who may do what, at the beginning of a line or in `{lead: ceo, agents: [a]}`."""


_NAMES = {"master": "lead", "members": "agents"}


def loss(text: bytes | None, in_force: bytes, *, is_read: bool = True) -> str:
    """What happened to settings that were `in_force`, as the end of a sentence; empty when they were merely edited.

    Args:
        text: What is there now, None when nothing is.
        is_read: Whether it could be understood; of what could not, its own error says more than a key it lacks.
    """
    if _NOTHING.fullmatch(in_force):
        return ""
    if text is None:
        return "is gone"
    if _NOTHING.fullmatch(text):
        return "is empty"
    if in_force.startswith(text.rstrip(b"\0\r\n \t")) and len(text.rstrip()) < len(in_force.rstrip()):
        return "was cut short"
    if not is_read:
        return ""
    gone = sorted(_authority(in_force) - _authority(text))
    return f"says nothing of {' and '.join(gone)} any more" if gone else ""


def _authority(text: bytes) -> set[str]:
    """What a text says of who may do what, each by one of its names."""
    return {_NAMES.get(key, key) for match in _AUTHORITY.finditer(text) for key in [match["key"].decode()]}


def loss_problem(place: str, what: str) -> Problem:
    """The finding for settings at `place` that were in force and are lost."""
    return Problem(SETTINGS_LOST, "error", place, f"{place} {what}, though it held the settings of the team", HINT)


def lost_to(problem: Problem) -> Problem:
    """The finding for settings in force that gave way to such as nobody can understand, for this reason."""
    return Problem(problem.code, problem.severity, problem.place, problem.message, f"{problem.hint} {HINT}".strip())


def misread_problems(config: TeamConfig, place: str) -> tuple[Problem, ...]:
    """The findings for settings at `place` that do not say who leads and who is a member, the reason first."""
    problems = config_problems(config, place)
    reason = next(problem for problem in problems if problem.severity == "error")
    others = (problem for problem in problems if problem is not reason)
    return Problem(SETTINGS_UNREADABLE, "error", reason.place, reason.message, reason.hint), *others


def refuse_misread(config: TeamConfig, place: str) -> None:
    """Refuse to take settings for those in force that do not say who leads and who is a member.

    Raises:
        TeamError: `STORE_UNREADABLE` naming the place, with its line.
    """
    if config.is_misread:
        problem = misread_problems(config, place)[0]
        raise TeamError(Code.STORE_UNREADABLE, problem.sentence, "Correct it first, or put back what was in force.")


def on_record(text: bytes) -> dict[str, Any]:
    """What the ledger keeps of settings in force: the text, so that it can be put back, and its digest."""
    try:
        return {"sha256": digest(text), "text": text.decode()}
    except UnicodeDecodeError:
        return {"sha256": digest(text)}


def from_record(record: Mapping[str, Any]) -> bytes | None:
    """The text that `on_record` kept, None when it is not there or not what it was."""
    text = record.get("text")
    data = text.encode("utf-8", "replace") if isinstance(text, str) else None
    return data if data is not None and digest(data) == record.get("sha256") else None


def refuse_other(text: bytes, signed: Mapping[str, Any]) -> None:
    """Refuse to confirm settings with a signature that is of another text. Raises `TeamError` `NOT_PERMITTED`."""
    if signed.get("sha256", digest(text)) != digest(text):
        words = "the settings changed while they were being confirmed; nothing was written"
        raise TeamError(Code.NOT_PERMITTED, words, "Look at them again, and repeat it.")


def digest(text: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(text).hexdigest()
