"""Whether the audit trail is still the one that was written: what a broken chain or seal says to a human."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from team_console.store.contract.audit_seal import LineSeal
from team_console.store.contract.team import AuditLine
from team_console.store.model.problem import Problem


def trail_findings(lines: Sequence[AuditLine]) -> Iterator[Problem]:
    """What is wrong with the audit trail up to the newest of `lines`, which are newest first.

    `AUDIT_BROKEN` where a line was changed, left out, or added without the team's key; `AUDIT_UNSEALED` for lines
    that no key vouches for although the team has one: the chain alone can be computed anew by anybody.
    """
    broken = [line for line in lines if not line.intact]
    if broken:
        yield _broken(broken, is_all=len(broken) == len(lines))
        return
    open_to_edit = [line.seq for line in lines if line.seal is LineSeal.UNSEALED]
    if open_to_edit:
        yield _unsealed(max(open_to_edit), is_last=lines[0].seal is LineSeal.UNSEALED)


def _broken(lines: Sequence[AuditLine], *, is_all: bool) -> Problem:
    first = min(lines, key=lambda line: line.seq)
    where = f"{'at or before' if is_all else 'at'} line {first.seq}"
    if first.seal is LineSeal.BROKEN:
        text = f"the audit trail is not what was written {where}: the seal does not fit the team's key"
    elif first.seal is LineSeal.UNSEALED:
        text = f"the audit trail was written without the team's key {where}, though lines before have its seal"
    else:
        text = f"the chain is broken {where}: a line of the audit trail was changed or left out"
    hint = "Compare audit.jsonl with a copy; what it says from there on need not be all that happened."
    return Problem("AUDIT_BROKEN", "error", f"audit.jsonl, line {first.seq}", text, hint)


def _unsealed(last: int, *, is_last: bool) -> Problem:
    text = f"the audit trail up to line {last} has no seal of the team's key: it is older, or was written without it"
    hint = "Each line that is written with the key from now on is sealed. Compare the others with a copy if in doubt."
    return Problem("AUDIT_UNSEALED", "warning" if is_last else "notice", f"audit.jsonl, line {last}", text, hint)
