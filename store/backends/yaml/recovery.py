"""What the next lock holder does first: finish or undo what a dead one began, and heal what others lost.

`inspect` finds out how things are, `plan_of` says what to do, and here it is done, in an order that matters, because
each step may be the last one before the next crash:

1. What a transaction that was cut short appended to archives is cut off: a copy that is about to go must not count.
2. What other programs lost is healed, the transaction finished or undone, and what they wrote at the very moment
   of our swap merged: all of it as one line of the ledger, so that no crash in between forgets a part.
"""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.archives import HEADER, closed_ids, unclosed
from team_console.store.backends.yaml.audit_log import Line, Record, Tip
from team_console.store.backends.yaml.commit import (
    KEPT,
    LockedTeam,
    clear_file,
    inbox_line,
    keep_as_previous,
    move_aside,
)
from team_console.store.backends.yaml.disk import LARGEST_FILE, Stat, cut, set_aside
from team_console.store.backends.yaml.healing import (
    SYSTEM,
    ExpectedQueue,
    Held,
    contribution,
    is_other,
    partial_writes,
    reconcile,
    torn_notice,
    understood,
)
from team_console.store.backends.yaml.integrity import was_written
from team_console.store.backends.yaml.lock import Released
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue_edit import (
    Places,
    apply,
    archive_entry,
    in_sequence,
    messages_named,
    piece_name,
)
from team_console.store.backends.yaml.queue_file import Generation, load
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.contract.team import AUDIT_LOST
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted

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
    # guard: recorded-commit-finished
    if found.left is None and not found.has_arrived and is_cut_short(line, found.queue, found.prev):
        # guard: dead-receiver-undone
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
    if any(text.places(str(record.get("message_id"))) for record in line.writes):
        return True
    places = Places(text)
    for patch in line.changes:
        here = [text.entries[place].message for place in places.of(patch.handle)[:1]]
        if here and here[0] and all(here[0].record.get(key) == value for key, value in patch.keys.items()):
            return True
    return any(not places.of(handle) for handle in line.removed)


# guard: late-writer-merged
def _was_written_late(found: Found) -> bool:
    """Whether the generation before changed after it was replaced: an in-place writer had it open."""
    base, prev = found.line.base, found.prev
    if base is None or prev is None or not _has_swapped(found.line):
        return False
    return prev.ino == base[0] and prev.mark != base


# guard: displaced-queue-merged
def _has_displaced(found: Found) -> bool:
    """Whether the generation before is not the one that our last transaction was built upon (case 29)."""
    prev = found.prev
    return _has_swapped(found.line) and prev is not None and prev.mark != found.line.base and prev.kind == "file"


def _has_swapped(line: Line) -> bool:
    """Whether the transaction put another generation in the place of one that was there."""
    return line.base is not None and line.base != line.queue


# Inspection: the first thing a lock holder does. It clears away what nobody alive owns, and reads the queue.


def inspect(team: LockedTeam) -> Found | None:
    """Load the queue and tell what was found; None where no ledger is that it could differ from.

    Raises:
        TeamError: `STORE_UNREADABLE` or `STORE_FAILED`; nothing was written into the queue then.
    """
    tip = _clear_the_way(team)
    _note_loss(team, tip)
    is_ours = team.left is not None and team.left.seq == tip.seq and not tip.torn
    if tip.torn:
        tip = _set_aside_torn_line(team, tip)
    swapped = _clear(team, tip.line, _strays(team))
    queue = _with_one_name(team, load(team.disk, team.layout.queue, team.known))
    _refuse_without_account(team, queue, tip)
    team.tip, team.queue, team.agrees = tip, queue, False
    if tip.line is None:
        return None
    left = team.left if is_ours and not swapped else None
    has_arrived = swapped or team.reached == tip.seq
    return Found(tip.line, queue, team.disk.stat(team.layout.prev), left, has_arrived=has_arrived)


