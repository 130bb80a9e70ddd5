"""Decision: who decided what, when, after how long, on which digest, with which words and evidence."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.problem import Problem


class Proof(StrEnum):
    """What vouches for a decision."""

    SIGNED = "signed"
    """The key of the human who decided."""
    RECORDED = "recorded"
    """The audit trail, whose chain holds up to and including its line: team-console wrote it."""
    UNVERIFIED = "unverified"
    """Nothing: it stands among the messages, and no desk wrote it."""
    NOT_KNOWN = "not known"
    """What could tell is missing or does not hold."""


class Decision(Struct, frozen=True):
    """One decision. What is not known is None or empty, and `gaps` says so.

    Attributes:
        key: Unique row key.
        request_id: The request that was decided.
        kind: Of the request, such as `plan`.
        verdict: `approved`, `rejected` or `answered`.
        by: Who decided.
        asked_by: Who asked.
        at: When it was decided, by the message, else by the audit trail.
        after_seconds: From question to decision.
        title: What was asked, one line.
        words: The words of the decision.
        request_sha256: Digest of the question as it stood when it was decided.
        shown_sha256: Digest of everything that was shown to whoever decided.
        evidence: What was shown beside the question, one line a piece.
        shown_by: What showed it, and how much of it, in words.
        message_id: The message that decided.
        audit_line: Its line in the audit trail.
        gaps: What cannot be proved or is not known, as sentences.
    """

    key: str
    request_id: str
    kind: str
    verdict: str
    by: str
    proof: Proof
    asked_by: str = ""
    asked_at: datetime | None = None
    at: datetime | None = None
    after_seconds: float | None = None
    title: str = ""
    words: str = ""
    request_sha256: str = ""
    shown_sha256: str = ""
    evidence: tuple[str, ...] = ()
    shown_by: str = ""
    message_id: str = ""
    audit_line: int | None = None
    gaps: tuple[str, ...] = ()


class DecisionLedger(Struct, frozen=True):
    """All decisions, newest first.

    Attributes:
        problems: What keeps the ledger from being whole or proved.
    """

    decisions: tuple[Decision, ...] = ()
    problems: tuple[Problem, ...] = ()
