"""The JSON objects of `requests`, `roster`, `status` and `check` (`DESIGN.md` section 5), as plain values."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from store.clock import seconds_since, to_text
from store.team import LockHolder, Problem, Snapshot, Team
from store.views.rows import AttentionItem, RequestRow, RosterRow, View

LONG_WRITE = 1.0
"""Seconds that no write of ours takes: a lock held longer than this is in the way, so it is a state of its own."""


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
        "content": row.question.content,
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
        "dropped": row.dropped,
        "oldest_unread_seconds": None if oldest is None else round(oldest, 3),
        "last_seen": _moment(row.last_seen),
        "reason": row.reason,
        "stranger": row.stranger,
    }


def status_json(view: View, team: Team) -> dict[str, Any]:
    """`status`; `needs_you` is the length of `needs`, `problems` that of the findings of `check`.

    While the store cannot be read `messages`, `needs` and `needs_you` are null; `doubt` says why some may be missing,
    `missing` how many are known to be, `dropped` how many wait beside the queue to be taken in, `lock` who holds the
    lock at this moment.
    """
    snapshot = view.snapshot
    return {
        "team": snapshot.config.name,
        "location": team.location,
        "backend": team.capabilities.name,
        "read_only": team.read_only,
        "condition": condition_of(snapshot, view.now),
        "agents": len(view.roster),
        "messages": dict(view.counts) if snapshot.is_known else None,
        "needs_you": len(view.attention) if snapshot.is_known else None,
        "problems": len(view.findings),
        "last_change": _moment(snapshot.changed_at),
        "doubt": f"{snapshot.doubt.message}. {snapshot.doubt.hint}" if snapshot.doubt else None,
        "missing": len(snapshot.missing),
        "dropped": len(snapshot.dropped),
        "needs": [need_json(item, view.now) for item in view.attention] if snapshot.is_known else None,
        "lock": _holder(snapshot.holder),
    }


def need_json(item: AttentionItem, now: datetime) -> dict[str, Any]:
    """One thing that waits for the reader, most urgent first in `needs`."""
    waited = max(0.0, (now - item.since).total_seconds()) if item.since else None
    return {
        "need": str(item.need),
        "who": item.who,
        "title": item.title,
        "why": item.why,
        "score": item.score,
        "since": _moment(item.since),
        "waiting_seconds": None if waited is None else round(waited, 3),
        "blocks": list(item.blocks),
        "request_id": item.request.request_id if item.request else None,
        "message_id": item.message.message_id if item.message else None,
        "answerable": item.answerable,
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


def condition_of(snapshot: Snapshot, now: datetime) -> str:
    """The state of the store in one word (D16): a `Condition`, or `locked` or `doubt` when it can be read.

    `doubt`: somebody else wrote the queue, and messages are missing or may be; `Snapshot.doubt` says more.
    """
    if not snapshot.is_known:
        return str(snapshot.condition)
    if snapshot.holder is not None and (held_for(snapshot.holder, now) or LONG_WRITE) >= LONG_WRITE:
        return "locked"
    return "doubt" if snapshot.doubt is not None else str(snapshot.condition)


def held_for(holder: LockHolder, now: datetime) -> float | None:
    """Seconds for which the lock has been held; None when that is not known, or the clocks do not agree."""
    seconds = seconds_since(holder.since, now)
    return None if seconds is None or seconds < -LONG_WRITE else max(seconds, 0.001)


def _holder(holder: LockHolder | None) -> dict[str, Any] | None:
    if holder is None:
        return None
    return {name: getattr(holder, name) for name in ("pid", "host", "since", "action", "alive")}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment)
