"""A request in the ledger: what is asked, by whom of whom, where it stands and for how long."""

from __future__ import annotations

from store.safe import safe_line
from store.views.rows import Flag, RequestRow
from widgets.ages import short_span
from widgets.cells import Line, pad, spread
from widgets.row_list import Drawing
from widgets.signs import REQUESTS

_ODD = frozenset({Flag.CONTRADICTORY, Flag.UNAUTHORISED, Flag.ANSWERED_TWICE, Flag.STILL_ALIVE})


def request_lines(row: RequestRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, kind, asker and title on one line; addressee and flags on a second."""
    sign = REQUESTS[row.state]
    who = min(16, max(8, drawing.width // 5))
    tone = "strong" if row.is_open else "muted"
    head: Line = (
        (f"{sign.glyph} {pad(sign.word, 10)} ", sign.tone),
        (
            pad(str(row.kind), 13) if drawing.width >= 56 else pad(str(row.kind), 6),
            "accent" if row.is_open else "muted",
        ),
        (pad(safe_line(row.asker, 64), who) + " ", "" if row.is_open else "muted"),
        (safe_line(row.title, 400), tone),
    )
    waited = short_span(row.waiting_seconds(drawing.now))
    first = spread(head, (*_odd(row, short=drawing.lines == 1), (f"  {waited} ", "muted")), drawing.width)
    return (first,) if drawing.lines == 1 else (first, _below(row))


def _below(row: RequestRow) -> Line:
    to: Line = (("             → ", "faint"), (safe_line(row.addressee, 64), "muted"))
    if row.is_open:
        seen = " · seen" if row.seen_at else " · not seen yet"
        return (*to, (seen, "muted"), *_odd(row))
    answer = f" · {row.state} by {safe_line(row.answered_by, 64)}" if row.answered_by else f" · {row.state}"
    reason = f": {safe_line(row.reason, 120)}" if row.reason else ""
    return (*to, (answer, "muted"), *_odd(row), (reason, "muted"))


def _odd(row: RequestRow, *, short: bool = False) -> Line:
    odd = [str(flag) for flag in row.flags if flag in _ODD]
    if not odd:
        return ()
    return ((" ‼", "alert"),) if short else ((" ‼ " + ", ".join(odd), "alert"),)
