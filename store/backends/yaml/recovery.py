"""Recover a team as the next lock holder: finish or undo what a dead one began, and heal what others lost.

`recover` is the whole flow, from top to bottom, in an order that matters, because each step may be the last one before
the next crash. It clears away and cuts off; what the queue needs it gives back as one line, for `commit.commit_line`.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.yaml.archives import HEADER, closed_entry, closed_ids, outside_closed_entries
from team_console.store.backends.yaml.audit_trail import TrailTip, TransactionLine
from team_console.store.backends.yaml.commit import (
    OLD_SUFFIX,
    LockedTeam,
    apply_line,
    archive_entry,
    clear_file,
    inbox_line,
    keep_as_previous,
    merge_lines,
    move_aside,
    remove_files,
)
from team_console.store.backends.yaml.disk import LARGEST_FILE, Disk, Stat, cut, size_of, write_new
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.healing import (
    SYSTEM,
    ExpectedQueue,
    MessagesById,
    foreign_additions,
    is_other,
    reconcile,
)
from team_console.store.backends.yaml.layout import Layout, archive_part, names_in, refuse_way_out
from team_console.store.backends.yaml.lock import ReleaseMark
from team_console.store.backends.yaml.queue import QueueFile, QueueText, load_queue
from team_console.store.contract.snapshot import trail_loss
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message
from team_console.store.model.safe import counted


def recover(team: LockedTeam) -> TransactionLine | None:
    """Clear away what was left and load the queue; returns the line that makes all agree, None when they do.

    Raises:
        TeamError: `STORE_UNREADABLE` or `STORE_FAILED`; nothing was written into the queue then.
    """
    tip = _clear_the_way(team)
    _note_loss(team, tip)
    # How the lock was released after the last line; None when its holder died.
    released = team.released if team.released and team.released.seq == tip.seq and not tip.torn else None
    if tip.torn:
        tip = _set_aside_torn_line(team, tip)
    swapped = _clear_staging(team, tip.line)
    if swapped:  # a holder died behind its swap, so that how the lock was left before says nothing
        released = None
    if released is None:
        with suppress(OSError):
            refuse_way_out(team.disk, team.layout, team.layout.archives)
            # guard: stale-staging-of-archives-removed
            remove_staging(team, team.layout.archives)
    queue = _with_one_name(team, load_queue(team.disk, team.layout.queue, team.agreed_queue, released=released))
    _refuse_without_account(team, queue, tip)
    team.tip, team.queue, team.agrees = tip, queue, False
    remedy, line = None, tip.line
    prev = team.disk.stat(team.layout.prev)
    if line is not None and not _is_as_released(line, queue, prev, released):
        # The line is there and the queue is as before it: unless this very process brought it there (`own_seq`).
        # guard: recorded-commit-finished
        is_cut = released is None and not swapped and team.own_seq != tip.seq and is_cut_short(line, queue, prev)
        account = None
        # Somebody else wrote the queue, unless it is as the last transaction found it, or made it.
        if queue.mark != (line.base if is_cut else line.queue):
            trusted = released.queue if released is not None else None
            account = ExpectedQueue(
                team.disk, team.layout, team.agreed_queue, line, trusted=trusted, is_before_line=is_cut
            )
        expected = account.expected() if account is not None else {}
        # Before the healing: a copy that is about to go must not count as a message that is safe in an archive.
        if is_cut:
            _cut_archives(team, line, queue.text, expected)
        if account is not None:
            remedy = _healing_line(team, account, expected)
        # All that follows becomes one line with the healing, so that no crash in between forgets a part.
        if is_cut:
            line = _without_others(line, expected, queue.text)
            remedy = merge_lines(remedy, _finishing_line(team, line))
        elif _has_displaced(line, prev):
            remedy = merge_lines(remedy, _merging_line(team, queue.text, remedy))
    return merge_lines(_unique_ids_line(team), remedy)


def is_cut_short(line: TransactionLine, queue: QueueFile, prev: Stat | None) -> bool:
    """Return whether the transaction of the last `line`, whose maker may have died, never reached the queue."""
    if queue.mark == line.queue:
        return False
    if queue.mark == line.base:
        return True
    if prev is not None and line.base is not None and prev.ino == line.base[0]:
        return False  # it was displaced by our swap; who had it open may have written into it since
    # guard: swap-known-by-previous
    if _is_previous_replaced(line, prev):
        return False
    return not _is_visible(line, queue.text)


def _is_previous_replaced(line: TransactionLine, prev: Stat | None) -> bool:
    """Return whether `.prev` is another file than before the swap of `line`, which so is known to have happened.

    A copy of the whole folder has other inodes, but the sizes and times of the files that were copied.
    """
    before = line.previous
    return before is not None and prev is not None and prev.ino != before[0] and prev.mark[1:] != before[1:]


def _is_visible(line: TransactionLine, text: QueueText) -> bool:
    """Return whether anything the transaction of `line` wanted can be seen in `text`."""
    if any(text.message(str(record.get("message_id"))) is not None for record in line.writes):
        return True
    for patch in line.changes:
        here = text.message(patch.message_id)
        if here is not None and all(here.record.get(key) == value for key, value in patch.keys.items()):
            return True
    return any(text.message(message_id) is None for message_id in line.removed)


def _is_as_released(line: TransactionLine, queue: QueueFile, prev: Stat | None, released: ReleaseMark | None) -> bool:
    """Return whether the queue is as the last holder of the lock left it, whoever wrote it then."""
    is_same = released is not None and queue.mark is not None and queue.mark == released.queue
    return is_same and not _was_written_late(line, prev)


# guard: displaced-queue-merged
def _has_displaced(line: TransactionLine, prev: Stat | None) -> bool:
    """Return whether our last swap took another generation out of the queue's place than it was built upon (case
    29).
    """
    is_swapped = line.base is not None and line.base != line.queue
    return is_swapped and prev is not None and prev.kind == "file" and prev.mark != line.base


# guard: late-writer-merged
def _was_written_late(line: TransactionLine, prev: Stat | None) -> bool:
    """Return whether the generation before changed after it was replaced: an in-place writer had it open."""
    return line.base is not None and prev is not None and prev.ino == line.base[0] and _has_displaced(line, prev)


# Before anything is judged: what nobody alive owns is cleared away, and what the trail lost is noted.


def _clear_the_way(team: LockedTeam) -> TrailTip:
    """Return the end of the trail. What stands in its place and cannot be one goes aside, and it begins anew.

    So does what stands in the queue's place, where the trail can rebuild the queue.
    """
    clear_file(team, team.layout.audit)
    try:
        tip = team.trail.tip()
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        move_aside(team, team.layout.audit, "no audit trail")
        tip = team.trail.tip()
    if tip.line is not None:
        clear_file(team, team.layout.queue, most=LARGEST_FILE)
    return tip


# guard: partial-line-set-aside
def _set_aside_torn_line(team: LockedTeam, tip: TrailTip) -> TrailTip:
    """Move what is no whole line at the end of the trail to a file beside it; durable there before it is cut off."""
    path = team.layout.audit
    aside = path.with_name(f"{path.name}.torn-{team.stamp()}")
    if team.disk.stat(aside) is None:
        write_new(team.disk, aside, tip.torn)
        team.disk.sync_folder(aside.parent)
    cut(team.disk, path, tip.size)
    text = f"a record at the end was cut short; it was moved to {aside.name}"
    hint = "Nothing to do: the message it belonged to is still in the queue or was never accepted."
    team.notices.append(Problem("TORN_END", "warning", f"{path.name}, byte {tip.size}", text, hint))
    return replace(tip, torn=b"")


def remove_staging(team: LockedTeam, folder: Path) -> None:
    """Remove the staging files of a writer that died in another folder than the queue's; nobody else has the lock."""
    if folder != team.layout.folder:
        names = [name for name in team.disk.names(folder) if name.startswith(team.layout.staging)]
        remove_files(team.disk, *(folder / name for name in names))


