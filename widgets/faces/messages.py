"""A message in a list: whether it was read, how urgent it is, the other side, the summary, its age."""

from __future__ import annotations

from store.message import Message, Status
from store.protocol.reading import reading
from store.safe import safe_line
from widgets.ages import age, clock_time
from widgets.cells import Line, pad, spread
from widgets.row_list import Drawing
from widgets.signs import priority_sign, status_sign

_PLAIN = frozenset({"message", "broadcast"})


def inbox_lines(message: Message, drawing: Drawing) -> tuple[Line, ...]:
    """A message as its recipient sees it: who wrote it and what about; unread ones stand out."""
    status, priority = status_sign(message), priority_sign(message)
    unread = message.status != Status.READ
    who = min(16, max(8, drawing.width // 4))
    head: Line = (
        (status.glyph, status.tone),
        (priority.glyph + " ", priority.tone),
        (pad(safe_line(message.sender, 64), who) + " ", "" if unread else "muted"),
        *summary_parts(message, "strong" if unread else "muted"),
    )
    return (spread(head, _age(message, drawing), drawing.width),)


def history_lines(message: Message, drawing: Drawing) -> tuple[Line, ...]:
    """A message of the past: when, from whom to whom, what."""
    when = clock_time(message.created_at, drawing.now)
    column = 21 if drawing.width >= 90 else 11
    shown = when if column > 20 else when[-8:] if len(when) <= 8 else when[5:16]
    name = min(20, max(8, drawing.width // 6))
    to = ", ".join(safe_line(one, 64) for one in message.recipients[:3])
    status = status_sign(message)
    line: Line = (
        (pad(shown, column), "muted"),
        (status.glyph + " ", status.tone),
        (pad(safe_line(message.sender, 64), name), ""),
        (" → ", "faint"),
        (pad(to, name) + " ", ""),
        *summary_parts(message, ""),
    )
    return (line,)


def summary_parts(message: Message, tone: str) -> Line:
    """The kind, where it says something, and the summary."""
    name = message.type if message.type not in _PLAIN else reading(message).name
    text = safe_line(message.summary, 400)
    if name in _PLAIN:
        return ((text, tone),)
    kind = safe_line(name, 48)
    if text.startswith(kind):
        text = text[len(kind) :].lstrip(" :")
    return ((f"{kind} ", "accent"), (text, tone))


def _age(message: Message, drawing: Drawing) -> Line:
    return ((f"  {age(message.created_at, drawing.now)} ", "muted"),)
