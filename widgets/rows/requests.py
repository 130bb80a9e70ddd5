"""A request in the ledger: what is asked, by whom of whom, where it stands and since when."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import Flag, RequestRow
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, pad, pad_name, spread
from team_console.widgets.text.glyphs import REQUESTS

_STATE, _KIND = 10, 13
_ODD = frozenset(
    {Flag.CONTRADICTORY, Flag.UNAUTHORISED, Flag.ANSWERED_TWICE, Flag.STILL_ALIVE, Flag.DAMAGED, Flag.FORGED}
)


def request_lines(row: RequestRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, kind, asker and title on one line; on two the title has the first to itself."""
    sign = REQUESTS[row.state]
    tone = "strong" if row.is_open else "muted"
    state: Line = ((f"{sign.glyph} {pad(sign.word, _STATE)} ", sign.tone),)
    title: Line = ((safe_line(row.title, 400), tone),)
    since: Line = ((f"  {age(row.answered_at or row.asked_at, drawing.now)} ", "muted"),)
    if drawing.lines == 2:
        return spread((*state, *title), since, drawing.width), _below(row)
    who = min(16, max(8, drawing.width // 5))
    named = pad(str(row.kind), _KIND) + " " if drawing.width >= 70 else ""
    kind: Line = ((named, "accent" if row.is_open else "muted"),)
    asker: Line = ((pad_name(safe_line(row.asker, 64), who) + " ", "" if row.is_open else "muted"),)
    return (spread((*state, *kind, *asker, *title), (*_odd(row, short=True), *since), drawing.width),)


def _below(row: RequestRow) -> Line:
    parties = f" · {safe_line(row.asker, 64)} → {safe_line(row.addressee, 64)}"
    kind: Line = ((" " * (_STATE + 3), ""), (str(row.kind), "accent" if row.is_open else "muted"), (parties, "muted"))
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
