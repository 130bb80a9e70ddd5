"""Dialog of Claude Code beside a hook that waits: whether it was answered there, of which no hook is told.

The next event comes only when the tool has ended that was allowed, which may take hours. The client keeps a file for
each running session that says what it is doing: `waiting` while a dialog is open, then `busy` (seen with 2.1.330).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

_GONE_LOOKS = 2
"""Looks in a row, half a second apart, that find no dialog: between two of them a session is busy for a moment."""
_LARGEST = 1 << 16


class Dialog:
    """The dialog of one session; a client that keeps no such file, or none that can be read, has never one.

    Args:
        session: The client's own id of the session.
    """

    def __init__(self, session: str, folder: Path | None = None) -> None:
        self._session = session
        self._folder = folder or sessions_of_claude()
        self._file: Path | None = None
        self._was_open = False
        self._absent = 0

    @property
    def closed(self) -> bool:
        """Whether it was open and is not any more."""
        return self._absent >= _GONE_LOOKS

    def is_closed(self) -> bool:
        """Look once more."""
        status = self._status()
        self._was_open = self._was_open or status == "waiting"
        self._absent = self._absent + 1 if self._was_open and status not in ("waiting", "") else 0
        return self.closed

    def _status(self) -> str:
        """What the session is doing; empty when that cannot be told."""
        for path in (self._file,) if self._file is not None else self._files():
            facts = _facts(path)
            if facts.get("sessionId") == self._session:
                self._file = path
                return str(facts.get("status", ""))
        self._file = None
        return ""

    def _files(self) -> Iterator[Path]:
        try:
            names = os.listdir(self._folder)
        except OSError:
            return
        yield from (self._folder / name for name in names if name.endswith(".json"))


def sessions_of_claude() -> Path:
    """The folder in which Claude Code keeps a file for each session that runs."""
    base = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return (Path(base) if base else Path(os.path.expanduser("~")) / ".claude") / "sessions"


def _facts(path: Path) -> dict[str, object]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            value = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
