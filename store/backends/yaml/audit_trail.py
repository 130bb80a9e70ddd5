"""Write the audit trail of a YAML team, and find its end: one hash-chained JSON line per transaction in `audit.jsonl`.

A transaction is committed once its line is durable. A line holds enough for recovery to do the transaction again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from team_console.store.backends.trail_reader import TrailLine, TrailReader
from team_console.store.backends.yaml.disk import LARGEST_FILE, Disk, FileVersion, append, size_of
from team_console.store.backends.yaml.layout import is_private_to_other
from team_console.store.contract.team import AuditLine, LineSeal, judge_seal, seal
from team_console.store.model.message import FieldDict, Message, nonempty
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.foreign_fields import mapping_in
from team_console.store.settings.in_force import recorded_text

_WINDOW = 1 << 16
"""Bytes at the end of a trail in which its last line is looked for first."""
_BLOCK = 1 << 22
"""Bytes that are read at once where a whole trail is."""
_PLAIN_PARTS = [
    "also",
    "writes",
    "noted",
    "pushed",
    "void",
    "sizes",
    "base",
    "queue",
    "staged",
    "previous",
    "settings",
]
"""Parts of a line that are stored as JSON shows them."""
NO_FILE: FileVersion = (0, 0, 0)
"""The version of a file that is not there, where None says that it is not known."""
DONE_IN_ORDER = ("writes", "changes", "removed", "merged", "archived", "pushed", "noted")
"""Parts of a line that are done one after another."""


class RecordPatch(Struct, frozen=True, array_like=True):
    """Keys of one record to set; on record as its first two.

    Attributes:
        message_id: Of the record before.
        keys: Key -> value; None for a key taken away.
        old, new: The message before and after, in the process that made the patch; not stored.
    """

    message_id: str
    keys: FieldDict
    old: Message | None = None
    new: Message | None = None

    def applied_to(self, current: Message) -> Message:
        """Return `current` with the change made, keeping what others changed meanwhile.

        Raises:
            ValueError: The changed record is not a message.
        """
        if self.new is not None and (current is self.old or (self.old and current.record == self.old.record)):
            return self.new
        return current.with_changes(**self.keys)


class TransactionLine(Struct, frozen=True):
    """One transaction, as it is to be written or as it stands on record; enough to do it again.

    Attributes:
        also: Further (action, facts) pairs of the same transaction.
        writes: Records added to the queue.
        changes: What changes in records of the queue.
        removed: Ids of records taken out of the queue.
        merged: Ids of which there were copies; one of each stays.
        archived: (agent, message id, record) appended to archives; the record only where the queue does not show it.
        pushed: (agent, record) appended to inbox files.
        noted: Records that somebody else put into the queue or changed there, first seen now.
        void: Number of the line that this one declares undone, 0 for none.
        sizes: Path, relative to the queue's folder or absolute -> size before this transaction appended to it.
        base, queue: Generations of the queue before and after, None for no queue.
        staged: Name of the staging file, which names the generation before once the two were exchanged.
        previous: `.prev` as it was before this transaction's swap, `NO_FILE` for none; None in lines of older versions.
        settings: Those in force: `sha256` and their `text`, or instead of it the place of the line that has it (`at`).
    """

    actor: str
    action: str
    facts: FieldDict = {}
    seq: int = 0
    at: str = ""
    also: tuple[tuple[str, FieldDict], ...] = ()
    writes: tuple[FieldDict, ...] = ()
    changes: tuple[RecordPatch, ...] = ()
    removed: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    archived: tuple[tuple[str, str, FieldDict | None], ...] = ()
    pushed: tuple[tuple[str, FieldDict], ...] = ()
    noted: tuple[FieldDict, ...] = ()
    void: int = 0
    sizes: dict[str, int] = {}
    base: FileVersion | None = None
    queue: FileVersion | None = None
    staged: str = ""
    previous: FileVersion | None = None
    settings: FieldDict = {}

    @property
    def is_note(self) -> bool:
        """Whether it changes no file but the trail."""
        return not any(getattr(self, name) for name in DONE_IN_ORDER)

    def encode(self, prev: str, key: bytes = b"") -> bytes:
        """Return the line as stored, with its newline, sealed where there is a key; empty parts are left out."""
        head = {"seq": self.seq, "at": self.at, "actor": self.actor, "action": self.action, "facts": self.facts}
        parts = {name: getattr(self, name) for name in _PLAIN_PARTS}
        parts["changes"] = [(patch.message_id, patch.keys) for patch in self.changes]
        parts["removed"] = self.removed
        parts["merged"] = [(message_id, "") for message_id in self.merged]
        parts["archived"] = [copy if copy[2] is not None else copy[:2] for copy in self.archived]
        stored = {**head, **nonempty(parts), "prev": prev}
        text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"), default=str)
        raw = text.encode("utf-8", "backslashreplace") + b"\n"
        return raw[:-2] + b',"seal":"%s"}\n' % seal(key, raw).encode() if key else raw


class TrailTip(Struct, frozen=True):
    """Where the chain ends.

    Attributes:
        line: The last line, None when there is none.
        digest: SHA-256 of its bytes, empty when there is none.
        size: Bytes up to its end.
        torn: Bytes after it that are no whole line.
        start: Bytes before it.
    """

    line: TransactionLine | None = None
    digest: str = ""
    size: int = 0
    torn: bytes = b""
    start: int = 0

    @property
    def seq(self) -> int:
        """Number of the last line, 0 when there is none."""
        return self.line.seq if self.line else 0

    @property
    def settings(self) -> FieldDict:
        """The place of the settings' text, for a next line on which they are unchanged."""
        known = self.line.settings if self.line else {}
        return {"sha256": known.get("sha256"), "at": self.start} if "text" in known else known


