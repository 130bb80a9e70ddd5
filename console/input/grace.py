"""The grace of a decision: the seconds in which it can be taken back before it is written."""

from __future__ import annotations

import os
from math import isfinite

GRACE = 5.0
"""Seconds that a verdict, a message or a `done` waits before it is written, unless a setting says otherwise."""
MOST = 60.0
"""Seconds that a decision may wait at most: an agent waits for it."""
VARIABLE = "TEAM_CONSOLE_GRACE"
"""Environment variable with the seconds; 0 for none. It goes before the setting of the user's file."""

_configured: float | None = None


def configure_grace(seconds: float | None) -> None:
    """Take the seconds of the user's settings; None for the default."""
    global _configured
    _configured = seconds


def grace_seconds() -> float:
    """Seconds between deciding and writing: of the environment, else the settings, else the default; at most `MOST`."""
    given = _number(os.environ.get(VARIABLE, ""))
    seconds = given if given is not None else _configured if _configured is not None else GRACE
    return min(max(seconds, 0.0), MOST)


def _number(text: str) -> float | None:
    """The number in `text`; None for everything that is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
