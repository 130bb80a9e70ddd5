"""Reads what the audit trail knows of requests and answers: without a lock, and only what was appended since."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field
from team_console.store.backends.yaml.closed import is_closed
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.recovery.ledger import seal_of, whole_lines
from team_console.store.contract.audit_seal import LineSeal, key_name
from team_console.store.model.clock import from_text
from team_console.store.model.recorded import MIGRATE, RecordedFact, RecordedFacts, reworded_in, vouched_for
from team_console.store.protocol.relations.recording import fact_of

_SEAL = 256
"""Bytes before the place reached that must still be what they were; a line holds the hash of the one before."""
_NOT_BY_DESK = frozenset({"drop", "heal", "undo", "abort", MIGRATE})
"""Actions that carry what others wrote: into the drop folder, into the queue without a lock, into another team."""


_MARKS = (
    b"request",
    b"msg_type",
    b"in_reply_to",
    b"clarify",
    b"escalate",
    b'"void"',
    b'"by_desk"',
    b'"accept_',
    b'"audit_',
    b'"reworded":',
)
"""Of these a line that concerns a request, keys, settings or a changed message holds at least one. Few, because a long
trail is searched for each.
"""


class _Line(Struct):
    seq: int = 0
    at: str = ""
    action: str = ""
    facts: msgspec.Raw = msgspec.Raw()
    writes: list[msgspec.Raw] = field(default_factory=list)
    noted: list[msgspec.Raw] = field(default_factory=list)
    void: int = 0


_LINES = msgspec.json.Decoder(_Line)
_RECORDS = msgspec.json.Decoder()


class RecordedReader:
    """Follows one `audit.jsonl`; used from one thread at a time. The same object grows until the file is another."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self.is_private = False
        """Whether another user keeps the trail to itself, so that nothing can be said of who wrote what."""
        self._key = b""
        self._ino = 0
        self._reached = 0
        self._seal = b""
        self._sealed_from: int | None = None
        self._facts = RecordedFacts()

    def read(self, key: bytes = b"") -> RecordedFacts:
        """Everything the trail says now; what was known when it cannot be read at the moment.

        Of a team with a key, a line whose seal does not fit, or lacks after others that have one, is nobody's word.
        """
        try:
            found = self._disk.stat(self._path)
            if found is None or found.ino != self._ino or key != self._key or not self._goes_on(found.size):
                self._forget()
            self._key = key
            self._ino = found.ino if found is not None else 0
            if found is not None and found.size > self._reached:
                self._go_on()
            self.is_private = False
        except OSError as error:
            self.is_private = is_closed(error)
        return self._facts

    def _forget(self) -> None:
        self._ino = 0
        self._reached = 0
        self._seal = b""
        self._sealed_from = None
        # A trail that only begins is no other trail: nothing known of it is wrong.
        if len(self._facts) or self._facts.losses or self._facts.confirmations:
            self._facts = RecordedFacts()

    def _goes_on(self, size: int) -> bool:
        """Whether the file still holds what was read: a line can be taken back and another written in its place."""
        if size == self._reached == 0:
            return True
        start = self._reached - len(self._seal)
        return size >= self._reached and self._disk.read(self._path, start, len(self._seal))[0] == self._seal

    def _go_on(self) -> None:
        for block in whole_lines(self._disk, self._path, self._reached):
            self._find_first_seal(block)
            for start, row in _candidates(block):
                self._take(row, is_trusted=self._is_trusted(row, self._reached + start))
            self._reached += len(block)
            self._seal = (self._seal + block[-_SEAL:])[-_SEAL:]

    def _find_first_seal(self, block: bytes) -> None:
        """A quote in a text of a line is escaped, so that no text looks like a seal."""
        if self._key and self._sealed_from is None:
            place = block.find(b'"seal":"%s-' % key_name(self._key).encode())
            self._sealed_from = self._reached + place if place >= 0 else None

    def _is_trusted(self, row: bytes, start: int) -> bool:
        seal = seal_of(row, self._key)
        is_before = self._sealed_from is None or start < self._sealed_from
        return seal is not LineSeal.BROKEN and (seal is not LineSeal.UNSEALED or is_before)

    def _take(self, row: bytes, *, is_trusted: bool) -> None:
        """A line that is none tells nothing; that the chain is broken there is told by the audit trail."""
        try:
            line = _LINES.decode(row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if line.void and is_trusted:
            self._facts = self._facts.without(line.void)
        facts = _decoded(line.facts) if is_trusted else None
        self._facts.take_on_record(line.seq, line.action, facts)
        in_time = is_trusted and line.action not in _NOT_BY_DESK
        vouched = vouched_for(line.action, facts)
        for raw in line.noted:
            self._add(raw, line, vouched, in_time=False)
        for raw in line.writes:
            self._add(raw, line, vouched, in_time=in_time)
        for message_id in vouched:
            self._facts.add(RecordedFact(message_id, line.seq, from_text(line.at), None, True, in_time=False))

    def _add(self, raw: msgspec.Raw, line: _Line, vouched: Container[str], *, in_time: bool) -> None:
        record = _decoded(raw)
        if isinstance(record, dict):
            ours = in_time or record.get("message_id") in vouched
            at = from_text(line.at)
            fact = fact_of(bytes(raw), record, line=line.seq, at=at, by_desk=ours, in_time=in_time)
            if fact is not None:
                self._facts.add(fact)


def reworded(disk: Disk, path: Path) -> frozenset[str]:
    """Ids of the messages that the trail found changed; read whole, but decoded only where it says so."""
    rows = (row for block in whole_lines(disk, path, 0) for _, row in _rows_with(block, b'"reworded":'))
    return frozenset(key for row in rows for key in reworded_in(_decoded(_LINES.decode(row).facts)))


def _rows_with(data: bytes, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines with this mark in them, each with where it begins."""
    place = data.find(mark)
    while place >= 0:
        start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place) + 1
        yield start, data[start:end]
        place = data.find(mark, end)


def _decoded(raw: msgspec.Raw) -> object:
    try:
        return _RECORDS.decode(raw) if raw else None
    except (msgspec.DecodeError, RecursionError):
        return None


def _candidates(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines with any of the marks in them, in order, each with where it begins."""
    found = {start: row for mark in _MARKS for start, row in _rows_with(data, mark)}
    yield from sorted(found.items())
