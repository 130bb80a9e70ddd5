"""A message on its way out: state, recipient, what it is, tries made, and the error or the next try."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import DeliveryRow, DeliveryState
from team_console.widgets.rows.drawing import Drawing, age_column
from team_console.widgets.rows.messages import kind_name, summary_parts, title_of
from team_console.widgets.text.ages import span
from team_console.widgets.text.cells import Line, pad, spread
from team_console.widgets.text.glyphs import DELIVERIES

_STATE = 9
_WITH_STATE = 50
"""Cells from which on the word for the state has room beside the title."""


def delivery_lines(row: DeliveryRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, recipient and what it is; with two lines the recipient stands below, beside the tries and what follows."""
    sign = DELIVERIES[row.state]
    tone = "strong" if row.state is DeliveryState.FAILED else ""
    when = age_column(row.message.created_at, drawing)
    recipient = safe_line(row.recipient, 64)
    is_wordy = drawing.lines == 2 or (drawing.width >= _WITH_STATE and drawing.shows("state"))
    state: Line = ((f"{sign.glyph} {pad(sign.word, _STATE) + ' ' if is_wordy else ''}", sign.tone),)
    if drawing.lines == 2:
        return spread((*state, (title_of(row.message), tone)), when, drawing.width), _below(row, recipient, drawing)
    size = drawing.name_width(5)
    who: Line = ((drawing.name(row.recipient, size) + "  ", ""),) if drawing.shows("agent") else ()
    what = summary_parts(row.message, tone, drawing.width - size - 22, kind=drawing.shows("kind"))
    return (spread((*state, *who, *what), (*_tries(row), *when), drawing.width),)


def _tries(row: DeliveryRow) -> Line:
    return ((f"  ↻{row.attempts}/{row.max_attempts}", "muted"),) if row.attempts else ()


def _below(row: DeliveryRow, recipient: str, drawing: Drawing) -> Line:
    tries = f" · {row.attempts} of {row.max_attempts} tries" if row.attempts else ""
    nexts = ""
    if row.next_attempt_at is not None:
        wait = (row.next_attempt_at - drawing.now).total_seconds()
        nexts = f" · next in {span(wait)}" if wait > 0 else " · next try is due"
    error = f" · {safe_line(row.error, 160)}" if row.error else ""
    kind = kind_name(row.message)
    tone = "bad" if row.state is DeliveryState.FAILED else "warn"
    return (
        (" " * (_STATE + 3), ""),
        ("→ ", "faint"),
        (recipient, ""),
        (tries + nexts, "muted"),
        (error, tone),
        (f" · {kind}" if kind else "", "muted"),
    )
