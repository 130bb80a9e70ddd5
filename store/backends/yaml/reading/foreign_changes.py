"""What a program that does not lock took out of the queue or put back, told before the next write heals it."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from team_console.store.backends.yaml.closed import is_closed
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.reading.archives import Archives
from team_console.store.backends.yaml.recovery.expected_queue import ExpectedQueue
from team_console.store.backends.yaml.recovery.healing import (
    CHANGED,
    HEALED_ANSWER,
    HEALED_CUT,
    HEALED_LOST,
    HEALED_STATE,
    Held,
    by_id,
    reconcile,
)
from team_console.store.backends.yaml.recovery.ledger import Ledger
from team_console.store.backends.yaml.recovery.plan import is_cut_short
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.backends.yaml.writing.lock_owner import Released, parse_released, read_text
from team_console.store.contract.team import FOREIGN_WRITE, ROLLED_BACK
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.problem import Problem

_WHO = "another program"
_ASKED = 50
"""For how many missing messages the archives are searched."""
_HEAL = "The next write puts back what the ledger (audit.jsonl) knows; 'team-console check --heal' does it now."
_WORDS = {
    HEALED_LOST: "took {} out of the queue",
    HEALED_CUT: "cut {} short",
    HEALED_STATE: "put {} back to an earlier state",
    HEALED_ANSWER: "changed the answers to requests in {}",
}


class Loss(Struct, frozen=True):
    """What is known of one foreign write.

    Attributes:
        problem: How to tell it.
        missing: Ids of messages that the ledger says are in the queue, and that are not.
        changed: Messages that say something else than the ledger has of them, told one by one.
    """

    problem: Problem
    missing: frozenset[str] = frozenset()
    changed: tuple[Problem, ...] = ()


class Losses:
    """Compares a queue that somebody else wrote with the ledger, once for each such queue; takes no lock."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._archives = Archives(disk, layout)
        self._found: tuple[tuple[Mark, bytes], Loss | None] | None = None

    def look(self, now: Generation, ours: Generation | None, lock_text: bytes) -> Loss | None:
        """What the queue lacks; None when that is not known, or when it is being written at this moment.

        Args:
            ours: The queue as one of us left it, as far as it was seen.
            lock_text: The lock file's text, read after the queue while nobody held the lock.
        """
        mark = now.mark
        if mark is None:
            return None
        key = mark, lock_text
        if self._found is None or self._found[0] != key:
            loss = self._compare(now, ours, parse_released(lock_text))
            if not self._is_still(mark, lock_text):
                return None
            self._found = key, loss
        return self._found[1]

    def _is_still(self, mark: Mark, lock_text: bytes) -> bool:
        found = self._disk.stat(self._layout.queue)
        same = found is not None and found.mark == mark
        return same and read_text(self._disk, self._layout.lock) == lock_text

    def _compare(self, now: Generation, ours: Generation | None, released: Released | None) -> Loss | None:
        try:
            expected = self._expected(now, ours, released)
            if expected is None:
                return Loss(_uncompared(self._layout)) if released is not None else None
            return _loss(expected, now, self._layout, self._archives)
        except OSError as error:
            return None if is_closed(error) else Loss(_uncompared(self._layout))
        except TeamError:
            return Loss(_uncompared(self._layout))
        finally:
            self._archives.forget()

    def _expected(self, now: Generation, ours: Generation | None, released: Released | None) -> Held | None:
        """What the queue held by our own account; None when there is no account, or the queue is as we left it."""
        if released is not None and ours is not None and ours.mark == released.queue:
            return by_id(ours.text.distinct())
        line = Ledger(self._disk, self._layout.audit).tip().line
        if line is None or (released is None and now.mark in (line.queue, line.base)):
            return None
        trusted = released.queue if released is not None else None
        prev = self._disk.stat(self._layout.prev) if released is None else None
        without = released is None and is_cut_short(line, now, prev)
        return ExpectedQueue(self._disk, self._layout, now, line, trusted=trusted, without=without).expected()


def _loss(expected: Held, now: Generation, layout: Layout, archives: Archives) -> Loss:
    """Read messages are in an archive; of the others that are gone, some may be too when the ledger is damaged."""
    asked: set[str] = set()

    def is_done(message: Message) -> bool:
        if message.message_id not in expected or message.status == Status.READ:
            return message.message_id in expected
        asked.add(message.message_id)
        return len(asked) <= _ASKED and archives.keeps(message)

    healing = reconcile(expected, now.text, archived=is_done, taken_out=lambda _: False)
    missing = frozenset(add.message_id for add in healing.adds)
    counts = Counter(problem.code for problem in healing.problems)
    words = [text.format(_count(counts[code])) for code, text in _WORDS.items() if counts[code]]
    changed = tuple(problem for problem in healing.problems if problem.code == CHANGED)
    if not words:
        return Loss(_harmless(layout), changed=changed)
    text = f"{_WHO} {', '.join(words)}"
    return Loss(Problem(ROLLED_BACK, "error", layout.queue.name, text, _HEAL), missing, changed)


def _count(number: int) -> str:
    return f"{number:,} message{'' if number == 1 else 's'}"


def _uncompared(layout: Layout) -> Problem:
    text = "the queue was last written by another program"
    hint = "It cannot be compared with the ledger (audit.jsonl), so it is not known whether messages are missing."
    return Problem(FOREIGN_WRITE, "notice", str(layout.queue), text, hint)


def _harmless(layout: Layout) -> Problem:
    text = f"{_WHO} wrote the queue last; nothing is missing by the ledger (audit.jsonl)"
    return Problem("UNLOCKED_WRITE", "notice", str(layout.queue), text, "The next write takes over what it added.")
