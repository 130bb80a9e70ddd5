"""The JSON objects of `requests`, `roster`, `status` and `check`, as plain values."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import asdict
from team_console.store.contract.team import Team
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Problem
from team_console.store.views.rows import AttentionItem, RequestRow, RosterRow, View
from team_console.store.views.truth import Truth, judge


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
        "forged": dict(row.forged),
        "title": row.title,
        "content": row.question.content,
        "seen_at": _moment(row.seen_at),
        "due_at": _moment(row.due_at),
        "expires_at": _moment(row.expires_at),
        "withdrawn_at": _moment(row.withdrawn_at),
        "answers": [answer.message_id for answer in row.answers],
        "supersedes": row.supersedes,
        "superseded_by": row.superseded_by,
    }


def roster_json(view: View) -> dict[str, Any]:
    """`roster`."""
    return {"agents": [agent_json(row, view.now) for row in view.roster]}


def agent_json(row: RosterRow, now: datetime) -> dict[str, Any]:
    """One agent of the roster."""
    return {
        "name": row.name,
        "role": row.role,
        "state": str(row.state),
        "plan_mode_required": row.plan_mode_required,
        "unread": row.unread,
        "dropped": row.dropped,
        "oldest_unread_seconds": _seconds(row.oldest_unread, now),
        "last_seen": _moment(row.last_seen),
        "reason": row.reason,
        "stranger": row.stranger,
        "addressable": row.is_addressable,
        "looks_like": row.looks_like or None,
        "reported": row.reported or None,
        "reported_at": _moment(row.reported_at),
        "unanswered": row.unanswered,
    }


def status_json(view: View, team: Team) -> dict[str, Any]:
    """`status`; `needs_you` is the length of `needs`, `problems` that of the findings of `check`.

    While the store cannot be read `messages`, `needs` and `needs_you` are null; `condition` is a `State`, `reasons`
    says all that is the matter, `doubt` why messages may be missing, `missing` how many are known to be, `damaged` how
    many entries cannot be read, `dropped` how many wait beside the queue to be taken in, `lock` who holds the lock at
    this moment.
    """
    snapshot, truth = view.snapshot, judge(view.snapshot, view.now)
    return {
        "team": snapshot.config.name,
        "location": team.location,
        "backend": team.kind,
        "read_only": team.read_only,
        "condition": str(truth.state),
        "agents": len(view.roster),
        "messages": dict(view.counts) if snapshot.is_known else None,
        "needs_you": len(view.attention) if snapshot.is_known else None,
        "problems": len(view.findings),
        "last_change": _moment(snapshot.changed_at),
        "doubt": " ".join(reason.sentence for reason in truth.doubts) or None,
        "missing": truth.missing,
        "damaged": truth.damaged,
        "lock": asdict(truth.holder) if truth.holder else None,
        "reasons": reasons_json(truth),
        "dropped": len(snapshot.dropped),
        "needs": [need_json(item, view.now) for item in view.attention] if snapshot.is_known else None,
    }


def reasons_json(truth: Truth) -> list[dict[str, str]]:
    """Everything that stands between what is shown and the truth, worst first."""
    return [{"state": str(reason.state), "text": reason.text, "hint": reason.hint} for reason in truth.reasons]


def need_json(item: AttentionItem, now: datetime) -> dict[str, Any]:
    """One thing that waits for the reader, most urgent first in `needs`."""
    return {
        "need": str(item.need),
        "who": item.who,
        "title": item.title,
        "why": item.why,
        "score": item.score,
        "since": _moment(item.since),
        "waiting_seconds": _seconds(item.since, now),
        "blocks": list(item.blocks),
        "request_id": item.request.request_id if item.request else None,
        "message_id": item.message.message_id if item.message else None,
        "answerable": item.answerable,
    }


def check_json(view: View) -> dict[str, Any]:
    """`check`."""
    return {
        "condition": str(judge(view.snapshot, view.now).state),
        "findings": [finding_json(finding) for finding in view.findings],
    }


def finding_json(problem: Problem) -> dict[str, str]:
    """One finding."""
    return asdict(problem)


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment)


def _seconds(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else round(max(0.0, (now - since).total_seconds()), 3)
