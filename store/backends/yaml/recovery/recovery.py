"""What the next lock holder does first: finish or undo what a dead one began, and heal what others lost.

The order matters, because each step may be the last one before the next crash:

1. A torn end of the ledger is set aside, so that its last line is the last transaction.
2. Staging files go, but for one that the last transaction exchanged with the queue: that becomes `.prev`.
3. The queue is read. Only now can be told how far the last transaction came (`is_unfinished`).
4. What an unfinished transaction appended to archives is cut off: a copy that is about to go must not count.
5. What other programs lost is healed, the unfinished transaction finished or undone, and what they wrote at the
   very moment of our swap merged: all of it as one line of the ledger, so that no crash in between forgets a part.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.archive_text import closed_ids
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.files import cut
from team_console.store.backends.yaml.reading.archives import torn_problem
from team_console.store.backends.yaml.recovery.expected_queue import ExpectedQueue, is_unfinished
from team_console.store.backends.yaml.recovery.healing import (
    SYSTEM,
    contribution,
    reconcile,
    torn_notice,
    understood,
)
from team_console.store.backends.yaml.recovery.ledger import Line, Record
from team_console.store.backends.yaml.recovery.torn_pieces import remnants
from team_console.store.backends.yaml.writing.appends import inbox_line
from team_console.store.backends.yaml.writing.commit import KEPT, LockedQueue, keep_as_previous
from team_console.store.backends.yaml.writing.generation import Generation, load
from team_console.store.backends.yaml.writing.lock_owner import Released
from team_console.store.backends.yaml.writing.obstacles import clear_file, clear_hollow, move_aside
from team_console.store.backends.yaml.writing.queue_edit import apply, in_sequence, piece_name
from team_console.store.contract.team import AUDIT_LOST
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem
from team_console.store.model.words import counted

UNDOABLE = frozenset({"receive", "claim"})
"""Actions whose caller must live to use the result: unfinished, they are undone so that somebody else gets it."""


def recover(queue: LockedQueue) -> Line | None:
    """Clear away what was left, load the queue, and say which transaction makes everything agree; None when it does.

    Raises:
        TeamError: `STORE_UNREADABLE`; nothing was written then.
    """
    remedy = _settle(queue)
    return in_sequence(remedy, _old_pieces(queue)) if queue.thorough else remedy


def _settle(queue: LockedQueue) -> Line | None:
    _clear_the_way(queue)
    if queue.left is not None and queue.tip.seq < queue.left.seq:
        queue.notices.append(_lost_ledger(queue, queue.left.seq))
    strays = _strays(queue)
    left = queue.left if queue.left is not None and queue.left.seq == queue.tip.seq and not queue.tip.torn else None
    if left is not None and not strays and _is_as_left(queue, left):
        return None
    if queue.tip.torn:
        _set_aside_torn_line(queue)
    swapped = _clear(queue, strays)
    queue.generation = load(queue.disk, queue.layout.queue, queue.known)
    _refuse_hard_link(queue)
    _refuse_without_account(queue)
    line = queue.tip.line
    if line is None:
        return None
    is_known = left is not None or swapped or queue.reached == line.seq
    unfinished = not is_known and is_unfinished(queue, line, queue.generation)
    return _remedy(queue, Diagnosis(line, left, unfinished))


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


class Diagnosis(Struct, frozen=True):
    """How the last transaction was left.

    Attributes:
        line: The last line of the ledger.
        left: How the lock was released after it, None when its holder died.
        unfinished: Whether it never reached the queue.
    """

    line: Line
    left: Released | None
    unfinished: bool


def _remedy(queue: LockedQueue, found: Diagnosis) -> Line | None:
    line = found.line
    if found.unfinished:
        _cut_archives(queue, line)
        healed = _healing(queue, found)
        return _undo(queue, line, healed) if line.actions & UNDOABLE else in_sequence(healed, _completion(queue, line))
    healed = _healing(queue, found)
    theirs = _displaced(queue)
    if theirs is None:
        return healed
    after = apply(queue.generation.text, healed) if healed is not None else queue.generation.text
    merging = contribution(theirs, after, archived=queue.archives.keeps)
    queue.notices += merging.problems
    return in_sequence(healed, merging.line(merged=True))


def _is_as_left(queue: LockedQueue, left: Released) -> bool:
    """Load the queue; whether it is, with all beside it, as the last holder of the lock left it."""
    found = queue.disk.stat(queue.layout.queue)
    if found is None or found.mark != left.queue or _was_written_late(queue):
        return False
    queue.generation = load(queue.disk, queue.layout.queue, queue.known)
    _refuse_hard_link(queue)
    return queue.generation.mark == left.queue


def _displaced(queue: LockedQueue) -> QueueText | None:
    """What `.prev` holds when that is not the generation our last transaction was built upon (case 29)."""
    line = queue.tip.line
    prev = queue.disk.stat(queue.layout.prev)
    if line is None or prev is None or line.base is None or line.base == line.queue or prev.mark == line.base:
        return None
    if prev.kind != "file":
        return None
    try:
        return load(queue.disk, queue.layout.prev, None).text
    except TeamError as error:
        _keep_unreadable(queue, error)
        return None


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


def _refuse_without_account(queue: LockedQueue) -> None:
    """A missing queue is rebuilt from the ledger; where there is none, nothing is written over its remains."""
    if queue.generation.stat is None and queue.tip.line is None and queue.disk.stat(queue.layout.prev) is not None:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{queue.layout.queue} is gone and there is no ledger to rebuild it from",
            f"Restore it: cp {queue.layout.prev.name} {queue.layout.queue.name}",
        )


def _healing(queue: LockedQueue, found: Diagnosis) -> Line | None:
    """What a program that does not lock lost or added since."""
    mark, line = queue.generation.mark, found.line
    if mark == line.queue or (found.unfinished and mark == line.base):
        return None
    trusted = found.left.queue if found.left else None
    account = ExpectedQueue(queue, queue.known, line, trusted=trusted, without=found.unfinished)
    vanished = queue.generation.stat is None
    archived = (lambda _: False) if vanished else account.is_archived
    healing = reconcile(account.expected(), queue.generation.text, archived=archived, taken_out=account.was_taken_out)
    if vanished:
        text = f"the queue was gone; put back from the ledger: {counted(len(healing.adds), 'message')}"
        healing.problems = [Problem("REBUILT", "warning", queue.layout.queue.name, text)]
    queue.notices += healing.problems
    return healing.line()


def _old_pieces(queue: LockedQueue) -> Line | None:
    """What takes out pieces that were torn in an earlier turn, of messages that the ledger has."""
    pieces = [entry.raw for entry in queue.generation.text.entries if entry.message is None]
    lines = (tip.line for tip, _ in queue.ledger.lines() if tip.line is not None) if pieces else iter(())
    records = (record for line in lines for record in (*line.writes, *line.noted))
    torn = remnants(pieces, understood(records))
    if not torn:
        return None
    queue.notices.append(torn_notice(len(torn)))
    return Line(SYSTEM, "heal", {"torn": len(torn)}, torn=tuple(map(piece_name, torn)))


def _undo(queue: LockedQueue, line: Line, healed: Line | None) -> Line | None:
    """Take back a receive whose reader died: its messages stay pending and go to somebody who lives."""
    text = f"{line.action} by {line.actor} was cut short before it was finished; its messages are pending again"
    queue.notices.append(Problem("UNDONE", "notice", f"audit line {line.seq}", text))
    ids = [patch.handle[0] for patch in line.changes]
    undo = Line(SYSTEM, "undo", {"undone": line.seq, "ids": ids}, void=line.seq)
    if healed is not None:
        return in_sequence(healed, undo)
    queue.write_line(undo)
    return None


def _completion(queue: LockedQueue, line: Line) -> Line:
    """What is left to do of a committed transaction whose maker died."""
    text = f"{line.action} by {line.actor} was on record but not finished; it was finished"
    queue.notices.append(Problem("COMPLETED", "notice", f"audit line {line.seq}", text))
    pushed = tuple(push for push in line.pushed if not _was_pushed(queue, line, *push))
    facts = {"completed": line.seq, "action": line.action}
    return replace(line, action="heal", facts=facts, also=(), noted=(), void=0, pushed=pushed)


def _cut_archives(queue: LockedQueue, line: Line) -> None:
    """Take back what the transaction of `line` put at the ends of archives, be it whole or torn."""
    ours = {message_id for _, message_id, _ in line.archived}
    for path, size in ((queue.layout.folder / name, size) for name, size in line.sizes.items()):
        found = queue.disk.stat(path)
        if path.parent != queue.layout.archives or found is None or found.size <= size:
            continue
        if set(closed_ids(queue.disk.read(path, size)[0])) <= ours:
            cut(queue.disk, path, size)
        else:
            queue.notices.append(_mixed_archive(path))
    queue.archives.forget()


def _was_pushed(queue: LockedQueue, line: Line, agent: str, record: Record) -> bool:
    """Whether the inbox file has the message; a torn piece of it is cut off."""
    path = queue.layout.inbox(agent)
    size = next((size for name, size in line.sizes.items() if queue.layout.folder / name == path), 0)
    found = queue.disk.stat(path)
    if found is None or found.size <= size:
        return False
    rest = queue.disk.read(path, size)[0]
    if inbox_line(record) in rest:
        return True
    if not rest.endswith(b"\n"):
        cut(queue.disk, path, size + rest.rfind(b"\n") + 1)
    return False


def _lost_ledger(queue: LockedQueue, seq: int) -> Problem:
    name = queue.layout.audit.name
    text = f"{name} ended at line {queue.tip.seq}, and line {seq} was written: what it said is lost, and it begins anew"
    return Problem(AUDIT_LOST, "warning", name, text, "Keep a copy of it; archives were not checked against it.")


def _mixed_archive(path: Path) -> Problem:
    text = f"{path.name} was also written by another program; copies of a record may be there twice"
    return Problem("FOREIGN_ARCHIVE", "notice", path.name, text)


def _keep_unreadable(queue: LockedQueue, error: TeamError) -> None:
    aside = queue.layout.queue.with_name(f"{queue.layout.queue.name}.torn-{queue.stamp()}")
    queue.disk.rename(queue.layout.prev, aside)
    text = f"a program that does not lock wrote something unreadable into the queue; it was kept as {aside.name}"
    queue.notices.append(Problem("FOREIGN_WRITE", "warning", queue.layout.queue.name, text, error.message))


def _strays(queue: LockedQueue) -> list[Path]:
    """Staging files; nobody alive owns them while we hold the lock."""
    names = queue.disk.names(queue.layout.folder)
    return [queue.layout.folder / name for name in names if name.startswith(queue.layout.staging)]


def _is_displaced(name: str, stat: Stat, now: Stat, line: Line) -> bool:
    """Whether a staging name holds what the swap of `line` took out of the queue's place."""
    if now.ino == stat.ino or stat.mark == line.queue:
        return False
    return stat.mark == line.base or name in (line.staged, line.staged + KEPT)


def _was_written_late(queue: LockedQueue) -> bool:
    """Whether the generation before changed after it was replaced: an in-place writer had it open."""
    line = queue.tip.line
    if line is None or line.base is None or line.base == line.queue:
        return False
    found = queue.disk.stat(queue.layout.prev)
    return found is not None and found.ino == line.base[0] and found.mark != line.base


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
