"""A message in a list: whether it was read, how urgent it is, the other side, the summary, its age."""

from __future__ import annotations

from datetime import datetime

from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.reading import reading
from team_console.store.views.titles import message_title
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, pad, pad_name, spread
from team_console.widgets.text.glyphs import priority_sign, status_sign

_WHEN = 11
_BOTH = 44
"""Cells in which a kind and what follows it can both be read."""
_PLAIN = frozenset({"message", "broadcast"})


def inbox_lines(message: Message, drawing: Drawing) -> tuple[Line, ...]:
    """A message as its recipient sees it: who wrote it and what about; unread ones stand out."""
    status, priority = status_sign(message), priority_sign(message)
    unread = message.status != Status.READ
    signs: Line = ((status.glyph, status.tone), (priority.glyph + " ", priority.tone))
    sender = safe_line(message.sender, 64)
    if drawing.lines == 2:
        text: Line = ((title_of(message), "strong" if unread else "muted"),)
        kind = kind_name(message)
        below: Line = (("   ", ""), (sender, "" if unread else "muted"), (f" · {kind}" if kind else "", "muted"))
        return spread((*signs, *text), _age(message, drawing), drawing.width), below
    who = min(16, max(8, drawing.width // 4))
    name: Line = ((pad_name(sender, who) + " ", "" if unread else "muted"),)
    room = drawing.width - who - 10
    head = (*signs, *name, *summary_parts(message, "strong" if unread else "muted", room))
    return (spread(head, _age(message, drawing), drawing.width),)


def history_lines(message: Message, drawing: Drawing) -> tuple[Line, ...]:
    """A message of the past: when, from whom to whom, what."""
    name = min(20, max(8, drawing.width * 2 // 11))
    to = ", ".join(safe_line(recipient, 64) for recipient in message.recipients[:3])
    status = status_sign(message)
    line: Line = (
        (pad(_when(message, drawing.now), _WHEN, right=True) + " ", "muted"),
        (status.glyph + " ", status.tone),
        (pad_name(safe_line(message.sender, 64), name), ""),
        (f" → {pad_name(to, name)} ", ""),
        *summary_parts(message, "", drawing.width - 2 * name - 18),
    )
    return (line,)


def _when(message: Message, now: datetime) -> str:
    """The local time; of other days the date too, of other years the date alone."""
    moment = message.created_at
    if moment is None:
        return "–"
    local, today = moment.astimezone(), now.astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M:%S}"
    return f"{local:%m-%d %H:%M}" if local.year == today.year else f"{local:%Y-%m-%d}"


def summary_parts(message: Message, tone: str, room: int) -> Line:
    """The kind, where it says something, and the summary; the summary first where there are few cells for both."""
    kind = kind_name(message)
    title = title_of(message)
    if not kind or title == kind:
        return ((title, tone),)
    return ((f"{kind} ", "accent"), (title, tone)) if room >= _BOTH else ((title, tone), (f" · {kind}", "muted"))


def kind_name(message: Message) -> str:
    """The kind, as safe text; empty for a plain message or broadcast."""
    name = message.type if message.type not in _PLAIN else reading(message).name
    return "" if name in _PLAIN else safe_line(name, 48)


def title_of(message: Message) -> str:
    """What it is about, as safe text; the same in every mode."""
    return safe_line(message_title(message), 400)


def _age(message: Message, drawing: Drawing) -> Line:
    return ((f"  {age(message.created_at, drawing.now)} ", "muted"),)
