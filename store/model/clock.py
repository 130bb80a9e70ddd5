"""Time as the store writes and reads it: aware UTC, ISO 8601 with `Z` (requirement 256)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeGuard

Clock = Callable[[], datetime]
"""Gives the current aware UTC time; tests inject their own."""


def utc_now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


@lru_cache(maxsize=64)
def to_text(moment: datetime, *, milliseconds: bool = True) -> str:
    """Write `moment` as `YYYY-MM-DDTHH:MM:SS[.mmm]Z`."""
    spec = "milliseconds" if milliseconds else "seconds"
    return moment.astimezone(UTC).isoformat(timespec=spec).replace("+00:00", "Z")


_FIRST, _LAST = datetime(2, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""What a moment is at least and at most: a wait or a zone can be added to it without leaving the calendar, which ends
with the year 9999 and would let one message of its last week keep all others from being judged."""


# The number of digits of each part may be smaller than ISO 8601 has it: one for month, day, hour and zone.
_YAML_TIME = (
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?[ \t]*(?:[Zz]|([-+])(\d\d?)(?::?(\d\d))?)?"
)
"""A time as YAML knows it: `2026-11-20 9:05:00`, `2026-11-20 09:43:10.10 -5`."""
_match_epoch = re.compile(r"\d{10}(\d{3})?(?:\.\d*)?").fullmatch
"""Matches seconds since 1970, which have ten digits from 2001 to 2286, and with three digits more milliseconds."""


@lru_cache(maxsize=16_384)
def from_text(text: str) -> datetime | None:
    """Read a timestamp as other writers spell it, seconds or milliseconds since 1970 too; None when it is not one.

    A time without a zone is UTC.

    One before the year 2 or after the year 9000 counts as the nearest within.
    """
    try:
        since = _match_epoch(text.strip())
        if since is not None:
            return from_nanoseconds(int(float(text) * (1e9 if since[1] is None else 1e6)))
        moment = _parse_iso_or_yaml(text.strip())
        if moment.tzinfo is not UTC:
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        return min(max(moment, _FIRST), _LAST)
    except (ValueError, OverflowError):
        return None


def _parse_iso_or_yaml(text: str) -> datetime:
    """Read ISO 8601, else a time as YAML spells it. Raises `ValueError` for any other text."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        found = re.fullmatch(_YAML_TIME, text)
        if found is None:
            raise
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = found.groups(default="")
    if sign:
        zone = f"{sign}{hours:0>2}:{minutes or '00'}"
    elif text[-1] in "Zz":
        zone = "Z"
    else:
        zone = ""
    date, time = f"{year}-{month:0>2}-{day:0>2}", f"{hour:0>2}:{minute}:{second}.{fraction or '0'}"
    return datetime.fromisoformat(f"{date}T{time}{zone}")


def from_nanoseconds(nanoseconds: int) -> datetime:
    """Return the moment so many nanoseconds after 1970, such as the time of a file, which anybody may set to anything.

    One before the year 2 or after the year 9000 counts as the nearest within.
    """
    try:
        moment = datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        return _LAST if nanoseconds > 0 else _FIRST
    return min(max(moment, _FIRST), _LAST)


def days_before(moment: datetime, days: float) -> datetime:
    """Return the moment so many days before, not before the year 2: settings may say more days than there ever were."""
    # guard: days-before-the-calendar
    days = min(days, (moment - _FIRST).days)
    return moment - timedelta(days=days)


def is_real_time(moment: datetime | None) -> TypeGuard[datetime]:
    """Return whether a moment is known and is the one that was written: Go writes the year 1 for a time never set."""
    return moment is not None and _FIRST < moment < _LAST


def local_time(moment: datetime | None, timespec: str = "seconds") -> str:
    """Return a moment in the zone of this machine, `YYYY-MM-DD HH:MM:SS`, always as long; with `?` for each digit
    where it is not known, or lies outside of what a moment can be here.

    Args:
        timespec: `seconds` or `minutes`, the last part that is written.
    """
    # guard: times-outside-the-calendar
    if not is_real_time(moment):
        return "????-??-?? ??:??:??"[: _WRITTEN_LENGTHS[timespec]]
    return moment.astimezone().isoformat(" ", timespec)[: _WRITTEN_LENGTHS[timespec]]


_WRITTEN_LENGTHS = {"seconds": 19, "minutes": 16}


def local_day(moment: datetime | None) -> str:
    """Return the day of a moment in the zone of this machine, `YYYY-MM-DD`, as `local_time` writes it."""
    return local_time(moment)[:10]


def seconds_since(text: str, now: datetime) -> float | None:
    """Return the seconds from the timestamp `text` to `now`, never negative; None when `text` is not a timestamp."""
    moment = from_text(text)
    return None if moment is None else max(0.0, (now - moment).total_seconds())


def epoch_ms(moment: datetime) -> int:
    """Return the milliseconds since 1970, as request ids carry them (decision D8)."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


_UNITS = ((129_600, 86_400, "d"), (3600, 3600, "h"), (60, 60, "min"))
"""Units, the largest first: seconds from which on it is used, seconds it has, its name. Up to 36 hours are told as
hours: `1 d` would say too little."""


def in_units(seconds: float) -> tuple[int, str]:
    """Return a length of time in whole units of one kind: s, min, h or d."""
    for least, size, unit in _UNITS:
        if seconds >= least:
            return int(seconds // size), unit
    return int(seconds), "s"
