"""Moments and spans as a human reads them: coarse, so that a screen at rest stays at rest."""

from __future__ import annotations

from datetime import datetime


def span(seconds: float) -> str:
    """A length of time: `40 s`, `4 min`, `3 h`, `2 d`."""
    seconds = max(0.0, seconds)
    if seconds < 60:
        return f"{int(seconds // 10) * 10} s" if seconds >= 10 else "a moment"
    if seconds < 3600:
        return f"{int(seconds // 60)} min"
    if seconds < 129_600:
        return f"{int(seconds // 3600)} h"
    return f"{int(seconds // 86_400)} d"


def short_span(seconds: float) -> str:
    """The same in at most four cells: `now`, `4m`, `3h`, `2d`."""
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{int(seconds // 60)}m"
    if seconds < 129_600:
        return f"{int(seconds // 3600)}h"
    return f"{min(999, int(seconds // 86_400))}d"


def age(moment: datetime | None, now: datetime) -> str:
    """The short age of a moment; a dash when it is not known."""
    return short_span(max(0.0, (now - moment).total_seconds())) if moment else "–"


def short_ago(moment: datetime | None, now: datetime) -> str:
    """How long ago it was: `4 min ago`."""
    if moment is None:
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    if seconds < -1:
        return f"in {span(-seconds)}"
    return "just now" if seconds < 10 else f"{span(seconds)} ago"


def clock_time(moment: datetime | None, now: datetime) -> str:
    """When it was, in local time: the time alone for today, else the date with it."""
    if moment is None:
        return "at an unknown time"
    local = moment.astimezone()
    return f"{local:%H:%M:%S}" if local.date() == now.astimezone().date() else f"{local:%Y-%m-%d %H:%M:%S}"


def ago(moment: datetime | None, now: datetime) -> str:
    """When it was, with its age in words: `10:30:15, 4 min ago`."""
    if moment is None:
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    when = clock_time(moment, now)
    if seconds < -1:
        return f"{when}, in {span(-seconds)}"
    return f"{when}, just now" if seconds < 10 else f"{when}, {span(seconds)} ago"