def _clear_the_way(team: LockedTeam) -> Tip:
    """The end of the ledger. What stands in its place and cannot be one goes aside, and it begins anew.

    So does what stands in the queue's place, where the ledger can rebuild the queue.
    """
    clear_file(team, team.layout.audit)
    try:
        tip = team.ledger.tip()
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        move_aside(team, team.layout.audit, "no ledger")
        tip = team.ledger.tip()
    if tip.line is not None:
        clear_file(team, team.layout.queue, most=LARGEST_FILE)
    return tip


# guard: partial-line-set-aside
def _set_aside_torn_line(team: LockedTeam, tip: Tip) -> Tip:
    path = team.layout.audit
    aside = set_aside(team.disk, path, tip.torn, tip.size, stamp=team.stamp())
    text = f"a record at the end was cut short; it was moved to {aside.name}"
    hint = "Nothing to do: the message it belonged to is still in the queue or was never accepted."
    team.notices.append(Problem("TORN_END", "warning", f"{path.name}, byte {tip.size}", text, hint))
    return team.ledger.tip()


def _clear(team: LockedTeam, line: Line | None, strays: Sequence[Path]) -> bool:
    """Remove staging files of dead processes; whether one of them had been exchanged with the queue: it is `.prev`."""
    swapped, now = False, team.disk.stat(team.layout.queue)
    for path in strays:
        stat = team.disk.stat(path)
        if stat is None or stat.kind == "folder":
            continue
        if line is not None and now is not None and _is_displaced(path.name, stat, now, line):
            keep_as_previous(team, path, ours=stat.mark == line.base)
            swapped = True
        else:
            team.disk.unlink(path)
    return swapped


# guard: stale-staging-removed
def _strays(team: LockedTeam) -> list[Path]:
    """Staging files; nobody alive owns them while we hold the lock."""
    names = team.disk.names(team.layout.folder)
    return [team.layout.folder / name for name in names if name.startswith(team.layout.staging)]


def _is_displaced(name: str, stat: Stat, now: Stat, line: Line) -> bool:
    """Whether a staging name holds what the swap of `line` took out of the queue's place."""
    if now.ino == stat.ino or stat.mark == line.queue:
        return False
    return stat.mark == line.base or name in (line.staged, line.staged + KEPT)


# guard: hard-links-refused
def _with_one_name(team: LockedTeam, queue: Generation) -> Generation:
    """A queue with a second name would be torn apart by a swap; only our own `.prev` may be that name, and goes."""
    stat, layout = queue.stat, team.layout
    if stat is None or stat.links < 2:
        return queue
    prev = team.disk.stat(layout.prev)
    if prev is not None and prev.ino == stat.ino:
        team.disk.unlink(layout.prev)
        stat = team.disk.stat(layout.queue)
    if stat is not None and stat.links > 1:
        raise TeamError(
            Code.STORE_FAILED,
            f"{layout.queue} has {stat.links} names (hard links), and replacing it would leave the others behind",
            "Make it a file of its own: cp it to a new file and mv that over it. Nothing was written.",
        )
    return Generation(queue.text, stat)


def _refuse_without_account(team: LockedTeam, queue: Generation, tip: Tip) -> None:
    """A missing queue is rebuilt from the ledger; where there is none, nothing is written over its remains."""
    if queue.stat is None and tip.line is None and team.disk.stat(team.layout.prev) is not None:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{team.layout.queue} is gone and there is no ledger to rebuild it from",
            f"Restore it: cp {team.layout.prev.name} {team.layout.queue.name}",
        )


def _note_loss(team: LockedTeam, tip: Tip) -> None:
    """Know what the ledger lost: else the first write would make it forgotten, and with it which settings and keys were
    known.
    """
    seq = team.left.seq if team.left is not None else 0
    if team.lost is not None or (tip.seq >= seq and (tip.seq or not was_written(team.disk, team.layout))):
        return
    name = team.layout.audit.name
    what = f"line {seq} was written" if seq > tip.seq else "others were written"
    text = f"{name} ended at line {tip.seq}, and {what}: what it said is lost, and it begins anew"
    hint = "Keep a copy of it; archives were not checked against it."
    team.notices.append(Problem(AUDIT_LOST, "warning", name, text, hint))
    team.lost = tip.seq, seq


