"""A request in the ledger: what is asked, by whom of whom, where it stands and since when."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import Flag, RequestRow, RequestState
from team_console.widgets.rows.drawing import Drawing, age_column
from team_console.widgets.text.cells import Line, pad, spread
from team_console.widgets.text.glyphs import REQUESTS

_STATE, _KIND = 10, 13
_WITH_STATE, _WITH_KIND = 50, 90
"""Cells from which on the word for the state has room beside the title, and the kind has a column of its own."""
_ODD = frozenset(
    {Flag.CONTRADICTORY, Flag.UNAUTHORISED, Flag.ANSWERED_TWICE, Flag.STILL_ALIVE, Flag.DAMAGED, Flag.FORGED}
)


def request_lines(row: RequestRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, kind, asker and title on one line; on two the title has the first to itself."""
    sign = REQUESTS[row.state]
    tone = "strong" if row.is_open else "muted"
    title: Line = ((safe_line(row.title, 400), tone),)
    if drawing.lines == 2:
        state: Line = ((f"{sign.glyph} {pad(sign.word, _STATE)} ", sign.tone),)
        return spread((*state, *title), _since(row, drawing), drawing.width), _below(row)
    if drawing.width < _WITH_KIND and drawing.shows("kind"):
        title = ((f"{row.kind} ", "muted"), *title)
    end = (*_odd(row, short=True), *_since(row, drawing))
    return (spread((*_state(row, drawing), *_kind(row, drawing), *_asker(row, drawing), *title), end, drawing.width),)


def _state(row: RequestRow, drawing: Drawing) -> Line:
    sign = REQUESTS[row.state]
    word = f"{pad(sign.word, _STATE)} " if drawing.width >= _WITH_STATE and drawing.shows("state") else ""
    return ((f"{sign.glyph} {word}", sign.tone),)


def _kind(row: RequestRow, drawing: Drawing) -> Line:
    if drawing.width < _WITH_KIND or not drawing.shows("kind"):
        return ()
    return ((pad(str(row.kind), _KIND) + " ", "muted"),)


def _asker(row: RequestRow, drawing: Drawing) -> Line:
    if not drawing.shows("agent"):
        return ()
    return ((drawing.name(row.asker, drawing.name_width(5)) + "  ", "" if row.is_open else "muted"),)


def _since(row: RequestRow, drawing: Drawing) -> Line:
    is_late = row.state is RequestState.OVERDUE
    since = row.answered_at or row.asked_at
    return age_column(since, drawing, tone="alert" if is_late else "muted", sign="◷" if is_late else " ")


def _below(row: RequestRow) -> Line:
    parties = f" · {safe_line(row.asker, 64)} → {safe_line(row.addressee, 64)}"
    kind: Line = ((" " * (_STATE + 3), ""), (str(row.kind), "muted"), (parties, "muted"))
    if row.is_open:
        seen = "" if row.seen_at else " · not read yet"
        return (*kind, *_odd(row), (seen, "muted"))
    reason = f" · {safe_line(row.reason, 120)}" if row.reason else ""
    return (*kind, *_odd(row), (reason, "muted"))


def _odd(row: RequestRow, *, short: bool = False) -> Line:
    odd = [str(flag) for flag in row.flags if flag in _ODD]
    if not odd:
        return ()
    return ((" ‼", "alert"),) if short else ((" ‼ " + ", ".join(odd), "alert"),)
