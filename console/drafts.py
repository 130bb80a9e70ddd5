"""Keeps what a human was writing, outside the team folder, until it was sent or thrown away."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

Draft = Mapping[str, str]


class Drafts:
    """Drafts of one team and identity by what they are for, in `XDG_STATE_HOME/team-console`.

    A read-only console keeps none. A state folder that cannot be written only costs drafts their life after exit.
    """

    def __init__(self, location: str, me: str, *, enabled: bool = True) -> None:
        self._drafts: dict[str, dict[str, str]] = {}
        self._enabled = enabled
        digest = hashlib.sha256(f"{os.path.abspath(location)}\0{me}".encode(errors="replace")).hexdigest()[:24]
        self._path = state_folder() / "drafts" / f"{digest}.json"
        self._loaded = not enabled

    def get(self, purpose: str) -> Draft:
        """The draft for `purpose`; empty when there is none."""
        self._load()
        return dict(self._drafts.get(purpose, {}))

    def keep(self, purpose: str, draft: Draft) -> None:
        """Keep `draft` for `purpose`, at once on disk; an empty one is thrown away."""
        self._load()
        typed = {name: text for name, text in draft.items() if text}
        before = self._drafts.get(purpose)
        if typed:
            self._drafts[purpose] = typed
        else:
            self._drafts.pop(purpose, None)
        if self._enabled and before != self._drafts.get(purpose):
            with suppress(OSError):
                self._write()

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if isinstance(stored, dict):
            for purpose, draft in stored.items():
                if isinstance(draft, dict):
                    self._drafts[purpose] = {str(name): str(text) for name, text in draft.items()}

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._drafts:
            self._path.unlink(missing_ok=True)
            return
        staged = self._path.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self._drafts, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(self._path)


def state_folder() -> Path:
    """`XDG_STATE_HOME/team-console`, by default below `~/.local/state`."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base and os.path.isabs(base) else Path.home() / ".local" / "state") / "team-console"
