"""Rows of the history: each message in a line or two, with when, what, from whom and to whom."""

from __future__ import annotations

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
    """Return a message of the past: when, what, from whom to whom, in one line or two.

    Args:
        asked: The title of the request that it decides.
        is_mine: Whether it waits for the reader, who need not be told that nobody picked it up.
    """
    status, moment = status_sign(message), message.created_at
    when = f"{moment.astimezone():%H:%M:%S}" if moment is not None else "–"
    # Of the states only what went wrong stands out here.
    sign: Part = (f"{status.glyph} ", "muted" if status.tone == "open" else status.tone)
    time: Line = ((pad(when, _WHEN) + "  ", "muted"),)
    set_in: Part = (" " * (width_of(time) + 2), "")
    kind, names = (
        message_kind_words(message),
        f"{safe_line(message.sender, 64)} → {safe_line(_recipients(message), 400)}",
    )
    if drawing.is_expanded:
        above = _single_line(message, drawing, (*time, sign), asked)
        state = "unread" if is_mine and message.status == Status.PENDING else status.word
        not_told_above = [fact for fact in (names, kind) if fact not in text_of(above)]
        return above, (set_in, (" · ".join([*not_told_above, state]), "muted"))
    if drawing.lines > 1:
        what = decision_words(message, asked) or ((row_title(message), ""),)
        return (*time, sign, *what), (set_in, (" · ".join(filter(None, (names, kind))), "muted"))
    return (_single_line(message, drawing, (*time, sign), asked),)


def _recipients(message: Message) -> str:
    """Return the names of who has a message, or how many they are."""
    names = message.recipients
    return ", ".join(names) if len(names) < _MANY else f"{len(names)} agents"


def _single_line(message: Message, drawing: Drawing, begin: Line, asked: str) -> Line:
    """Return the message in one line behind its time and sign: the column of names, then what it says."""
    title, kind, decision = row_title(message), message_kind_words(message), decision_words(message, asked)
    what: Line = decision or ((title, ""),)
    room = drawing.width - width_of(begin) - min(_LEAST_TITLE, width_of(what)) - 2
    names = _names_column(safe_line(message.sender, 64), safe_line(_recipients(message), 200), drawing.width, room)
    if not decision and kind and kind not in title:
        # The kind behind it where it has room as a whole.
        with_kind: Line = ((title, ""), (f"  {kind}", "muted"))
        has_room = width_of((*begin, names, ("  ", ""), *with_kind)) < drawing.width
        what = with_kind if has_room else what
    return (*begin, names, ("  ", ""), *what)


def _names_column(sender: str, to: str, width: int, room: int) -> Part:
    """Return both names in one column: where one is short, the other is seen whole, and both where the title is.

    Args:
        width: Cells of the whole line; a third of it is the column, within limits.
        room: Cells that the column may have where both names need them.
    """
    arrow = " → "
    size = max(_NARROWEST_PARTIES, min(_WIDEST_PARTIES, width // 3), min(cell_len(f"{sender}{arrow}{to}"), room))
    for_names = size - len(arrow)
    shorter = min(cell_len(sender), cell_len(to))
    sender = crop_name(sender, max(for_names // 2, for_names - shorter))
    return pad(f"{sender}{arrow}{crop_name(to, for_names - cell_len(sender))}", size), ""
