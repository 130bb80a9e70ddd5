"""What the next lock holder does first: finish or undo what a dead one began, and heal what others lost.

`inspect` finds out how things are, `plan_of` says what to do, and here it is done, in an order that matters, because
each step may be the last one before the next crash:

1. What a transaction that was cut short appended to archives is cut off: a copy that is about to go must not count.
2. What other programs lost is healed, the transaction finished or undone, and what they wrote at the very moment
   of our swap merged: all of it as one line of the ledger, so that no crash in between forgets a part.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.yaml.archive_text import closed_ids
from team_console.store.backends.yaml.files import cut
from team_console.store.backends.yaml.recovery.expected_queue import ExpectedQueue
from team_console.store.backends.yaml.recovery.healing import (
    SYSTEM,
    contribution,
    reconcile,
    torn_notice,
    understood,
)
from team_console.store.backends.yaml.recovery.inspection import inspect
from team_console.store.backends.yaml.recovery.ledger import Line, Record
from team_console.store.backends.yaml.recovery.plan import Ending, Found, Plan, plan_of
from team_console.store.backends.yaml.recovery.torn_pieces import remnants
from team_console.store.backends.yaml.writing.appends import inbox_line
from team_console.store.backends.yaml.writing.commit import LockedQueue
from team_console.store.backends.yaml.writing.generation import load
from team_console.store.backends.yaml.writing.queue_edit import apply, in_sequence, piece_name
from team_console.store.model.errors import TeamError
from team_console.store.model.problem import Problem
from team_console.store.model.words import counted


def recover(queue: LockedQueue, *, thorough: bool = False) -> Line | None:
    """Clear away what was left, load the queue, and say which transaction makes everything agree; None when it does.

    Args:
        thorough: Whether pieces that were torn long ago are held against all of the ledger, too, and not only new ones.

    Raises:
        TeamError: `STORE_UNREADABLE`; nothing was written then.
    """
    found = inspect(queue)
    plan = plan_of(found) if found is not None else None
    remedy = _carry_out(queue, found, plan) if found is not None and plan is not None else None
    # A program that does not lock may have torn the copy of a message that left the queue long ago.
    if not thorough and (plan is None or not plan.heals):
        return remedy
    return in_sequence(_old_pieces(queue, frozenset(remedy.torn if remedy is not None else ())), remedy)


def _carry_out(queue: LockedQueue, found: Found, plan: Plan) -> Line | None:
    line = found.line
    if plan.is_cut_short:
        _cut_archives(queue, line)
    healed = _healing(queue, found, plan) if plan.heals else None
    if plan.ending is Ending.UNDO:
        return _undo(queue, line, healed)
    if plan.ending is Ending.COMPLETE:
        return in_sequence(healed, _completion(queue, line))
    return in_sequence(healed, _merging(queue, healed)) if plan.ending is Ending.MERGE else healed


def _merging(queue: LockedQueue, healed: Line | None) -> Line | None:
    """What the generation that our swap displaced has to give to the queue as it will be after `healed`."""
    try:
        theirs = load(queue.disk, queue.layout.prev, None).text
    except TeamError as error:
        _keep_unreadable(queue, error)
        return None
    after = apply(queue.generation.text, healed) if healed is not None else queue.generation.text
    merging = contribution(theirs, after, archived=queue.archives.keeps)
    queue.notices += merging.problems
    return merging.line(merged=True)


def _healing(queue: LockedQueue, found: Found, plan: Plan) -> Line | None:
    """What a program that does not lock lost or added since."""
    trusted = found.left.queue if found.left else None
    account = ExpectedQueue(
        queue.disk, queue.layout, queue.known, found.line, trusted=trusted, without=plan.is_cut_short
    )
    vanished = queue.generation.stat is None
    archived = (lambda _: False) if vanished else queue.archives.keeps
    healing = reconcile(account.expected(), queue.generation.text, archived=archived, taken_out=account.was_taken_out)
    if vanished:
        text = f"the queue was gone; put back from the ledger: {counted(len(healing.adds), 'message')}"
        healing.problems = [Problem("REBUILT", "warning", queue.layout.queue.name, text)]
    queue.notices += healing.problems
    return healing.line()


def _old_pieces(queue: LockedQueue, going: Collection[str]) -> Line | None:
    """What takes out torn pieces of messages that the ledger has, also those of an earlier turn; some go already."""
    damaged = (entry.raw for entry in queue.generation.text.entries if entry.message is None)
    pieces = [raw for raw in damaged if piece_name(raw) not in going]
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


def _mixed_archive(path: Path) -> Problem:
    text = f"{path.name} was also written by another program; copies of a record may be there twice"
    return Problem("FOREIGN_ARCHIVE", "notice", path.name, text)


def _keep_unreadable(queue: LockedQueue, error: TeamError) -> None:
    aside = queue.layout.queue.with_name(f"{queue.layout.queue.name}.torn-{queue.stamp()}")
    queue.disk.rename(queue.layout.prev, aside)
    text = f"a program that does not lock wrote something unreadable into the queue; it was kept as {aside.name}"
    queue.notices.append(Problem("FOREIGN_WRITE", "warning", queue.layout.queue.name, text, error.message))