def recover(team: LockedTeam, *, thorough: bool) -> Line | None:
    """Clear away what was left and load the queue; which line makes all agree, None when it does.

    Args:
        thorough: Whether pieces that were torn long ago are held against all of the ledger, too, and not only new ones.

    Raises:
        TeamError: `STORE_UNREADABLE`; nothing was written then.
    """
    found = inspect(team)
    plan = plan_of(found) if found is not None else None
    remedy = _carry_out(team, found, plan) if found is not None and plan is not None else None
    # A program that does not lock may have torn the copy of a message that left the queue long ago.
    if thorough or (plan is not None and plan.heals):
        going = remedy.torn if remedy is not None else ()
        remedy = in_sequence(_old_pieces(team, team.queue.text, going), remedy)
    return remedy


def _carry_out(team: LockedTeam, found: Found, plan: Plan) -> Line | None:
    line, text, account = found.line, found.queue.text, None
    if plan.heals:
        trusted = found.left.queue if found.left else None
        account = ExpectedQueue(team.disk, team.layout, team.known, line, trusted=trusted, without=plan.is_cut_short)
    held = account.expected() if account is not None else {}
    if plan.is_cut_short:
        _cut_archives(team, line, text, held)
    healed = None
    if account is not None:
        healed = _healing(team, account, held)
        line = _without_others(line, held, text)
    match plan.ending:
        case Ending.UNDO:
            return in_sequence(healed, _undoing(team, line))
        case Ending.COMPLETE:
            return in_sequence(healed, _completion(team, line))
        case Ending.MERGE:
            return in_sequence(healed, _merging(team, text, healed))
    return healed


def _merging(team: LockedTeam, text: QueueText, healed: Line | None) -> Line | None:
    """What the generation that our swap displaced has to give to the queue as it will be after `healed`."""
    try:
        theirs = load(team.disk, team.layout.prev, None).text
    except TeamError as error:
        _keep_unreadable(team, error)
        return None
    after = apply(text, healed) if healed is not None else text
    merging = contribution(theirs, after, archived=team.archives.keeps)
    team.notices.extend(merging.problems)
    return merging.line(merged=True)


# guard: rolled-back-status-healed
def _healing(team: LockedTeam, account: ExpectedQueue, held: Held) -> Line | None:
    """What a program that does not lock lost or added since."""
    vanished = team.queue.stat is None
    archived = (lambda _: False) if vanished else team.archives.keeps
    healing = reconcile(held, team.queue.text, archived=archived, taken_out=account.was_taken_out)
    if vanished:
        text = f"the queue was gone; put back from the ledger: {counted(len(healing.adds), 'message')}"
        healing.problems = [Problem("REBUILT", "warning", team.layout.queue.name, text)]
    team.notices.extend(healing.problems)
    return healing.line()


def _without_others(line: Line, held: Held, text: QueueText) -> Line:
    """`line` without what it does to ids that stand for messages of somebody else by now."""
    ids = {patch.handle[0] for patch in line.changes} | {message_id for message_id, _ in line.removed}
    taken: dict[str, Message] = {}
    for message_id in ids & held.keys():
        here = messages_named(text, message_id)
        if here and all(is_other(message, held[message_id][0]) for message in here):
            taken[message_id] = held[message_id][0]
    if not taken:
        return line
    ours = taken | {key: patch.on(taken[key]) for patch in line.changes if (key := patch.handle[0]) in taken}
    return replace(
        line,
        changes=tuple(patch for patch in line.changes if patch.handle[0] not in taken),
        removed=tuple(handle for handle in line.removed if handle[0] not in taken),
        archived=tuple(
            (agent, key, dict(ours[key].record) if record is None and key in ours else record)
            for agent, key, record in line.archived
        ),
    )