class AuditTrail(Struct):
    """Extends one `audit.jsonl`, and reads its last lines; what it adds is sealed with the team's `key`, if any."""

    disk: Disk
    path: Path
    key: bytes = b""

    def tip(self) -> TrailTip:
        """Return the end of the chain, read from the end of the file, so that its cost does not grow with the file.

        Raises:
            OSError: What is there is no plain file (`EINVAL`), or has no whole line near its end (`EFBIG`).
        """
        found = self.disk.stat(self.path)
        if found is not None and found.kind != "file":
            raise OSError(errno.EINVAL, "not a regular file", str(self.path))
        if found is None or found.size == 0:
            return TrailTip()
        end, window = found.size, _WINDOW
        while True:
            start = max(0, end - window)
            data = self.disk.read(self.path, start, end - start)[0]
            tip = _find_tip(data, start)
            if tip is not None:
                return tip
            if start == 0:
                return TrailTip(torn=data)
            window *= 2
            if window > LARGEST_FILE:
                raise OSError(errno.EFBIG, f"no whole line in its last {len(data):,} bytes", str(self.path))

    def append(self, line: TransactionLine, tip: TrailTip, *, mode: int) -> TrailTip:
        """Extend the chain by `line`, durable: from here on the transaction is committed.

        Raises:
            PartialAppendError: The line may or may not be there.
            OSError: The line is not there.
        """
        data = line.encode(tip.digest, self.key)
        append(self.disk, self.path, data, mode=mode)
        return TrailTip(line, hashlib.sha256(data).hexdigest(), tip.size + len(data), start=tip.size)

    def settings(self) -> bytes | None:
        """Return the text of the settings that were in force at the last line; None when nothing is on record."""
        kept = wanted = self.tip().settings
        place = wanted.get("at")
        if isinstance(place, int) and place >= 0:
            line = next(self.lines(place, block=_WINDOW), None)
            kept = line.settings if line is not None else {}
        same = kept.get("sha256") == wanted.get("sha256")
        return recorded_text(kept) if same else None

    def last(self, count: int = 0, *, window: int = _WINDOW) -> list[TransactionLine]:
        """Return up to `count` whole lines (0: all) of the last `window` bytes, oldest first, unchecked."""
        found = self.disk.stat(self.path)
        if found is None:
            return []
        start = max(0, found.size - window)
        rows = self.disk.read(self.path, start)[0].split(b"\n")
        # The last row ended without a newline, and the first may have begun before the window.
        whole = rows[1 if start else 0 : -1]
        lines = [parse_line(row + b"\n") for row in whole[-count:]]
        return [line for line in lines if line is not None]

    def lines(self, start: int = 0, *, block: int = _BLOCK) -> Iterator[TransactionLine]:
        """Give all whole lines from byte `start` on; what is no line is left out, and nothing is said of the chain."""
        for data in whole_lines(self.disk, self.path, start, block=block):
            for row in data.split(b"\n")[:-1]:
                line = parse_line(row + b"\n")
                if line is not None:
                    yield line


