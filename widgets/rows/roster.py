"""An agent in the roster: its state, and what waits in its inbox."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import AgentState, RosterRow
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, shorten, spread, width_of
from team_console.widgets.text.glyphs import AGENTS

_SAID = {AgentState.WAITING: "waits for the answer to ", AgentState.UNKNOWN: "has not written yet"}
"""What a reason begins with that the word for the state says already."""

_LEAST_NAME = 12
"""Cells a name keeps where there are so many; the word beside it gives way."""


def roster_lines(row: RosterRow, drawing: Drawing, *, me: str = "") -> tuple[Line, ...]:
    """One line with name and unread count; a second one with state and reason."""
    sign = AGENTS[row.state]
    unread: Line = ((f" {row.unread:>3,}", "strong"),) if row.unread else (("    ", ""),)
    oldest: Line = ((f" {age(row.oldest_unread, drawing.now):>4}", "muted"),) if row.unread else (("     ", ""),)
    stranger: Line = ((" stranger", "warn"),) if row.stranger else ()
    state: Line = ((f"  {state_word(row, me)}", sign.tone),) if drawing.lines == 1 and drawing.width >= 34 else ()
    room = drawing.width - 2 - width_of((*state, *stranger, *unread, *oldest))
    least = min(_LEAST_NAME, drawing.width - 2 - width_of((*unread, *oldest)))
    shown = shorten(safe_line(row.name, 64), max(least, room))
    name: Line = ((sign.glyph + " ", sign.tone), (shown, "strong" if row.unread else ""))
    if drawing.lines == 1:
        return (spread((*name, *state, *stranger), (*unread, *oldest), drawing.width),)
    first = spread((*name, *stranger), (*unread, *oldest), drawing.width)
    return first, (("  ", ""), *state_parts(row, me=me))


def state_word(row: RosterRow, me: str) -> str:
    """The word for its state; of who looks at the screen only that it is them."""
    return "you" if row.name == me else AGENTS[row.state].word


def state_parts(row: RosterRow, *, me: str = "") -> Line:
    """The word for its state, and of the reason what that word does not say."""
    sign = AGENTS[row.state]
    reason = safe_line(row.reason, 120).removeprefix(_SAID.get(row.state, ""))
    more = [text for text in (reason, f"{row.dropped} in drop/" if row.dropped else "") if text]
    return ((state_word(row, me), sign.tone), ("".join(f" · {text}" for text in more), "muted"))
