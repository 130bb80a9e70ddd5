"""Receipts of what a join made that was not there before, so that a leave takes out that and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from team_console.console.app.drafts import state_folder


class Receipt:
    """What was made for one purpose, in `XDG_STATE_HOME/team-console/joined`; lost, it only costs precision."""

    def __init__(self, purpose: str) -> None:
        name = hashlib.sha256(purpose.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._path = state_folder() / "joined" / f"{name}.json"
        self._purpose = purpose

    def read(self) -> list[str] | None:
        """What was made, None when nothing is known."""
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        made = value.get("made") if isinstance(value, dict) else None
        return [item for item in made if isinstance(item, str)] if isinstance(made, list) else None

    def keep(self, made: Sequence[str]) -> None:
        """Remember what was made, with what was made before."""
        every = list(dict.fromkeys([*(self.read() or ()), *made]))
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            staged = self._path.with_suffix(f".{os.getpid()}.tmp")
            staged.write_text(json.dumps({"for": self._purpose, "made": every}), encoding="utf-8")
            staged.replace(self._path)

    def forget(self) -> None:
        """It was taken out again."""
        with suppress(OSError):
            self._path.unlink()


def file_receipt(path: Path) -> Receipt:
    """The receipt of a client's file."""
    return Receipt(f"file {os.path.abspath(path)}")


def member_receipt(location: str, name: str) -> Receipt:
    """The receipt of a member that was put into a team's settings."""
    return Receipt(f"member {location} {name}")
