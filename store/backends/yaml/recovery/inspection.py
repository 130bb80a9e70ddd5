"""Inspection: the first thing a lock holder does. It clears away what nobody alive owns, and reads the queue.

The order matters, because each step may be the last one before the next crash:

1. What stands in the place of a file of ours and cannot be it goes aside, so that there is a ledger to read.
2. A torn end of the ledger is set aside, so that its last line is the last transaction.
3. Staging files go, but for one that the last transaction exchanged with the queue: that becomes `.prev`.
4. The queue is read. Only now can be told how far the last transaction came (`plan_of`).
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.reading.archives import torn_problem
from team_console.store.backends.yaml.recovery.ledger import Line
from team_console.store.backends.yaml.recovery.plan import Found
from team_console.store.backends.yaml.writing.commit import KEPT, LockedQueue, keep_as_previous
from team_console.store.backends.yaml.writing.generation import Generation, load
from team_console.store.backends.yaml.writing.obstacles import clear_file, clear_hollow, move_aside
from team_console.store.contract.team import AUDIT_LOST
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem


def inspect(queue: LockedQueue) -> Found | None:
    """Load the queue and tell what was found; None where there is no ledger that it could differ from.

    Raises:
        TeamError: `STORE_UNREADABLE` or `STORE_FAILED`; nothing was written into the queue then.
    """
    _clear_the_way(queue)
    left = queue.left
    if left is not None and queue.tip.seq < left.seq:
        queue.notices.append(_lost_ledger(queue, left.seq))
    is_ours = left is not None and left.seq == queue.tip.seq and not queue.tip.torn
    if queue.tip.torn:
        _set_aside_torn_line(queue)
    swapped = _clear(queue, _strays(queue))
    queue.generation = load(queue.disk, queue.layout.queue, queue.known)
    _refuse_hard_link(queue)
    _refuse_without_account(queue)
    line = queue.tip.line
    if line is None:
        return None
    return Found(
        line,
        queue.generation,
        queue.disk.stat(queue.layout.prev),
        left if is_ours and not swapped else None,
        has_arrived=swapped or queue.reached == line.seq,
    )


def _clear_the_way(queue: LockedQueue) -> None:
    """Find the end of the ledger. What stands in its place and cannot be one goes aside, and it begins anew.

    So does what stands in the queue's place, where the ledger can rebuild the queue.
    """
    layout, stamp = queue.layout, queue.stamp()
    queue.notices += clear_file(queue.disk, layout.audit, stamp=stamp)
    try:
        queue.tip = queue.ledger.tip()
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        queue.notices.append(move_aside(queue.disk, layout.audit, "no ledger", stamp=stamp))
        queue.tip = queue.ledger.tip()
    if queue.tip.line is not None:
        queue.notices += clear_file(queue.disk, layout.queue, stamp=stamp)
        queue.notices += clear_hollow(queue.disk, layout.queue, stamp=stamp)


def _set_aside_torn_line(queue: LockedQueue) -> None:
    aside = queue.ledger.set_aside(queue.tip, stamp=queue.stamp())
    queue.notices.append(torn_problem(queue.layout.audit, queue.tip.size, aside))
    queue.tip = queue.ledger.tip()


def _clear(queue: LockedQueue, strays: Sequence[Path]) -> bool:
    """Remove staging files of dead processes; whether one of them had been exchanged with the queue: it is `.prev`."""
    line, swapped = queue.tip.line, False
    now = queue.disk.stat(queue.layout.queue)
    for path in strays:
        stat = queue.disk.stat(path)
        if stat is None or stat.kind == "folder":
            continue
        if line is not None and now is not None and _is_displaced(path.name, stat, now, line):
            keep_as_previous(queue, path, ours=stat.mark == line.base)
            swapped = True
        else:
            queue.disk.unlink(path)
    return swapped


def _strays(queue: LockedQueue) -> list[Path]:
    """Staging files; nobody alive owns them while we hold the lock."""
    names = queue.disk.names(queue.layout.folder)
    return [queue.layout.folder / name for name in names if name.startswith(queue.layout.staging)]


def _is_displaced(name: str, stat: Stat, now: Stat, line: Line) -> bool:
    """Whether a staging name holds what the swap of `line` took out of the queue's place."""
    if now.ino == stat.ino or stat.mark == line.queue:
        return False
    return stat.mark == line.base or name in (line.staged, line.staged + KEPT)


def _refuse_hard_link(queue: LockedQueue) -> None:
    """A queue with a second name would be torn apart by a swap; only our own `.prev` may be that name."""
    stat = queue.generation.stat
    prev = queue.disk.stat(queue.layout.prev) if stat is not None and stat.links > 1 else None
    if stat is not None and prev is not None and prev.ino == stat.ino:
        queue.disk.unlink(queue.layout.prev)
        stat = queue.disk.stat(queue.layout.queue)
        queue.generation = Generation(queue.generation.text, stat)
    if stat is not None and stat.links > 1:
        raise TeamError(
            Code.STORE_FAILED,
            f"{queue.layout.queue} has {stat.links} names (hard links), and replacing it would leave the others behind",
            "Make it a file of its own: cp it to a new file and mv that over it. Nothing was written.",
        )


def _refuse_without_account(queue: LockedQueue) -> None:
    """A missing queue is rebuilt from the ledger; where there is none, nothing is written over its remains."""
    if queue.generation.stat is None and queue.tip.line is None and queue.disk.stat(queue.layout.prev) is not None:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{queue.layout.queue} is gone and there is no ledger to rebuild it from",
            f"Restore it: cp {queue.layout.prev.name} {queue.layout.queue.name}",
        )


def _lost_ledger(queue: LockedQueue, seq: int) -> Problem:
    name = queue.layout.audit.name
    text = f"{name} ended at line {queue.tip.seq}, and line {seq} was written: what it said is lost, and it begins anew"
    return Problem(AUDIT_LOST, "warning", name, text, "Keep a copy of it; archives were not checked against it.")
