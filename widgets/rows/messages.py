"""A message in a list: whether it was read, how urgent it is, the other side, the summary, its age."""

from __future__ import annotations

import re
from functools import lru_cache

from team_console.store.model.clock import from_text
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.parsing import reading
from team_console.store.views.titles import message_title, reason_of
from team_console.widgets.rows.drawing import Drawing, age_column
from team_console.widgets.text.cells import Line, pad, spread, width_of
from team_console.widgets.text.glyphs import priority_sign, status_sign

_WHEN = 8
_MINUTE, _SECONDS = 16, 19
"""Characters of a moment to its minute and to its seconds."""
_VERDICT = re.compile(r"\w+(?: (?:approved|rejected)|已批准|被拒绝)(?:: |：|\Z)")
"""What the summary of a verdict begins with, which its own words say already."""
_PLAIN = frozenset({"message", "broadcast"})
_MANY = 3
"""Recipients from which on their number is told, since their names have no room."""
_BROAD = 100
"""Cells of a row of the past from which on there is room for whole names beside whole titles."""


def inbox_lines(message: Message, drawing: Drawing, *, asked: str = "") -> tuple[Line, ...]:
    """A message as its recipient sees it: who wrote it and what about; unread ones stand out.

    Args:
        asked: The title of the request that it decides, safe text.
    """
    unread = message.status != Status.READ
    signs = _signs(message, unread=unread)
    sender = safe_line(message.sender, 64)
    if drawing.lines == 2:
        text: Line = ((title_of(message), "strong" if unread else "muted"),)
        kind = kind_name(message)
        below: Line = (("   ", ""), (sender, "" if unread else "muted"), (f" · {kind}" if kind else "", "muted"))
        return spread((*signs, *text), _age(message, drawing), drawing.width), below
    who, tone = drawing.name_width(), "strong" if unread else "muted"
    name: Line = ((drawing.name(message.sender, who) + "  ", tone),) if drawing.shows("agent") else ()
    room = drawing.width - who - 10
    what = decision_words(message, asked) or summary_parts(message, tone, room, kind=drawing.shows("kind"))
    head = (*signs, *name, *what)
    return (spread(head, _age(message, drawing), drawing.width),)


def _signs(message: Message, *, unread: bool) -> Line:
    """State and priority. While it is unread both have the ink of what is more urgent: one look tells, and one ink."""
    status, priority = status_sign(message), priority_sign(message)
    urgent = next((tone for tone in ("bad", "warn") if tone in (status.tone, priority.tone)), "") if unread else ""
    return (status.glyph, urgent or status.tone), (priority.glyph + " ", urgent or priority.tone)


def history_lines(message: Message, drawing: Drawing, *, asked: str = "") -> tuple[Line, ...]:
    """A message of the past: when, from whom to whom, what; `asked` is the title of the request that it decides.

    Where there is little room, names have their short forms, which leaves the title whole, and rows are of one ink:
    there a switch to this list is nearly all of the screen, on what is often a slow line.
    """
    is_narrow = drawing.width < _BROAD
    name, quiet = (9, "") if is_narrow else (min(20, drawing.width // 6), "muted")
    to = ", ".join(message.recipients) if len(message.recipients) < _MANY else f"{len(message.recipients)} agents"
    status = status_sign(message)
    time: Line = ((pad(_when(message), _WHEN) + "  ", quiet),) if drawing.shows("time") else ()
    parties: Line = ((drawing.name(message.sender, name), ""), (" → ", ""), (drawing.name(to, name), ""))
    decided = decision_words(message, asked)
    what = decided or summary_parts(message, "", drawing.width - 2 * name - 18, kind=drawing.shows("kind"))
    # Only what went wrong stands out here: each ink of a row costs a slow line more than a word does.
    tone = quiet if status.tone == "open" else status.tone
    return ((*time, (status.glyph + " ", tone), *parties, ("  ", ""), *what),)


def day_of(message: Message) -> str:
    """The local date of a message, as `2026-02-24`; the key of the heading it stands below."""
    text = message.created
    return _local_day(text[:_MINUTE], text[_SECONDS:].lstrip(".0123456789"))


@lru_cache(maxsize=4096)
def _local_day(minute: str, zone: str) -> str:
    """Remembered per minute: every message of a long history is asked at each showing."""
    moment = from_text(f"{minute}:00{zone}")
    return f"{moment.astimezone():%Y-%m-%d}" if moment is not None else ""


def day_line(below: tuple[Message, ...], drawing: Drawing) -> Line:
    """The heading of a day, with its distance from today where that has a name."""
    day = below[0].created_at
    if day is None:
        return (("at an unknown time", "muted"),)
    local, today = day.astimezone().date(), drawing.now.astimezone().date()
    near = {0: "today", 1: "yesterday"}.get((today - local).days, "")
    words = f"── {near + ' · ' if near else ''}{local:%A %Y-%m-%d} "
    if drawing.width < _BROAD:
        return ((f"{words}──", "muted"),)
    return (words, "muted"), ("─" * (drawing.width - len(words)), "faint")


def decision_words(message: Message, asked: str = "") -> Line:
    """What a verdict decided, in words: why, else on what it is; empty for every other message."""
    read = reading(message)
    if read.answers is None or read.approve is None:
        return ()
    word, tone = ("✓ approved", "good") if read.approve else ("✗ rejected", "bad")
    title = _VERDICT.sub("", title_of(message))
    said = reason_of(message) or asked or (title if title != read.name else "")
    return (word, tone), (f" {read.answers}", "muted"), (f": {safe_line(said, 300)}" if said else "", "")


def _when(message: Message) -> str:
    """The local time; the day stands in the heading above."""
    moment = message.created_at
    return f"{moment.astimezone():%H:%M:%S}" if moment is not None else "–"


def summary_parts(message: Message, tone: str, room: int, *, kind: bool = True) -> Line:
    """The summary, and behind it the kind where it says something more and has room as a whole."""
    name, title = kind_name(message), title_of(message)
    behind: Line = ((f"  {name}", "muted"),) if kind and name and name not in title else ()
    line: Line = ((title, tone), *behind)
    return line if width_of(line) <= room else line[:1]


def kind_name(message: Message) -> str:
    """The kind, as safe text; empty for a plain message or broadcast."""
    name = message.type if message.type not in _PLAIN else reading(message).name
    return "" if name in _PLAIN else safe_line(name, 48)


def title_of(message: Message) -> str:
    """What it is about, as safe text; the same in every mode."""
    return safe_line(message_title(message), 400)


def _age(message: Message, drawing: Drawing) -> Line:
    return age_column(message.created_at, drawing)
