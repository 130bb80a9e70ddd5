"""The JSON of the ledger of decisions as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from team_console.console.cli.manual.schema_words import Schema, array, count, number, or_null, record, text, word

_MOMENT = text("time as 2026-02-24T10:30:15.123Z")
_DECISION = record(
    {
        "request_id": text(),
        "kind": text("plan, permission, question, shutdown, create, destroy, clarification or escalation"),
        "verdict": word("approved", "rejected", "answered"),
        "by": text("who decided"),
        "asked_by": or_null(text()),
        "asked_at": or_null(_MOMENT),
        "at": or_null(_MOMENT),
        "after_seconds": or_null(number("from question to decision")),
        "title": or_null(text("what was asked")),
        "words": or_null(text("of the decision")),
        "request_sha256": or_null(text("digest of the question as it was decided on")),
        "shown_sha256": or_null(text("digest of all that was shown to whoever decided; null: not known")),
        "evidence": array(text(), "what was shown beside the question, one line a piece"),
        "shown_by": or_null(text("what showed it, and how much of it, in words; null: not known")),
        "proof": word("signed", "recorded", "unverified", "not known"),
        "message_id": or_null(text("the message that decided")),
        "audit_line": or_null(count("its line in the audit trail")),
        "gaps": array(text(), "what cannot be proved or is not known, as sentences"),
    }
)
_PROBLEM = record({"code": text(), "severity": word("error", "warning", "notice"), "message": text(), "hint": text()})


def decision_schemas() -> Mapping[str, Schema]:
    """Verb -> schema."""
    problems = array(_PROBLEM, "what keeps the ledger from being whole or proved")
    return {"decisions": record({"decisions": array(_DECISION), "count": count(), "problems": problems})}
