"""Rows of the history: when, what, from whom to whom."""

from __future__ import annotations

from msgspec.structs import replace
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.widgets.message_words import decision_words, message_kind_words, row_title
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.signs import status_sign
from team_console.widgets.text import Line, Part, cell_len, crop_name, pad, text_of, width_of

_WHEN = 8
"""Cells of a time."""
_MANY = 3
"""Recipients from which on their number is told, since their names have no room."""
_NARROWEST_PARTIES, _WIDEST_PARTIES = 16, 44
"""Cells of the column of sender and recipients, a third of the width between them; more where the title leaves room."""
_LEAST_TITLE = 28
"""Cells that names leave for the title of a message."""


def history_lines(message: Message, drawing: Drawing, *, asked: str, is_mine: bool) -> tuple[Line, ...]:
    """Return a message of the past: when, what, from whom to whom.

    Args:
        asked: The title of the request that it decides.
        is_mine: Whether it waits for the reader, who need not be told that nobody picked it up.
    """
    to = ", ".join(message.recipients) if len(message.recipients) < _MANY else f"{len(message.recipients)} agents"
    status, moment, what = status_sign(message), message.created_at, decision_words(message, asked)
    # Only what went wrong stands out here.
    sign: Part = (f"{status.glyph} ", "muted" if status.tone == "open" else status.tone)
    when = f"{moment.astimezone():%H:%M:%S}" if moment is not None else "–"
    time: Line = ((pad(when, _WHEN) + "  ", "muted"),)
    title, sender, kind = row_title(message), safe_line(message.sender, 64), message_kind_words(message)
    if drawing.is_expanded:
        (above,) = history_lines(message, replace(drawing, lines=1, is_expanded=False), asked=asked, is_mine=is_mine)
        state = "unread" if is_mine and message.status == Status.PENDING else status.word
        told = text_of(above)
        facts = [fact for fact in (f"{sender} → {safe_line(to, 400)}", kind) if fact not in told] + [state]
        return above, ((" " * (width_of(time) + 2), ""), (" · ".join(facts), "muted"))
    if drawing.lines > 1:
        below = f"{sender} → {safe_line(to, 400)}{f' · {kind}' if kind else ''}"
        first = (*time, sign, *(what or ((title, ""),)))
        return first, ((" " * (width_of(time) + 2), ""), (below, "muted"))
    room = drawing.width - width_of((*time, sign)) - min(_LEAST_TITLE, width_of(what or ((title, ""),))) - 2
    parties = _parties(sender, safe_line(to, 200), drawing.width, room)
    if not what:
        # The kind behind it where it says something more and has room as a whole.
        more: Line = ((f"  {kind}", "muted"),) if kind and kind not in title else ()
        what = ((title, ""), *more)
        what = what if width_of(what) <= drawing.width - width_of((parties,)) - 15 else what[:1]
    return ((*time, sign, parties, ("  ", ""), *what),)


def _parties(sender: str, to: str, width: int, room: int) -> Part:
    """Return both names in one column: where one is short, the other is seen whole, and both where the title is."""
    size = max(min(_WIDEST_PARTIES, max(_NARROWEST_PARTIES, width // 3)), min(cell_len(f"{sender} → {to}"), room))
    most = max((size - 3) // 2, size - 3 - min(cell_len(sender), cell_len(to)))
    sender = crop_name(sender, most)
    return pad(f"{sender} → {crop_name(to, size - 3 - cell_len(sender))}", size), ""
