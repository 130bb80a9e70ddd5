"""The JSON objects of `requests`, `roster`, `status` and `check` (`DESIGN.md` section 5), as plain values."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from store.clock import seconds_since, to_text
from store.team import Condition, Problem, Team
from store.views.rows import RequestRow, RosterRow, View

_LONG_WRITE = 1.0


def request_json(row: RequestRow, now: datetime) -> dict[str, Any]:
    """One request of the ledger."""
    return {
        "request_id": row.request_id,
        "kind": str(row.kind),
        "from": row.asker,
        "to": row.addressee,
        "message_id": row.question.message_id,
        "state": str(row.state),
        "asked_at": _moment(row.asked_at),
        "waiting_seconds": round(row.waiting_seconds(now), 3),
        "answered_at": _moment(row.answered_at),
        "answered_by": row.answered_by,
        "reason": row.reason,
        "flags": [str(flag) for flag in row.flags],
        "title": row.title,
        "seen_at": _moment(row.seen_at),
        "due_at": _moment(row.due_at),
        "answers": [one.message_id for one in row.answers],
        "supersedes": row.supersedes,
        "superseded_by": row.superseded_by,
    }


def requests_json(view: View, *, only_open: bool = False, kind: str | None = None) -> dict[str, Any]:
    """`requests`: those wanted, in the order of the view."""
    rows = [row for row in view.requests if (row.is_open or not only_open) and kind in (None, str(row.kind))]
    return {"requests": [request_json(row, view.now) for row in rows]}


def roster_json(view: View) -> dict[str, Any]:
    """`roster`."""
    return {"agents": [agent_json(row, view.now) for row in view.roster]}


def agent_json(row: RosterRow, now: datetime) -> dict[str, Any]:
    """One agent of the roster."""
    oldest = max(0.0, (now - row.oldest_unread).total_seconds()) if row.oldest_unread else None
    return {
        "name": row.name,
        "role": row.role,
        "state": str(row.state),
        "plan_mode_required": row.plan_mode_required,
        "unread": row.unread,
        "oldest_unread_seconds": None if oldest is None else round(oldest, 3),
        "last_seen": _moment(row.last_seen),
        "reason": row.reason,
        "stranger": row.stranger,
    }


def status_json(view: View, team: Team) -> dict[str, Any]:
    """`status`; `needs_you` and `problems` are numbers, their rows are in `requests` and `check`.

    While the store cannot be read `messages` and `needs_you` are null; `doubt` says why some may be missing.
    """
    snapshot = view.snapshot
    return {
        "team": snapshot.config.name,
        "location": team.location,
        "backend": team.capabilities.name,
        "read_only": team.read_only,
        "condition": _condition(view),
        "agents": len(view.roster),
        "messages": dict(view.counts) if snapshot.is_known else None,
        "needs_you": len(view.attention) if snapshot.is_known else None,
        "problems": len(view.findings),
        "last_change": _moment(snapshot.changed_at),
        "doubt": f"{snapshot.doubt.message}. {snapshot.doubt.hint}" if snapshot.doubt else None,
    }


def check_json(view: View) -> dict[str, Any]:
    """`check`."""
    return {"findings": [finding_json(one) for one in view.findings]}


def finding_json(one: Problem) -> dict[str, str]:
    """One finding."""
    return {
        "code": one.code,
        "severity": one.severity,
        "place": one.place,
        "message": one.message,
        "hint": one.hint,
    }


def _condition(view: View) -> str:
    """A lock that is held longer than any write takes is a state of its own (D16)."""
    snapshot = view.snapshot
    if snapshot.holder is None or snapshot.condition not in (Condition.OK, Condition.EMPTY):
        return str(snapshot.condition)
    held = seconds_since(snapshot.holder.since, view.now)
    return "locked" if held is None or held >= _LONG_WRITE else str(snapshot.condition)


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment)