def _clear_staging(team: LockedTeam, line: TransactionLine | None) -> bool:
    """Remove staging files, which nobody alive owns; one that was exchanged with the queue becomes `.prev`.

    Returns:
        Whether there was one of those.
    """
    swapped, now = False, team.disk.stat(team.layout.queue)
    # guard: stale-staging-removed
    names = [name for name in team.disk.names(team.layout.folder) if name.startswith(team.layout.staging)]
    for name in names:
        path = team.layout.folder / name
        stat = team.disk.stat(path)
        if stat is None or stat.kind == "folder":
            continue
        if line is not None and _is_displaced(name, stat, now, line):
            keep_as_previous(team, path, ours=stat.mark == line.base)
            swapped = True
        else:
            team.disk.unlink(path)
    return swapped


# guard: staged-generation-kept
def _is_displaced(name: str, stat: Stat, now: Stat | None, line: TransactionLine) -> bool:
    """Return whether a staging name holds what the swap of `line` took out of the queue's place, which may be empty
    now.
    """
    if (now is not None and now.ino == stat.ino) or stat.mark == line.queue:
        return False
    return stat.mark == line.base or name in (line.staged, line.staged + OLD_SUFFIX)


# guard: hard-links-refused
def _with_one_name(team: LockedTeam, queue: QueueFile) -> QueueFile:
    """Return the queue as a file with one name: a swap would leave a second one behind.

    Where our own `.prev` is that name, it is removed.

    Raises:
        TeamError: `STORE_FAILED` for any other second name.
    """
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
    return QueueFile(queue.text, stat)