def _old_pieces(team: LockedTeam, text: QueueText, going: Collection[str]) -> Line | None:
    """What takes out torn pieces of messages that the ledger has, also those of an earlier session; some go already."""
    damaged = (entry.raw for entry in text.entries if entry.message is None)
    pieces = [raw for raw in damaged if piece_name(raw) not in going]
    lines = team.ledger.lines() if pieces else iter(())
    records = (record for line in lines for record in (*line.writes, *line.noted))
    torn = partial_writes(pieces, understood(records))
    if not torn:
        return None
    team.notices.append(torn_notice(len(torn)))
    return Line(SYSTEM, "heal", {"torn": len(torn)}, torn=tuple(map(piece_name, torn)))


def _undoing(team: LockedTeam, line: Line) -> Line:
    """Takes back a receive whose reader died: its messages stay pending and go to somebody who lives."""
    text = f"{line.action} by {line.actor} was cut short before it was finished; its messages are pending again"
    team.notices.append(Problem("UNDONE", "notice", f"audit line {line.seq}", text))
    ids = [patch.handle[0] for patch in line.changes]
    return Line(SYSTEM, "undo", {"undone": line.seq, "ids": ids}, void=line.seq)


def _completion(team: LockedTeam, line: Line) -> Line:
    """What is left to do of a committed transaction whose maker died."""
    text = f"{line.action} by {line.actor} was on record but not finished; it was finished"
    team.notices.append(Problem("COMPLETED", "notice", f"audit line {line.seq}", text))
    pushed = tuple(push for push in line.pushed if not _was_pushed(team, line, *push))
    facts = {"completed": line.seq, "action": line.action}
    return replace(line, action="heal", facts=facts, also=(), noted=(), void=0, pushed=pushed)


# guard: archives-cut-in-recovery
def _cut_archives(team: LockedTeam, line: Line, text: QueueText, held: Held) -> None:
    """Take back what the transaction of `line` put at the ends of archives, whole or torn, where nothing else is."""
    for path, size in ((team.layout.folder / name, size) for name, size in line.sizes.items()):
        found = team.disk.stat(path)
        if path.parent != team.layout.archives or found is None or found.size <= size:
            continue
        if _is_ours(team.disk.read(path, size)[0], line, text, held):
            cut(team.disk, path, size)
        else:
            team.notices.append(_mixed_archive(path))
    team.archives.forget()


def _is_ours(end: bytes, line: Line, text: QueueText, held: Held) -> bool:
    """Whether the end of an archive is what `line` appends, or a beginning of that; the queue may have lost it."""
    ours = {message_id for _, message_id, _ in line.archived}
    if not set(closed_ids(end)) <= ours:
        return False
    rest = unclosed(end).removeprefix(HEADER).strip(b"\0\n")
    with suppress(TextError):
        text = apply(text, line)
    known = (archive_entry(text, message_id, record) for _, message_id, record in line.archived)
    messages = [entry[0] for entry in known if entry is not None]
    messages += [patch.on(old) for patch in line.changes for old in held.get(patch.handle[0], ())]
    return HEADER.startswith(rest) or bool(partial_writes([rest], messages))


def _was_pushed(team: LockedTeam, line: Line, agent: str, record: Record) -> bool:
    """Whether the inbox file has the message; a torn piece of it is cut off."""
    path = team.layout.inbox(team.disk, agent)
    size = next((size for name, size in line.sizes.items() if team.layout.folder / name == path), 0)
    found = team.disk.stat(path)
    if found is None or found.size <= size:
        return False
    rest = team.disk.read(path, size)[0]
    if inbox_line(record) in rest:
        return True
    if not rest.endswith(b"\n"):
        cut(team.disk, path, size + rest.rfind(b"\n") + 1)
    return False


def _mixed_archive(path: Path) -> Problem:
    text = f"{path.name} was also written by another program; copies of a record may be there twice"
    return Problem("FOREIGN_ARCHIVE", "notice", path.name, text)


def _keep_unreadable(team: LockedTeam, error: TeamError) -> None:
    aside = team.layout.queue.with_name(f"{team.layout.queue.name}.torn-{team.stamp()}")
    team.disk.rename(team.layout.prev, aside)
    text = f"a program that does not lock wrote something unreadable into the queue; it was kept as {aside.name}"
    team.notices.append(Problem("FOREIGN_WRITE", "warning", team.layout.queue.name, text, error.message))
