"""The ledger as an audit trail for readers: newest first, the chain checked, only what is new read again."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line, Tip
from team_console.store.contract.team import AuditLine

_KEPT = 2000


class Trail:
    """Reads one ledger for people; safe to use from several threads."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._guard = threading.Lock()
        self._forget()

    def last(self, limit: int) -> list[AuditLine]:
        """The last `limit` lines, newest first; none when the file cannot be read."""
        with self._guard, contextlib.suppress(OSError):
            if limit > (self._lines.maxlen or 0):
                self._forget(limit)
            self._go_on()
            return list(self._lines)[: -limit - 1 : -1]
        return []

    def _forget(self, keep: int = _KEPT) -> None:
        self._tip = Tip()
        self._ino = 0
        self._holds = True
        self._lines: deque[AuditLine] = deque(maxlen=keep)

    def _go_on(self) -> None:
        """Read what was appended; from the beginning when the file is another one or became shorter."""
        stat = self._disk.stat(self._path)
        if stat is None or stat.ino != self._ino or stat.size < self._tip.size:
            self._forget(self._lines.maxlen or _KEPT)
        self._ino = stat.ino if stat else 0
        for tip, intact in Ledger(self._disk, self._path).lines(self._tip):
            self._tip = tip
            self._holds = self._holds and intact
            if tip.line is not None:
                self._lines.extend(_shown(tip.line, self._holds))


def _shown(line: Line, intact: bool) -> list[AuditLine]:
    first = AuditLine(line.seq, line.at, line.actor, line.action, line.facts, intact)
    return [first, *(replace(first, action=action, facts=facts) for action, facts in line.also)]
