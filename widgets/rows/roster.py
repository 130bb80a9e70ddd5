"""An agent in the roster: its state, and what waits in its inbox."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import AgentState, RosterRow
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, pad, spread, width_of
from team_console.widgets.text.glyphs import Sign

_SAID = {AgentState.WAITING: "waits for the answer to ", AgentState.UNKNOWN: "has not written yet"}
"""What a reason begins with that the word for the state says already."""

_WITH_STATE = 34
"""Cells from which on the word for the state has a column."""
_STATE = 13
_LEAST_NAME = 8


def roster_lines(row: RosterRow, drawing: Drawing, sign: Sign) -> tuple[Line, ...]:
    """One line with name, state where it has room, and unread count; a second one with state and reason."""
    end: Line = (("         ", ""),)
    if row.unread:
        end = ((f" {row.unread:>3,}", "strong"), (f" {age(row.oldest_unread, drawing.now):>4}", "muted"))
    mark = " look-alike" if row.looks_like else " no name" if not row.is_addressable else " stranger"
    stranger: Line = ((mark, "warn"),) if row.stranger or mark != " stranger" else ()
    has_word = drawing.lines == 1 and drawing.width >= _WITH_STATE
    state: Line = ((f" {pad(sign.word, _STATE)}", sign.tone),) if has_word else ()
    room = drawing.width - 2 - width_of((*end, *state))
    size = max(_LEAST_NAME, room - width_of(stranger))
    name: Line = ((sign.glyph + " ", sign.tone), (drawing.name(row.name, size), "strong" if row.unread else ""))
    first = spread((*name, *stranger, *state), end, drawing.width)
    return (first,) if drawing.lines == 1 else (first, (("  ", ""), *state_parts(row, sign)))


def state_parts(row: RosterRow, sign: Sign) -> Line:
    """The word for its state, and of the reason what that word does not say."""
    reason = safe_line(row.reason, 120).removeprefix(_SAID.get(row.state, ""))
    more = [text for text in (reason, f"{row.dropped} in drop/" if row.dropped else "") if text]
    return ((sign.word, sign.tone), ("".join(f" · {text}" for text in more), "muted"))
