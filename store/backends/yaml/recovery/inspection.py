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

from msgspec.structs import replace
from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.files import set_aside
from team_console.store.backends.yaml.reading.integrity import was_written
from team_console.store.backends.yaml.recovery.ledger import Line, Tip
from team_console.store.backends.yaml.recovery.plan import Found
from team_console.store.backends.yaml.writing.commit import KEPT, keep_as_previous
from team_console.store.backends.yaml.writing.generation import Generation, load
from team_console.store.backends.yaml.writing.locked_team import LockedTeam
from team_console.store.backends.yaml.writing.obstacles import clear_file, clear_hollow, move_aside
from team_console.store.backends.yaml.writing.standing import Standing
from team_console.store.contract.team import AUDIT_LOST
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem


def inspect(team: LockedTeam, before: Standing) -> tuple[Standing, Found | None]:
    """Load the queue and tell how things stand and what was found; None where no ledger is that it could differ from.

    Raises:
        TeamError: `STORE_UNREADABLE` or `STORE_FAILED`; nothing was written into the queue then.
    """
    left, tip = before.left, _clear_the_way(team)
    before = _with_loss(team, before, tip)
    is_ours = left is not None and left.seq == tip.seq and not tip.torn
    if tip.torn:
        tip = _set_aside_torn_line(team, tip)
    swapped = _clear(team, tip.line, _strays(team))
    generation = _with_one_name(team, load(team.disk, team.layout.queue, before.known))
    _refuse_without_account(team, generation, tip)
    now = before.found(tip, generation)
    if tip.line is None:
        return now, None
    prev, is_reached = team.disk.stat(team.layout.prev), before.reached == tip.seq
    left = left if is_ours and not swapped else None
    return now, Found(tip.line, generation, prev, left, has_arrived=swapped or is_reached)


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
        clear_file(team, team.layout.queue)
        clear_hollow(team, team.layout.queue)
    return tip


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


def _strays(team: LockedTeam) -> list[Path]:
    """Staging files; nobody alive owns them while we hold the lock."""
    names = team.disk.names(team.layout.folder)
    return [team.layout.folder / name for name in names if name.startswith(team.layout.staging)]


def _is_displaced(name: str, stat: Stat, now: Stat, line: Line) -> bool:
    """Whether a staging name holds what the swap of `line` took out of the queue's place."""
    if now.ino == stat.ino or stat.mark == line.queue:
        return False
    return stat.mark == line.base or name in (line.staged, line.staged + KEPT)


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


def _with_loss(team: LockedTeam, before: Standing, tip: Tip) -> Standing:
    """How things stand, with what the ledger lost: else the first write would make it forgotten, and with it which
    settings and keys were known.
    """
    seq = before.left.seq if before.left is not None else 0
    if before.lost is not None or (tip.seq >= seq and (tip.seq or not was_written(team.disk, team.layout))):
        return before
    name = team.layout.audit.name
    what = f"line {seq} was written" if seq > tip.seq else "others were written"
    text = f"{name} ended at line {tip.seq}, and {what}: what it said is lost, and it begins anew"
    hint = "Keep a copy of it; archives were not checked against it."
    team.notices.append(Problem(AUDIT_LOST, "warning", name, text, hint))
    return replace(before, lost=(tip.seq, seq))
