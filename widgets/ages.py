"""Moments and spans as a human reads them: coarse, so that a screen at rest stays at rest."""

from __future__ import annotations

from datetime import datetime

from team_console.store.model.clock import in_units, is_real_time, local_time


def span(seconds: float) -> str:
    """Return a length of time: `40 s`, `4 min`, `3 h`, `2 d`."""
    number, unit = in_units(seconds)
    if unit == "s":
        return f"{number // 10 * 10} s" if number >= 10 else "a moment"
    return f"{number} {unit}"


def short_span(seconds: float) -> str:
    """Return the same in at most four cells: `now`, `4m`, `3h`, `2d`."""
    number, unit = in_units(seconds)
    return "now" if unit == "s" else f"{min(999, number)}{unit[0]}"


def age(moment: datetime | None, now: datetime) -> str:
    """Return the short age of a moment; a dash when it is not known."""
    return short_span(max(0.0, (now - moment).total_seconds())) if is_real_time(moment) else "–"


_CLOCKS_APART = 60
"""Seconds by which two clocks may differ without a word."""


def short_ago(moment: datetime | None, now: datetime) -> str:
    """Return the age of a moment: `4 min ago`."""
    if not is_real_time(moment):
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    if seconds < -_CLOCKS_APART:
        return "at a time yet to come"
    return "just now" if seconds < 10 else f"{span(seconds)} ago"


def clock_time(moment: datetime | None, now: datetime) -> str:
    """Return the local time of a moment: without the date for today."""
    if not is_real_time(moment):
        return "at an unknown time"
    local = moment.astimezone()
    return f"{local:%H:%M:%S}" if local.date() == now.astimezone().date() else local_time(moment)


def ago(moment: datetime | None, now: datetime) -> str:
    """Return the time with its age: `10:30:15, 4 min ago`."""
    if not is_real_time(moment):
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    when = clock_time(moment, now)
    if seconds < -1:
        return f"{when}, in {span(-seconds)}"
    return f"{when}, just now" if seconds < 10 else f"{when}, {span(seconds)} ago"
