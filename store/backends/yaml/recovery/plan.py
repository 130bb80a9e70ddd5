"""Plan of recovery: how far the last transaction came, and what is left to do about it. Pure: it reads no file.

A line of the ledger counts from the moment it is durable, so its transaction is finished, whoever died. Only where
the maker had to live to use the result it is undone, so that somebody else gets it.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.recovery.ledger import Line
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.backends.yaml.writing.lock_owner import Released
from team_console.store.backends.yaml.writing.queue_edit import Places

UNDOABLE = frozenset({"receive", "claim"})
"""Actions whose caller must live to use the result: cut short, they are undone so that somebody else gets it."""


class Found(Struct, frozen=True):
    """What the files say, once the queue is read.

    Attributes:
        line: The last line of the ledger.
        queue: The queue as it is now.
        prev: What stands in the place of the generation before, None for nothing.
        left: How the lock was released after `line`, None when its holder died.
        has_arrived: Whether it is known without a look at the text that `line` reached the queue.
    """

    line: Line
    queue: Generation
    prev: Stat | None = None
    left: Released | None = None
    has_arrived: bool = False


class Ending(Enum):
    """What becomes of the last transaction."""

    DONE = "it is whole"
    UNDO = "it was cut short, and its maker was to use it"
    COMPLETE = "it was cut short, and is on record"
    MERGE = "it is whole, and took a generation that nobody has looked at out of the queue's place"


class Plan(Struct, frozen=True):
    """What to do.

    Attributes:
        heals: Whether the queue is compared with what it should hold: somebody else wrote it.
        ending: What becomes of the last transaction.
    """

    heals: bool
    ending: Ending

    @property
    def is_cut_short(self) -> bool:
        """Whether the last transaction never reached the queue."""
        return self.ending in (Ending.UNDO, Ending.COMPLETE)


def plan_of(found: Found) -> Plan:
    """What brings ledger, archives and queue to agree."""
    line, mark = found.line, found.queue.mark
    if found.left is not None and mark is not None and mark == found.left.queue and not _was_written_late(found):
        return Plan(False, Ending.DONE)
    if found.left is None and not found.has_arrived and is_cut_short(line, found.queue, found.prev):
        return Plan(mark != line.base, Ending.UNDO if line.actions & UNDOABLE else Ending.COMPLETE)
    return Plan(mark != line.queue, Ending.MERGE if _has_displaced(found) else Ending.DONE)


def is_cut_short(line: Line, queue: Generation, prev: Stat | None) -> bool:
    """Whether the transaction of the last `line`, whose maker may have died, never reached the queue."""
    if queue.mark == line.queue:
        return False
    if queue.mark == line.base:
        return True
    if prev is not None and line.base is not None and prev.ino == line.base[0]:
        return False  # it was displaced by our swap; who had it open may have written into it since
    return not _is_visible(line, queue.text)


def _is_visible(line: Line, text: QueueText) -> bool:
    """Whether anything the transaction of `line` wanted can be seen in `text`."""
    if any(text.find(str(record.get("message_id"))) is not None for record in line.writes):
        return True
    places = Places(text)
    for patch in line.changes:
        here = [text.entries[place].message for place in places.of(patch.handle)[:1]]
        if here and here[0] and all(here[0].record.get(key) == value for key, value in patch.keys.items()):
            return True
    return any(not places.of(handle) for handle in line.removed)


def _was_written_late(found: Found) -> bool:
    """Whether the generation before changed after it was replaced: an in-place writer had it open."""
    base, prev = found.line.base, found.prev
    if base is None or prev is None or not _has_swapped(found.line):
        return False
    return prev.ino == base[0] and prev.mark != base


def _has_displaced(found: Found) -> bool:
    """Whether the generation before is not the one that our last transaction was built upon (case 29)."""
    prev = found.prev
    return _has_swapped(found.line) and prev is not None and prev.mark != found.line.base and prev.kind == "file"


def _has_swapped(line: Line) -> bool:
    """Whether the transaction put another generation in the place of one that was there."""
    return line.base is not None and line.base != line.queue
