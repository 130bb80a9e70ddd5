"""The one error a user ever sees: a code, what happened, and the next step."""

from __future__ import annotations

import errno
import re
from enum import StrEnum
from typing import Any

from msgspec import Struct


class Code(StrEnum):
    """Error codes of the command line contract (`docs/contributing/architecture.md`; the first six are the seeds')."""

    INVALID_TYPE = "INVALID_TYPE"
    MISSING_RECIPIENT = "MISSING_RECIPIENT"
    INVALID_REQUEST_ID = "INVALID_REQUEST_ID"
    APPROVE_MISSING = "APPROVE_MISSING"
    AGENT_NOT_FOUND = "AGENT_NOT_FOUND"
    DELIVERY_TIMEOUT = "delivery_timeout"
    MISSING_CONTENT = "MISSING_CONTENT"
    MISSING_SUMMARY = "MISSING_SUMMARY"
    MISSING_REASON = "MISSING_REASON"
    FORBIDDEN_FIELD = "FORBIDDEN_FIELD"
    INVALID_FIELD = "INVALID_FIELD"
    INVALID_NAME = "INVALID_NAME"
    DUPLICATE_ID = "DUPLICATE_ID"
    ALREADY_ANSWERED = "ALREADY_ANSWERED"
    NOT_PERMITTED = "NOT_PERMITTED"
    CONTENT_TOO_LARGE = "CONTENT_TOO_LARGE"
    READ_ONLY = "READ_ONLY"
    STORE_LOCKED = "STORE_LOCKED"
    STORE_UNREADABLE = "STORE_UNREADABLE"
    STORE_FAILED = "STORE_FAILED"
    TEAM_NOT_FOUND = "TEAM_NOT_FOUND"
    SPAWN_FAILED = "SPAWN_FAILED"
    SIGNATURE_FAILED = "SIGNATURE_FAILED"
    KEY_NOT_ON_RECORD = "KEY_NOT_ON_RECORD"
    ACTOR_BOUND = "ACTOR_BOUND"
    ACTOR_UNNAMED = "ACTOR_UNNAMED"
    USAGE = "USAGE"


_NOTHING_CHANGED = r"(?i)[;,]? ?\bnothing was (?:changed|written)\.?"
"""The end of a message (`...; nothing was written`) or a sentence of a hint (`Nothing was changed.`), with the sign and
the blank before it. It is true of a step that was undone whole, and not of a job with steps before it."""
_EXIT_CODES = {Code.USAGE: 2, Code.STORE_LOCKED: 3, Code.STORE_UNREADABLE: 4, Code.READ_ONLY: 5}


class TeamError(Exception):
    """A refusal or failure that names its place and the next step.

    Attributes:
        code: One of `Code`.
        message: What happened, with the place (file, line, field, id).
        hint: What to do next; may be empty.
        facts: Further JSON values for the error object (who answered, when, which holder).
    """

    def __init__(self, code: Code, message: str, hint: str = "", **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.facts = facts

    @property
    def exit_code(self) -> int:
        """The process exit status: 1 refused, 2 usage, 3 locked, 4 unreadable, 5 read-only."""
        return _EXIT_CODES.get(self.code, 1)

    def after(self, done: str, **facts: Any) -> TeamError:
        """Return the error of a step as that of its whole job, which says what was `done` before, not that nothing was.

        Args:
            done: What the steps before it did, as the end of a sentence.
            facts: Further facts, such as how much was done.
        """
        message, hint = re.sub(_NOTHING_CHANGED, "", self.message), re.sub(_NOTHING_CHANGED, "", self.hint).strip()
        return TeamError(self.code, f"{message}; before that {done}", hint, **{**self.facts, **facts})

    def as_json(self) -> dict[str, Any]:
        """Return the error object of the command line contract."""
        return {
            "success": False,
            "error": str(self.code),
            "message": self.message,
            "hint": self.hint,
            **self.facts,
        }


_SYSTEM_ERRNOS = frozenset(
    {
        *(errno.ESTALE, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE),
        *(errno.ENODEV, errno.ENXIO, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT),
    }
)
"""What a file system or the machine answers when it fails; anything else that nobody expected is a defect of ours."""


def system_failure(error: BaseException) -> TeamError | None:
    """Return the error for a file system that failed where nobody expected it; None for any other exception."""
    # guard: file-system-is-no-defect
    if not isinstance(error, OSError) or error.errno not in _SYSTEM_ERRNOS:
        return None
    place = f"{error.filename}: " if error.filename else ""
    hint = "Look whether it was done, and repeat it with the same id once the file system works again."
    return TeamError(Code.STORE_FAILED, f"{place}{error.strerror or error}", hint, errno=error.errno)


# Problems and findings: what is wrong, where, how badly, and the next step.


class Problem(Struct, frozen=True):
    """Something wrong that a human should know: a departure, a damaged place, a stale lock.

    Attributes:
        code: Stable upper-case word, such as `DAMAGED_ENTRY`.
        severity: `error`, `warning` or `notice`.
        place: File and line, message id, agent or request id.
        message: What is wrong, in one sentence.
        hint: The next step; may be empty.
    """

    code: str
    severity: str
    place: str
    message: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """The problem and its place, named once."""
        return self.message if self.message.startswith(self.place) else f"{self.place}: {self.message}"