def whole_lines(disk: Disk, path: Path, start: int, *, block: int = _BLOCK) -> Iterator[bytes]:
    """Yield the whole lines of a trail from byte `start` on, in pieces of at best `block` bytes.

    Ends before what is no line within the bytes that can be read at once: a torn end, or something else's content.
    """
    size, end = block, size_of(disk, path)
    while start < end:
        data = disk.read(path, start, min(size, end - start))[0]
        stop = data.rfind(b"\n") + 1
        if stop:
            yield data[:stop]
            start, size = start + stop, block
        elif start + size >= end or size >= LARGEST_FILE:
            return
        else:
            size *= 4


def _find_tip(data: bytes, start: int) -> TrailTip | None:
    """Return the last whole line in `data`, which begins at `start` in the file; None when it may begin before."""
    end = len(data)
    while (stop := data.rfind(b"\n", 0, end)) >= 0:
        begin = data.rfind(b"\n", 0, stop) + 1
        if begin == 0 and start > 0:
            return None
        line = parse_line(data[begin : stop + 1])
        if line is not None:
            digest = hashlib.sha256(data[begin : stop + 1]).hexdigest()
            return TrailTip(line, digest, start + stop + 1, data[stop + 1 :], start + begin)
        end = stop
    return None


def parse_line(raw: bytes) -> TransactionLine | None:
    """Return a stored line, newline included, as a transaction; None for what is none, or of another shape than
    ours.
    """
    facts = decode_line(raw)
    if facts is None:
        return None
    try:
        # Older versions name one of several records that shared an id by id and digest: what was done to it is
        # left out, and the queue is asked.
        parts = {
            "changes": [change for change in facts.get("changes", ()) if len(change) == 2],
            "removed": [item for item in facts.get("removed", ()) if isinstance(item, str)],
            "merged": [message_id for message_id, _ in facts.get("merged", ())],
            "archived": [[*item, None][:3] for item in facts.get("archived", ())],
        }
        return msgspec.convert({"actor": "", "action": "", **facts, **parts}, TransactionLine)
    except (TypeError, ValueError):  # a ValidationError is a ValueError
        return None


def decode_line(raw: bytes) -> FieldDict | None:
    """Return the parts of a stored line, newline included; None for other bytes."""
    if not raw.endswith(b"\n"):
        return None
    try:
        facts = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) and isinstance(facts.get("seq"), int) else None


_SEAL = re.compile(rb',"seal":"([0-9a-f-]{73})"\}\n\Z')
"""The last field of a line, and the end of the line."""


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
        self._ino = self._reached = 0  # the file, and the bytes of it that were taken
        self._seen = self._digest = b""  # their last `_SEEN` ones, and the hash of the last line
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
        """Return whether lines must be understood: they hold the word, or the first seal from which on all need one."""
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
