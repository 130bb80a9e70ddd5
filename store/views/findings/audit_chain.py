"""Whether the audit trail is still the one that was written: what a broken hash chain says to a human."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from team_console.store.contract.team import AuditLine
from team_console.store.model.problem import Problem


def trail_findings(lines: Sequence[AuditLine]) -> Iterator[Problem]:
    """`AUDIT_BROKEN` when the chain does not hold up to the newest of `lines`, which are newest first."""
    broken = [line.seq for line in lines if not line.intact]
    if not broken:
        return
    where = "at or before" if len(broken) == len(lines) else "at"
    text = f"the hash chain of the audit trail is broken {where} line {min(broken)}: a line was changed or left out"
    hint = "Compare audit.jsonl with a copy; what it says from there on need not be all that happened."
    yield Problem("AUDIT_BROKEN", "error", f"audit.jsonl, line {min(broken)}", text, hint)
