"""Decisions as JSON, as rows of a table for other programs, and as a document to hand on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from team_console.store.model.clock import to_text
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.model.words import counted
from team_console.store.views.decisions.decision import Decision, DecisionLedger
from team_console.store.views.history import plain_cell

CSV_FIELDS = (
    *("at", "verdict", "by", "kind", "asked_by", "asked_at", "after_seconds", "request_id", "title", "words", "proof"),
    *("request_sha256", "shown_sha256", "evidence", "message_id", "audit_line", "gaps"),
    "shown_by",
)
"""Columns of `csv_row`."""
_MARKED = frozenset("\\`*_{}[]()#+-.!|<>~")


def ledger_json(ledger: DecisionLedger) -> dict[str, Any]:
    """`decisions --json`."""
    return {
        "decisions": [decision_json(decision) for decision in ledger.decisions],
        "count": len(ledger.decisions),
        "problems": [
            {"code": problem.code, "severity": problem.severity, "message": problem.sentence, "hint": problem.hint}
            for problem in ledger.problems
        ],
    }


def decision_json(decision: Decision) -> dict[str, Any]:
    """One decision; what is not known is null."""
    after = decision.after_seconds
    return {
        "request_id": decision.request_id,
        "kind": decision.kind,
        "verdict": decision.verdict,
        "by": decision.by,
        "asked_by": decision.asked_by or None,
        "asked_at": to_text(decision.asked_at) if decision.asked_at else None,
        "at": to_text(decision.at) if decision.at else None,
        "after_seconds": None if after is None else round(after, 3),
        "title": decision.title or None,
        "words": decision.words or None,
        "request_sha256": decision.request_sha256 or None,
        "shown_sha256": decision.shown_sha256 or None,
        "evidence": list(decision.evidence),
        "shown_by": decision.shown_by or None,
        "proof": str(decision.proof),
        "message_id": decision.message_id or None,
        "audit_line": decision.audit_line,
        "gaps": list(decision.gaps),
    }


def csv_row(decision: Decision) -> dict[str, str]:
    """One row under `CSV_FIELDS`; lists are JSON, what is not known is empty."""
    return {name: plain_cell(_flat(value)) for name, value in decision_json(decision).items()}


def markdown(ledger: DecisionLedger, team: str) -> Iterator[str]:
    """Lines of a Markdown document: what the ledger cannot say first, then each decision."""
    yield f"# Decisions of {_plain(team)}"
    yield ""
    yield f"{counted(len(ledger.decisions), 'decision')}, newest first."
    for problem in ledger.problems:
        yield ""
        yield f"> **{_plain(problem.severity)}**: {_plain(problem.sentence)}"
    for decision in ledger.decisions:
        yield from _section(decision)


def _section(decision: Decision) -> Iterator[str]:
    yield ""
    title = f": {_plain(decision.title)}" if decision.title else ""
    yield f"## {_plain(decision.verdict.capitalize())} by {_plain(decision.by)}{title}"
    yield ""
    for name, value in _facts(decision):
        yield f"- {name}: {value}"
    if decision.words:
        yield ""
        yield from (f"> {_plain(line)}" for line in safe_text(decision.words).split("\n"))


def _facts(decision: Decision) -> Iterator[tuple[str, str]]:
    after = decision.after_seconds
    yield "request", f"{_plain(decision.request_id)} ({_plain(decision.kind or 'kind not known')})"
    yield "asked", f"{_time(decision.asked_at)} by {_plain(decision.asked_by or 'not known')}"
    yield "decided", f"{_time(decision.at)}{'' if after is None else f', after {after:,.0f} s'}"
    yield "proof", str(decision.proof) + (f", audit line {decision.audit_line}" if decision.audit_line else "")
    yield "digest of the request", _plain(decision.request_sha256 or "not known")
    yield "digest of what was shown", _plain(decision.shown_sha256 or "not known")
    yield "shown by", _plain(decision.shown_by or "not known")
    for piece in decision.evidence:
        yield "evidence", _plain(piece)
    for gap in decision.gaps:
        yield "not proved", _plain(gap)


def _time(moment: Any) -> str:
    return _plain(to_text(moment)) if moment is not None else "not known"


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _plain(text: str) -> str:
    """Text in which Markdown means nothing: what an agent wrote makes no heading, link or picture."""
    return "".join(f"\\{character}" if character in _MARKED else character for character in safe_line(text))
