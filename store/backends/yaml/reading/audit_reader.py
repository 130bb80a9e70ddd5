"""The ledger as an audit trail for readers: newest first, the chain checked, only what is new read again."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections import deque
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line, Tip
from team_console.store.contract.audit_seal import LineSeal, SealedFrom
from team_console.store.contract.team import AuditLine

_KEPT = 2000


class Trail:
    """Reads one ledger for people; safe to use from several threads."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._guard = threading.Lock()
        self._key = b""
        self._forget()

    def last(self, limit: int, key: bytes = b"") -> list[AuditLine]:
        """The last `limit` lines, newest first, their seals checked with `key`; none when the file cannot be read."""
        with self._guard, contextlib.suppress(OSError):
            if limit > (self._lines.maxlen or 0) or key != self._key:
                self._forget(max(limit, self._lines.maxlen or 0))
            self._key = key
            self._go_on()
            return list(self._lines)[: -limit - 1 : -1]
        return []

    def _forget(self, keep: int = _KEPT) -> None:
        self._tip = Tip()
        self._ino = 0
        self._holds = True
        self._sealed_from = SealedFrom()
        self._lines: deque[AuditLine] = deque(maxlen=keep)

    def _go_on(self) -> None:
        """Read what was appended; from the beginning when the file is another one or became shorter."""
        stat = self._disk.stat(self._path)
        if stat is None or stat.ino != self._ino or not self._is_there(stat.size):
            self._forget(self._lines.maxlen or _KEPT)
        self._ino = stat.ino if stat else 0
        for tip, intact in Ledger(self._disk, self._path, self._key).lines(self._tip):
            self._tip = tip
            self._holds = self._sealed_from.holds(tip.seal) and intact and self._holds
            if tip.line is not None:
                self._lines.extend(_shown(tip.line, self._holds, tip.seal))

    def _is_there(self, size: int) -> bool:
        """Whether the file still holds the line reached: one can be taken back and another written in its place."""
        tip = self._tip
        if size < tip.size or not tip.size:
            return size >= tip.size
        last = self._disk.read(self._path, tip.start, tip.size - tip.start)[0]
        return hashlib.sha256(last).hexdigest() == tip.digest


def _shown(line: Line, intact: bool, seal: LineSeal) -> list[AuditLine]:
    first = AuditLine(line.seq, line.at, line.actor, line.action, line.facts, intact, seal)
    return [first, *(replace(first, action=action, facts=facts) for action, facts in line.also)]