def _refuse_without_account(team: LockedTeam, queue: QueueFile, tip: TrailTip) -> None:
    """Refuse to write over the remains of a missing queue where there is no trail to rebuild it from."""
    if queue.stat is None and tip.line is None and team.disk.stat(team.layout.prev) is not None:
        raise TeamError(
            Code.STORE_UNREADABLE,
            f"{team.layout.queue} is gone and there is no audit trail to rebuild it from",
            f"Restore it: cp {team.layout.prev.name} {team.layout.queue.name}",
        )


def _note_loss(team: LockedTeam, tip: TrailTip) -> None:
    """Note what the trail lost: the first write would make it forgotten, and which settings and keys were known."""
    problem = audit_problem(team.disk, team.layout, team.released, tip.seq) if team.lost_lines is None else None
    if problem is not None:
        team.notices.append(replace(problem, severity="warning", hint="It begins anew; keep a copy of what is left."))
        team.lost_lines = tip.seq, team.released.seq if team.released is not None else 0


_CLOSING = 1 << 10
"""Bytes at the end of an archive among which its last closing line is."""


def audit_problem(disk: Disk, layout: Layout, released: ReleaseMark | None, last: int) -> Problem | None:
    """Return what the trail lacks by the mark that the last writer left in the lock file.

    Args:
        released: Read before the trail, so that that can only be ahead of it.
        last: Number of the trail's last line, 0 for none.

    Raises:
        OSError: What shows that there was a trail cannot be read.
    """
    if last >= (released.seq if released is not None else 0) and (last or not _was_written(disk, layout)):
        return None
    found, what = disk.stat(layout.audit), ""
    if found is None:
        what = "is gone"
    elif last == 0 and found.size:
        what = "holds no readable line"
    return trail_loss(layout.audit.name, last, released.seq if released else "?", what)


def _was_written(disk: Disk, layout: Layout) -> bool:
    """Return whether something beside the trail shows that there was one: each of our writes leaves a line first.

    Archives as other programs keep them, without closing lines, show nothing; a verdict in the queue does, because only
    our writes name what it was given on.
    """
    if disk.stat(layout.prev) is not None:
        return True
    from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST  # with all that judges requests: 8 ms

    queue = disk.stat(layout.queue)
    # A queue beyond the limit is told of as such; looking through it would take the console's time at each reading.
    is_looked_at = queue is not None and queue.kind == "file" and queue.size <= LARGEST_FILE
    if is_looked_at and disk.find(layout.queue, REQUEST_DIGEST.encode()) >= 0:
        return True
    return any(
        _ends_closed(disk, layout.archives / name)
        for name in names_in(disk, layout, layout.archives)
        if archive_part(name)
    )


def _ends_closed(disk: Disk, path: Path) -> bool:
    """Return whether the end of an archive has a closing line, as each of ours has."""
    found = disk.stat(path)
    if found is None or found.kind != "file":
        return False
    return bool(closed_ids(disk.read(path, max(0, found.size - _CLOSING))[0]))


# What a line has to do so that all agree.


def _unique_ids_line(team: LockedTeam) -> TransactionLine | None:
    """Return the line that gives each reused id a name of its own; None where no id was used twice."""
    text = team.queue.text
    if not (text.merged or text.renamed):
        return None
    for message_id in text.merged:
        what = f"copies of message {message_id} were taken out"
        team.notices.append(Problem("MERGED_COPIES", "notice", message_id, what))
    for old, new in text.renamed:
        what = f"another message has the id {old}; the later one is {new} now"
        team.notices.append(Problem("RENAMED", "notice", new, what))
    renamed = [message for _, new in text.renamed if (message := text.message(new)) is not None]
    facts = {"merged": list(text.merged), "renamed": [list(pair) for pair in text.renamed]}
    return TransactionLine(
        SYSTEM, "heal", facts, noted=tuple(dict(message.record) for message in renamed), merged=text.merged
    )


def _merging_line(team: LockedTeam, text: QueueText, healed: TransactionLine | None) -> TransactionLine | None:
    """Return the line that adds what our exchange displaced to the queue as it will be after `healed`."""
    try:
        theirs = load_queue(team.disk, team.layout.prev, None).text
    except TeamError as error:
        aside = team.layout.queue.with_name(f"{team.layout.queue.name}.torn-{team.stamp()}")
        team.disk.rename(team.layout.prev, aside)
        said = f"a program that does not lock wrote something unreadable into the queue; it was kept as {aside.name}"
        team.notices.append(Problem("FOREIGN_WRITE", "warning", team.layout.queue.name, said, error.message))
        return None
    after = apply_line(text, healed) if healed is not None else text
    merging = foreign_additions(theirs, after, archived=team.archives.has_copy_of)
    team.notices.extend(merging.problems)
    return merging.line(merged=True)


