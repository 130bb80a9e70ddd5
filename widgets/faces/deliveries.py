"""A message on its way out: state, recipient, what it is, tries made, and the error or the next try."""

from __future__ import annotations

from store.safe import safe_line
from store.views.rows import DeliveryRow, DeliveryState
from widgets.ages import age, span
from widgets.cells import Line, pad, spread
from widgets.drawing import Drawing
from widgets.faces.messages import summary_parts
from widgets.signs import DELIVERIES


def delivery_lines(row: DeliveryRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, recipient and summary; below it the tries and what comes next."""
    sign = DELIVERIES[row.state]
    who = min(18, max(8, drawing.width // 5))
    head: Line = (
        (f"{sign.glyph} {pad(sign.word, 10)} ", sign.tone),
        ("→ ", "faint"),
        (pad(safe_line(row.recipient, 64), who) + " ", ""),
        *summary_parts(row.message, "strong" if row.state is DeliveryState.FAILED else ""),
    )
    first = spread(head, ((f"  {age(row.message.created_at, drawing.now)} ", "muted"),), drawing.width)
    return (first,) if drawing.lines == 1 else (first, _below(row, drawing))


def _below(row: DeliveryRow, drawing: Drawing) -> Line:
    tries = f"{row.attempts} of {row.max_attempts} tries"
    nexts = ""
    if row.next_attempt_at is not None:
        wait = (row.next_attempt_at - drawing.now).total_seconds()
        nexts = f" · next in {span(wait)}" if wait > 0 else " · next try is due"
    error = f" · {safe_line(row.error, 160)}" if row.error else ""
    return ((" " * 13, ""), (tries + nexts, "muted"), (error, "bad" if row.state is DeliveryState.FAILED else "warn"))
