"""The place of last time: which mode of which team was open, and what it was filtered by."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress

from msgspec import Struct
from team_console.console.app.drafts import state_folder
from team_console.console.input.subject import Mode

_LONGEST = 200
"""Characters of a filter that are kept."""


class Place(Struct, frozen=True):
    """A mode and its filter."""

    mode: Mode = Mode.NEEDS
    filter: str = ""


class LastPlace:
    """The place of one team and identity, in `XDG_STATE_HOME/team-console/places`."""

    def __init__(self, location: str, me: str, *, enabled: bool = True) -> None:
        digest = hashlib.sha256(f"{os.path.abspath(location)}\0{me}".encode(errors="replace")).hexdigest()[:24]
        self._path = state_folder() / "places" / f"{digest}.json"
        self._enabled = enabled

    def read(self) -> Place:
        """The place of last time; the first one when there was none or it cannot be read."""
        if not self._enabled:
            return Place()
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            mode, words = Mode(stored["mode"]), stored["filter"]
        except (OSError, ValueError, KeyError, TypeError):
            return Place()
        is_text = isinstance(words, str) and len(words) <= _LONGEST and words.isprintable()
        return Place(mode, words if is_text else "")

    def keep(self, place: Place) -> None:
        """Come back to `place` next time; a state folder that cannot be written only forgets it."""
        if not self._enabled:
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            staged = self._path.with_suffix(f".{os.getpid()}.tmp")
            staged.write_text(json.dumps({"mode": place.mode, "filter": place.filter[:_LONGEST]}), encoding="utf-8")
            staged.replace(self._path)
