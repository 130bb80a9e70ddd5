"""The fate of a request while a form about it is open: what became of it, in the words of the lists."""

from __future__ import annotations

from datetime import datetime

from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import RequestRow, RequestState, View
from team_console.widgets.text.ages import clock_time
from team_console.widgets.text.glyphs import REQUESTS

GONE = "✗ it is gone from the queue"
NO_LONGER = "✓ it no longer waits here"


def row_now(asked: RequestRow, view: View | None) -> RequestRow | None:
    """The request as it stands in `view`; None when it is not there."""
    rows = view.requests if view is not None else ()
    return next((row for row in rows if row.key == asked.key), None)


def fate_of(asked: RequestRow, view: View | None, now: datetime) -> str:
    """What became of a request that was open, as safe text; empty while it is open, and while nothing is known."""
    if view is None or not view.snapshot.is_known:
        return ""
    row = row_now(asked, view)
    if row is None:
        return GONE
    if row.is_open:
        return ""
    sign = REQUESTS[row.state]
    when = f" {clock_time(row.withdrawn_at, now)}" if row.withdrawn_at is not None else ""
    return f"{sign.glyph} {sign.word}{when}{_why(row, now)}"


def _why(row: RequestRow, now: datetime) -> str:
    if row.state is RequestState.SUPERSEDED:
        return f": a newer {'plan' if row.kind is RequestKind.PLAN else 'request'} took its place"
    if row.state is RequestState.WITHDRAWN:
        return f": {safe_line(row.reason, 200)}" if row.reason else ""
    return f" by {safe_line(row.answered_by or 'somebody', 64)} {clock_time(row.answered_at, now)}"
