"""Follow the audit trail of a YAML team: read what was appended to `audit.jsonl`, without a lock."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
from pathlib import Path

import msgspec
from team_console.store.backends.trail_reader import TrailLine, TrailReader
from team_console.store.backends.yaml.audit_trail import decode_line, whole_lines
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import is_private_to_other
from team_console.store.contract.audit_line import AuditLine, LineSeal, judge_seal
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.foreign_fields import mapping_in

_SEAL = re.compile(rb',"seal":"([0-9a-f-]{73})"\}\n\Z')


def seal_of(raw: bytes, key: bytes) -> LineSeal:
    """Return the state of the seal of a stored line."""
    if not key:
        return LineSeal.UNKNOWN
    match = _SEAL.search(raw)
    return judge_seal(key, raw[: match.start()] + b"}\n" if match else raw, match[1].decode() if match else None)


_LINE_DECODER = msgspec.json.Decoder(TrailLine)
_SEEN = 256
"""Bytes before the place reached that must still be what they were; a line holds the hash of the one before."""


class TrailFileFollower:
    """Follows one `audit.jsonl`; safe to use from several threads.

    Args:
        word: Only lines with this word in them are understood, and the first one with a seal; all without it.
    """

    def __init__(self, disk: Disk, path: Path, *, word: bytes = b"") -> None:
        self._disk = disk
        self._path = path
        self._word = word
        self._guard = threading.Lock()
        self._trail = TrailReader()
        self._ino = self._reached = 0
        self._seen = self._digest = b""
        self.is_private = False
        """Whether another user keeps the trail to itself, so that nothing can be said of who wrote what."""

    def facts(self, key: bytes = b"") -> RecordedFacts:
        """Give what the trail has of requests and answers now; what was known when it cannot be read at the moment."""
        with self._guard:
            try:
                self._go_on(key)
                self.is_private = False
            except OSError as error:
                self.is_private = is_private_to_other(error)
            return self._trail.facts

    def last(self, limit: int, key: bytes = b"") -> list[AuditLine]:
        """Give the last `limit` lines for people, newest first; none when the file cannot be read."""
        with self._guard, contextlib.suppress(OSError):
            self._go_on(key, keeps=limit)
            return self._trail.shown(limit)
        return []

    def _go_on(self, key: bytes, *, keeps: int = 0) -> None:
        """Take what was appended; from the beginning when the file, or the key, is another."""
        found, trail = self._disk.stat(self._path), self._trail
        ino, size = (found.ino, found.size) if found is not None else (0, 0)
        if ino != self._ino or key != trail.key or keeps > trail.keeps or not self._is_there(size):
            trail.restart(key=key, keeps=keeps)
            self._ino, self._reached, self._seen, self._digest = ino, 0, b"", b""
        if size == self._reached:
            return
        for block in whole_lines(self._disk, self._path, self._reached):
            # guard: plain-lines-are-passed-over
            wanted = block if self._may_tell(block) else b""
            for row in (line + b"\n" for line in wanted.split(b"\n")[:-1] if self._may_tell(line)):
                line = _decode_trail_line(row)
                follows = line is not None and line.prev.encode() == self._digest
                trail.take(line, seal_of(row, trail.key), follows=follows)
                self._digest = hashlib.sha256(row).hexdigest().encode()
            self._reached += len(block)
            self._seen = (self._seen + block[-_SEEN:])[-_SEEN:]

    def _may_tell(self, data: bytes) -> bool:
        is_first_seal = bool(self._trail.key) and not self._trail.is_sealed and b',"seal":"' in data
        return self._word in data or is_first_seal

    def _is_there(self, size: int) -> bool:
        """Check whether the file still holds what was read: a line can be taken back and another written there."""
        if not self._reached:
            return True
        start = self._reached - len(self._seen)
        return size >= self._reached and self._disk.read(self._path, start, len(self._seen))[0] == self._seen


def _decode_trail_line(row: bytes) -> TrailLine | None:
    """Return a stored line; of one whose parts are of other types than ours what was done, None for no line at all."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _LINE_DECODER.decode(row)
    known = decode_line(row)
    if known is None:
        return None
    with contextlib.suppress(msgspec.DecodeError, RecursionError):  # half a letter, as in names that are no Unicode
        return _LINE_DECODER.decode(json.dumps(known, ensure_ascii=False).encode("utf-8", "replace"))
    at, actor, action = (str(known.get(name, "")) for name in ("at", "actor", "action"))
    return TrailLine(known["seq"], at, actor, action, dict(mapping_in(known, "facts")))
