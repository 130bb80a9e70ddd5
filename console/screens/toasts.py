"""Toasts: what is said for a few seconds at the lower right."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from team_console.store.model.safe import safe_text
from textual.app import App

_SECONDS, _SECONDS_OF_WARNING = 6.0, 9.0


class Toasts:
    """Says things once: a key held down says no ten times, and that is one warning."""

    def __init__(self, app: Callable[[], App[Any]], clock: Callable[[], float] = monotonic) -> None:
        self._app, self._clock = app, clock
        self._warned: dict[str, float] = {}

    def say(self, text: str, *, severity: str = "information") -> None:
        """Say something, a warning that still stands there only once; whatever is in `text`, it is only text."""
        text = safe_text(text)
        moment, seconds = self._clock(), _SECONDS if severity == "information" else _SECONDS_OF_WARNING
        self._warned = {said: until for said, until in self._warned.items() if until > moment}
        if text in self._warned:
            return
        if severity == "warning":
            self._warned[text] = moment + seconds
        self._app().notify(text, severity=severity, markup=False, timeout=seconds)  # type: ignore[arg-type]
