"""What the next lock holder does first: finish or undo what a dead one began, and heal what others lost.

`inspect` finds out how things are, `plan_of` says what to do, and here it is done, in an order that matters, because
each step may be the last one before the next crash:

1. What a transaction that was cut short appended to archives is cut off: a copy that is about to go must not count.
2. What other programs lost is healed, the transaction finished or undone, and what they wrote at the very moment
   of our swap merged: all of it as one line of the ledger, so that no crash in between forgets a part.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.yaml.archive_text import HEADER, closed_ids, unclosed
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.files import cut
from team_console.store.backends.yaml.recovery.expected_queue import ExpectedQueue
from team_console.store.backends.yaml.recovery.healing import (
    SYSTEM,
    Held,
    contribution,
    is_other,
    reconcile,
    torn_notice,
    understood,
)
from team_console.store.backends.yaml.recovery.inspection import inspect
from team_console.store.backends.yaml.recovery.ledger import Line, Record
from team_console.store.backends.yaml.recovery.plan import Ending, Found, Plan, plan_of
from team_console.store.backends.yaml.recovery.torn_pieces import remnants
from team_console.store.backends.yaml.writing.appends import inbox_line
from team_console.store.backends.yaml.writing.generation import load
from team_console.store.backends.yaml.writing.locked_team import LockedTeam
from team_console.store.backends.yaml.writing.queue_edit import (
    apply,
    archive_entry,
    in_sequence,
    messages_named,
    piece_name,
)
from team_console.store.backends.yaml.writing.standing import Standing
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem
from team_console.store.model.words import counted


def recover(team: LockedTeam, before: Standing, *, thorough: bool) -> tuple[Standing, Line | None]:
    """Clear away what was left and load the queue: how things stand, and which line makes all agree; None when it does.

    Args:
        thorough: Whether pieces that were torn long ago are held against all of the ledger, too, and not only new ones.

    Raises:
        TeamError: `STORE_UNREADABLE`; nothing was written then.
    """
    now, found = inspect(team, before)
    plan = plan_of(found) if found is not None else None
    remedy = _carry_out(team, now, found, plan) if found is not None and plan is not None else None
    # A program that does not lock may have torn the copy of a message that left the queue long ago.
    if thorough or (plan is not None and plan.heals):
        going = remedy.torn if remedy is not None else ()
        remedy = in_sequence(_old_pieces(team, now.generation.text, going), remedy)
    return now, remedy


def _carry_out(team: LockedTeam, now: Standing, found: Found, plan: Plan) -> Line | None:
    line = found.line
    account = _account(team, now, found, plan) if plan.heals else None
    held = account.expected() if account is not None else {}
    if plan.is_cut_short:
        _cut_archives(team, line, now.generation.text, held)
    healed = None
    if account is not None:
        healed = _healing(team, now, account, held)
        line = _without_others(line, held, now.generation.text)
    match plan.ending:
        case Ending.UNDO:
            return in_sequence(healed, _undoing(team, line))
        case Ending.COMPLETE:
            return in_sequence(healed, _completion(team, line))
        case Ending.MERGE:
            return in_sequence(healed, _merging(team, now.generation.text, healed))
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


def _account(team: LockedTeam, now: Standing, found: Found, plan: Plan) -> ExpectedQueue:
    trusted = found.left.queue if found.left else None
    return ExpectedQueue(team.disk, team.layout, now.known, found.line, trusted=trusted, without=plan.is_cut_short)


def _healing(team: LockedTeam, now: Standing, account: ExpectedQueue, held: Held) -> Line | None:
    """What a program that does not lock lost or added since."""
    vanished = now.generation.stat is None
    archived = (lambda _: False) if vanished else team.archives.keeps
    healing = reconcile(held, now.generation.text, archived=archived, taken_out=account.was_taken_out)
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
    """What takes out torn pieces of messages that the ledger has, also those of an earlier turn; some go already."""
    damaged = (entry.raw for entry in text.entries if entry.message is None)
    pieces = [raw for raw in damaged if piece_name(raw) not in going]
    lines = (tip.line for tip, _ in team.ledger.lines() if tip.line is not None) if pieces else iter(())
    records = (record for line in lines for record in (*line.writes, *line.noted))
    torn = remnants(pieces, understood(records))
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
    with suppress(CodecError):
        text = apply(text, line)
    known = (archive_entry(text, message_id, record) for _, message_id, record in line.archived)
    messages = [entry[0] for entry in known if entry is not None]
    messages += [patch.on(old) for patch in line.changes for old in held.get(patch.handle[0], ())]
    return HEADER.startswith(rest) or bool(remnants([rest], messages))


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