# guard: rolled-back-status-healed
def _healing_line(team: LockedTeam, account: ExpectedQueue, expected: MessagesById) -> TransactionLine | None:
    """Return the line for what a program without the lock lost or added; None for nothing."""
    vanished = team.queue.stat is None
    archived = (lambda _: False) if vanished else team.archives.has_copy_of
    healing = reconcile(expected, team.queue.text, archived=archived, taken_out=account.was_taken_out)
    if vanished:
        text = f"the queue was gone; put back from the audit trail: {counted(len(healing.adds), 'message')}"
        healing.problems = [Problem("REBUILT", "warning", team.layout.queue.name, text)]
    team.notices.extend(healing.problems)
    return healing.line()


def _without_others(line: TransactionLine, expected: MessagesById, text: QueueText) -> TransactionLine:
    """Return `line` without what it does to ids that stand for messages of somebody else by now."""
    ids = {patch.message_id for patch in line.changes}.union(line.removed)
    taken: dict[str, Message] = {}
    for message_id in ids & expected.keys():
        here = text.message(message_id)
        if here is not None and is_other(here, expected[message_id]):
            taken[message_id] = expected[message_id]
    if not taken:
        return line
    ours = taken | {key: patch.applied_to(taken[key]) for patch in line.changes if (key := patch.message_id) in taken}
    return replace(
        line,
        changes=tuple(patch for patch in line.changes if patch.message_id not in taken),
        removed=tuple(message_id for message_id in line.removed if message_id not in taken),
        archived=tuple(
            (agent, key, dict(ours[key].record) if record is None and key in ours else record)
            for agent, key, record in line.archived
        ),
    )


def _finishing_line(team: LockedTeam, line: TransactionLine) -> TransactionLine:
    """Return the line that completes a committed transaction whose process died."""
    text = f"{line.action} by {line.actor} was on record but not finished; it was finished"
    team.notices.append(Problem("COMPLETED", "notice", f"audit line {line.seq}", text))
    pushed = tuple(push for push in line.pushed if not _was_pushed(team, line, *push))
    facts = {"completed": line.seq, "action": line.action}
    return replace(line, action="heal", facts=facts, also=(), noted=(), void=0, pushed=pushed)


# guard: archives-cut-in-recovery
def _cut_archives(team: LockedTeam, line: TransactionLine, text: QueueText, expected: MessagesById) -> None:
    """Take back what the transaction of `line` put at the ends of archives, whole or torn, where nothing else is."""
    for path, size in ((team.layout.folder / name, size) for name, size in line.sizes.items()):
        if path.parent != team.layout.archives or size_of(team.disk, path) <= size:
            continue
        if _is_append_of(team.disk.read(path, size)[0], line, text, expected):
            cut(team.disk, path, size)
        else:
            said = f"{path.name} was also written by another program; copies of a record may be there twice"
            team.notices.append(Problem("FOREIGN_ARCHIVE", "notice", path.name, said))
    team.archives.forget()


def _is_append_of(end: bytes, line: TransactionLine, text: QueueText, expected: MessagesById) -> bool:
    """Return whether the end of an archive is what `line` appends, or a beginning of that; the queue may have lost
    it.
    """
    ours = {message_id for _, message_id, _ in line.archived}
    if not set(closed_ids(end)) <= ours:
        return False
    rest = outside_closed_entries(end).removeprefix(HEADER).strip(b"\0\n")
    with suppress(TextError):
        text = apply_line(text, line)
    known = (archive_entry(text, message_id, record) for _, message_id, record in line.archived)
    copies = [entry for entry in known if entry is not None]
    changes = (patch for patch in line.changes if patch.message_id in expected)
    copies += [(patch.applied_to(expected[patch.message_id]), b"") for patch in changes]
    for copy in copies:
        with suppress(TextError):
            if closed_entry(*copy).startswith(rest):
                return True
    return HEADER.startswith(rest)


def _was_pushed(team: LockedTeam, line: TransactionLine, agent: str, record: FieldDict) -> bool:
    """Return whether the inbox file has the message; a torn piece of it is cut off."""
    path = team.layout.inbox(team.disk, agent)
    size = next((size for name, size in line.sizes.items() if team.layout.folder / name == path), 0)
    if size_of(team.disk, path) <= size:
        return False
    rest = team.disk.read(path, size)[0]
    if inbox_line(record) in rest:
        return True
    if not rest.endswith(b"\n"):
        cut(team.disk, path, size + rest.rfind(b"\n") + 1)
    return False
