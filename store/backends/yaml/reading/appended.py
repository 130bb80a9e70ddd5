"""What our own writers append to a long queue, told by the ledger: most changes then cost what they add, not the file.

A line of the ledger names the queue before and after it by their marks. Where such lines lead from the queue that was
read to the one that is there, and each only adds messages, nothing but the end of the file is new. A mark is what says
that a file is the same everywhere else, too; still, all bytes are compared soon after, since the text is the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.disk import Disk, Mark, Stat
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.recovery.ledger import whole_lines
from team_console.store.backends.yaml.text_change import Change
from team_console.store.backends.yaml.writing.generation import Generation

COMPARE_SECONDS = 10.0
"""After so long the next look, a timed one where nothing changes, is at all bytes of the queue again."""
LONG = 1 << 20
"""Bytes from which on a queue is long: a shorter one is compared in no time."""
_NOTHING = msgspec.Raw()


class _Line(Struct):
    """Of a line of the ledger what it did to the queue."""

    base: Mark | None = None
    queue: Mark | None = None
    void: int = 0
    changes: msgspec.Raw = _NOTHING
    removed: msgspec.Raw = _NOTHING
    merged: msgspec.Raw = _NOTHING
    noted: msgspec.Raw = _NOTHING
    torn: msgspec.Raw = _NOTHING

    @property
    def only_adds(self) -> bool:
        return not (self.void or any(map(bytes, (self.changes, self.removed, self.merged, self.noted, self.torn))))


_LINES = msgspec.json.Decoder(_Line)


class AppendedMessages:
    """Follows one queue; used from one thread at a time."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk, self._layout = disk, layout
        self._reached = 0
        self._believed_since: float | None = None

    def follow(self, known: Generation | None) -> Generation | None:
        """The present generation after `known`, not compared; None when all of the file must be looked at."""
        stat = self._disk.stat(self._layout.queue)
        if known is None or known.stat is None or stat is None or self._is_due():
            return None
        if known.mark == stat.mark:
            return known if known.stat == stat else replace(known, stat=stat)
        if not _is_open_ended(known):
            return None
        try:
            return self._read_end(known, known.stat, stat) if self._leads(known.stat.mark, stat.mark) else None
        except OSError:  # a ledger that another user keeps to itself; a queue that cannot be read says so itself
            return None

    def will_compare(self) -> int:
        """All bytes will be looked at: where the ledger ends before that, for `compared`."""
        found = self._disk.stat(self._layout.audit)
        return found.size if found is not None else 0

    def compared(self, reached: int) -> None:
        """All bytes were looked at, when the ledger had at least `reached` bytes."""
        self._reached, self._believed_since = reached, None

    def _is_due(self) -> bool:
        return self._believed_since is not None and monotonic() - self._believed_since >= COMPARE_SECONDS

    def _leads(self, mark: Mark, goal: Mark) -> bool:
        """Whether lines that only add lead from one generation to the other."""
        for line, end in self._lines():
            if line.base == mark and line.queue is not None and line.queue != mark:
                if not line.only_adds:
                    return False
                mark = line.queue
            if mark == goal:
                self._reached = end
                return True
        return False

    def _lines(self) -> Iterator[tuple[_Line, int]]:
        """The lines since those that were looked at, each with where it ends; up to one that is none."""
        place = self._reached
        for block in whole_lines(self._disk, self._layout.audit, place):
            for row in block.splitlines(keepends=True):
                place += len(row)
                try:
                    yield _LINES.decode(row), place
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    return

    def _read_end(self, known: Generation, before: Stat, now: Stat) -> Generation | None:
        """What stands behind the last entry, if that and the head are as they were."""
        path, head, last = self._layout.queue, known.text.head, known.text.entries[-1].raw
        data, found = self._disk.read(path, before.size - len(last))
        same = found == now and data.startswith(last) and self._disk.read(path, 0, len(head))[0] == head
        if not same:
            return None
        if self._believed_since is None:
            self._believed_since = monotonic()
        return Generation(known.text.followed(Change(before.size, data[len(last) :], 0)), found, compared=False)


def _is_open_ended(known: Generation) -> bool:
    """Whether what is added to the queue stands behind all that is there."""
    text = known.text
    ends = known.stat is not None and known.stat.size >= LONG and not text.tail and not text.whole and text.size > 0
    return ends and text.entries[-1].raw.endswith(b"\n")
