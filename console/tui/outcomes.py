"""What became of a request while it is read, and what is pending about it."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.rows import (
    RequestRow,
    RequestState,
    View,
)
from team_console.widgets.document import Document
from team_console.widgets.request_documents import newer_words, newest_version
from team_console.widgets.signs import REQUESTS
from team_console.widgets.text import clock_time

GONE = "✗ it is gone from the queue"
NO_LONGER = "✓ it no longer waits here"


def row_now(asked: RequestRow, view: View | None) -> RequestRow | None:
    """Return the request as it stands in `view`; None when it is not there."""
    rows = view.requests if view is not None else ()
    return next((row for row in rows if row.key == asked.key), None)


def asked_title(view: View | None, message: Message) -> str:
    """Return the title of the request that `message` decides, safe text; empty for others and for an agent that
    stops.
    """
    read = parse_message(message)
    if view is None or read.request_id is None or read.answers in (None, RequestKind.SHUTDOWN):
        return ""
    return safe_line(next((row.title for row in view.requests if row.request_id == read.request_id), ""), 300)


def request_outcome(asked: RequestRow, view: View | None, now: datetime) -> str:
    """Return the outcome of a request that was open, as safe text; empty while it is open or nothing is known."""
    if view is None or not view.snapshot.is_known:
        return ""
    row = row_now(asked, view)
    if row is None:
        return GONE
    if row.is_open:
        return ""
    is_superseded_plan = row.state is RequestState.SUPERSEDED and row.kind is RequestKind.PLAN
    if is_superseded_plan and (newest := newest_version(row, view.requests)) is not None:
        return newer_words(row, newest, view.requests)
    sign = REQUESTS[row.state]
    when = f" {clock_time(row.withdrawn_at, now)}" if row.withdrawn_at is not None else ""
    return f"{sign.glyph} {sign.word}{when}{_outcome_reason(row, now)}"


def _outcome_reason(row: RequestRow, now: datetime) -> str:
    if row.state is RequestState.SUPERSEDED:
        return f": a newer {'plan' if row.kind is RequestKind.PLAN else 'request'} took its place"
    if row.state is RequestState.WITHDRAWN:
        return f": {safe_line(row.reason, 200)}" if row.reason else ""
    return f" by {safe_line(row.answered_by or 'somebody', 64)} {clock_time(row.answered_at, now)}"


DRAFT = "draft"
"""Said of a request that an answer was begun to and not sent, in place of what was decided."""


def pending_words(decided: str) -> str:
    """Return the mark of a row with a pending decision or a draft."""
    return "✎ draft" if decided == DRAFT else f"◔ {decided}, not sent yet"


def with_pending(document: Document, decided: str) -> Document:
    """Return the document of such a thing, which says it first."""
    how = "a and r go on with what you began" if decided == DRAFT else "U undo, W write now"
    return with_banner(document, f"{pending_words(decided)} · {how}")


def with_banner(document: Document, outcome: str) -> Document:
    """Return the document of a request that waits no more while it is read, which says so above its text."""
    return replace(document, banner=" · ".join(filter(None, (outcome, document.banner))))
