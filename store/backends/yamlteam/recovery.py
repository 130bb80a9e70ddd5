"""What the next lock holder does first: finish or undo what a dead one began, and heal what others lost."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from store.backends.yamlteam.account import Account, is_archived, is_unfinished
from store.backends.yamlteam.appends import inbox_line
from store.backends.yamlteam.archives import closed_ids, torn_problem
from store.backends.yamlteam.codec import QueueText
from store.backends.yamlteam.commit import KEPT, Store
from store.backends.yamlteam.disk import Stat
from store.backends.yamlteam.files import cut
from store.backends.yamlteam.generation import Generation, load
from store.backends.yamlteam.healing import Healing, contribution, reconcile
from store.backends.yamlteam.holder import Released
from store.backends.yamlteam.ledger import Line
from store.backends.yamlteam.work import Work, apply, both, from_line
from store.errors import Code, TeamError
from store.team import AUDIT_LOST, Problem
from store.words import counted

UNDOABLE = frozenset({"receive", "claim"})
"""Actions whose caller must live to use the result: unfinished, they are undone so that somebody else gets it."""
_SYSTEM = "system"
_NOTHING = Work(_SYSTEM, "heal")


def settle(store: Store, released: Released | None, known: Generation) -> None:
    """Bring ledger, archives and queue to agree, and load the queue.

    Args:
        released: How the last holder left the lock, None when it did not get to release it.
        known: What this process saw of the queue at the end of its last turn.

    Raises:
        TeamError: `STORE_UNREADABLE`; nothing was written then.
        Slipped: The queue was written meanwhile; call it again.
    """
    store.settled = False
    if store.agreed is not None:
        released, known = Released(store.tip.seq, store.agreed.mark), store.agreed
    store.tip = store.ledger.tip()
    if released is not None and store.tip.seq < released.seq:
        store.notices.append(_lost_ledger(store, released.seq))
    strays = _strays(store)
    left = released if released is not None and released.seq == store.tip.seq and not store.tip.torn else None
    if strays or left is None or not _is_as_left(store, left, known):
        _Settlement(store, left, known).run(strays)
    store.settled, store.agreed = True, store.generation


def _is_as_left(store: Store, left: Released, known: Generation) -> bool:
    """Load the queue; whether it is, with all beside it, as the last holder of the lock left it."""
    found = store.disk.stat(store.layout.queue)
    if found is None or found.mark != left.queue or _was_written_late(store):
        return False
    store.generation = load(store.disk, store.layout.queue, known)
    _refuse_hard_link(store)
    return store.generation.mark == left.queue


def take_over(store: Store) -> None:
    """Merge what somebody else put into the queue in the instant before our swap (case 29).

    Raises:
        Slipped: The queue was written meanwhile; settle.
    """
    store.settled = store.intruded = False
    theirs = _displaced(store)
    work = _contribution(store, theirs, store.generation.text) if theirs is not None else None
    if work is not None:
        store.commit(work)
    store.settled = not store.intruded


def _displaced(store: Store) -> QueueText | None:
    """What `.prev` holds when that is not the generation our last transaction was built upon."""
    line = store.tip.line
    prev = store.disk.stat(store.layout.prev)
    if line is None or prev is None or line.base is None or line.base == line.queue or prev.mark == line.base:
        return None
    try:
        return load(store.disk, store.layout.prev, None).text
    except TeamError as error:
        _keep_unreadable(store, error)
        return None


def _contribution(store: Store, theirs: QueueText, ours: QueueText) -> Work | None:
    healing = contribution(theirs, ours, settled=lambda one: is_archived(store, one))
    store.notices += healing.problems
    return _healing_work(healing, merged=True)


class _Settlement:
    """The slow path, taken only when something does not agree. It commits at most once before merging."""

    def __init__(self, store: Store, left: Released | None, known: Generation) -> None:
        self._store = store
        self._left = left
        self._known = known
        self._swapped = False

    def run(self, strays: list[Path]) -> None:
        """Settle everything."""
        store = self._store
        if store.tip.torn:
            self._set_aside_torn_line()
        self._clear(strays)
        store.generation = load(store.disk, store.layout.queue, self._known)
        _refuse_hard_link(store)
        self._refuse_without_account()
        work = self._with_displaced(self._work())
        if work is not None:
            store.commit(work)

    @cached_property
    def _line(self) -> Line | None:
        return self._store.tip.line

    @cached_property
    def _is_unfinished(self) -> bool:
        """Whether the maker of the last line died before its transaction reached the queue."""
        line = self._line
        if line is None or self._left or self._swapped:
            return False
        return is_unfinished(self._store, line, self._store.generation)

    def _set_aside_torn_line(self) -> None:
        store = self._store
        aside = store.ledger.set_aside(store.tip, stamp=store.stamp())
        store.notices.append(torn_problem(store.layout.audit, store.tip.size, aside))
        store.tip = store.ledger.tip()

    def _clear(self, strays: list[Path]) -> None:
        """Remove staging files of dead processes; the one that was exchanged with the queue becomes `.prev`."""
        store, line = self._store, self._line
        found = store.disk.stat(store.layout.queue)
        for path in strays:
            stat = store.disk.stat(path)
            if stat is None or stat.kind == "folder":
                continue
            if line is not None and found is not None and _is_displaced(path.name, stat, found, line):
                store.disk.rename(path, store.layout.prev)
                self._swapped = True
            else:
                store.disk.unlink(path)

    def _refuse_without_account(self) -> None:
        """A missing queue is rebuilt from the ledger; where there is none, nothing is written over its remains."""
        store = self._store
        if store.generation.stat is None and self._line is None and store.disk.stat(store.layout.prev) is not None:
            raise TeamError(
                Code.STORE_UNREADABLE,
                f"{store.layout.queue} is gone and there is no ledger to rebuild it from",
                f"Restore it: cp {store.layout.prev.name} {store.layout.queue.name}",
            )

    def _work(self) -> Work | None:
        """Everything there is to do to the queue, as one transaction; None when it is right as it is."""
        line = self._line
        if line is None:
            return None
        if not self._is_unfinished:
            return self._healing(line)
        # First: a copy that is about to go must not count as an archived message.
        self._cut_archives(line)
        healed = self._healing(line)
        if line.actions & UNDOABLE:
            return self._undo(line, healed)
        return both(healed or _NOTHING, self._completion(line))

    def _with_displaced(self, work: Work | None) -> Work | None:
        """`work`, and what somebody else put into the queue in the instant before the last swap."""
        store = self._store
        theirs = _displaced(store) if self._line is not None and not self._is_unfinished else None
        if theirs is None:
            return work
        after = apply(store.generation.text, work) if work is not None else store.generation.text
        more = _contribution(store, theirs, after)
        return both(work, more) if work is not None and more is not None else work or more

    def _healing(self, line: Line) -> Work | None:
        """What a program that does not lock lost or added since."""
        store = self._store
        mark = store.generation.mark
        if mark == line.queue or (self._is_unfinished and mark == line.base):
            return None
        trusted = self._left.queue if self._left else None
        account = Account(store, self._known, line, trusted=trusted, without=self._is_unfinished)
        vanished = store.generation.stat is None
        settled = (lambda _: False) if vanished else account.is_settled
        healing = reconcile(account.expected(), store.generation.text, settled=settled, taken_out=account.was_taken_out)
        if vanished:
            text = f"the queue was gone; put back from the ledger: {counted(len(healing.adds), 'message')}"
            healing.problems = [Problem("REBUILT", "warning", store.layout.queue.name, text)]
        store.notices += healing.problems
        return _healing_work(healing)

    def _undo(self, line: Line, healed: Work | None) -> Work | None:
        """Take back a receive whose reader died: its messages stay pending and go to somebody who lives."""
        store = self._store
        text = f"{line.action} by {line.actor} was cut short before it was finished; its messages are pending again"
        store.notices.append(Problem("UNDONE", "notice", f"audit line {line.seq}", text))
        ids = [message_id for message_id, _ in line.changes]
        undo = Work(_SYSTEM, "undo", {"undone": line.seq, "ids": ids}, void=line.seq)
        if healed is not None:
            return both(healed, undo)
        store.write_line(undo)
        return None

    def _completion(self, line: Line) -> Work:
        """What is left to do of a committed transaction whose maker died."""
        store = self._store
        work = from_line(line, action="heal", facts={"completed": line.seq, "action": line.action})
        text = f"{line.action} by {line.actor} was on record but not finished; it was finished"
        store.notices.append(Problem("COMPLETED", "notice", f"audit line {line.seq}", text))
        return replace(work, pushed=tuple(one for one in work.pushed if not self._was_pushed(line, *one)))

    def _cut_archives(self, line: Line) -> None:
        """Take back what the transaction of `line` put at the ends of archives, be it whole or torn."""
        store = self._store
        ours = {message_id for _, message_id, _ in line.archived}
        for path, size in ((store.layout.folder / name, size) for name, size in line.sizes.items()):
            found = store.disk.stat(path)
            if path.parent != store.layout.archives or found is None or found.size <= size:
                continue
            if set(closed_ids(store.disk.read(path, size)[0])) <= ours:
                cut(store.disk, path, size)
            else:
                store.notices.append(_mixed_archive(path))
        store.archives.forget()

    def _was_pushed(self, line: Line, agent: str, record: dict[str, object]) -> bool:
        """Whether the inbox file has the message; a torn piece of it is cut off."""
        store = self._store
        path = store.layout.inbox(agent)
        size = next((size for name, size in line.sizes.items() if store.layout.folder / name == path), 0)
        found = store.disk.stat(path)
        if found is None or found.size <= size:
            return False
        rest = store.disk.read(path, size)[0]
        if inbox_line(record) in rest:
            return True
        if not rest.endswith(b"\n"):
            cut(store.disk, path, size + rest.rfind(b"\n") + 1)
        return False


def _lost_ledger(store: Store, seq: int) -> Problem:
    name = store.layout.audit.name
    text = f"{name} ended at line {store.tip.seq}, and line {seq} was written: what it said is lost, and it begins anew"
    return Problem(AUDIT_LOST, "warning", name, text, "Keep a copy of it; archives were not checked against it.")


def _healing_work(healing: Healing, **facts: object) -> Work | None:
    if not (healing.adds or healing.changes or healing.removed or healing.noted):
        return None
    restored = [one.message_id for one in healing.adds]
    return Work(
        actor=_SYSTEM,
        action="heal",
        facts={**facts, "restored": restored, "changed": list(healing.changes), "removed": healing.removed},
        adds=tuple(healing.adds),
        changes=healing.changes,
        removed=tuple(healing.removed),
        noted=tuple(healing.noted),
    )


def _mixed_archive(path: Path) -> Problem:
    text = f"{path.name} was also written by another program; copies of a record may be there twice"
    return Problem("FOREIGN_ARCHIVE", "notice", path.name, text)


def _keep_unreadable(store: Store, error: TeamError) -> None:
    aside = store.layout.queue.with_name(f"{store.layout.queue.name}.torn-{store.stamp()}")
    store.disk.rename(store.layout.prev, aside)
    text = f"a program that does not lock wrote something unreadable into the queue; it was kept as {aside.name}"
    store.notices.append(Problem("FOREIGN_WRITE", "warning", store.layout.queue.name, text, error.message))


def _strays(store: Store) -> list[Path]:
    """Staging files; nobody alive owns them while we hold the lock."""
    names = store.disk.names(store.layout.folder)
    return [store.layout.folder / name for name in names if name.startswith(store.layout.staging)]


def _is_displaced(name: str, stat: Stat, found: Stat, line: Line) -> bool:
    """Whether a staging name holds what the swap of `line` took out of the queue's place."""
    if found.ino == stat.ino or stat.mark == line.queue:
        return False
    return stat.mark == line.base or name in (line.staged, line.staged + KEPT)


def _was_written_late(store: Store) -> bool:
    """Whether the generation before changed after it was replaced: an in-place writer had it open."""
    line = store.tip.line
    if line is None or line.base is None or line.base == line.queue:
        return False
    found = store.disk.stat(store.layout.prev)
    return found is not None and found.ino == line.base[0] and found.mark != line.base


def _refuse_hard_link(store: Store) -> None:
    """A queue with a second name would be torn apart by a swap; only our own `.prev` may be that name."""
    stat = store.generation.stat
    prev = store.disk.stat(store.layout.prev) if stat is not None and stat.links > 1 else None
    if stat is not None and prev is not None and prev.ino == stat.ino:
        store.disk.unlink(store.layout.prev)
        stat = store.disk.stat(store.layout.queue)
        store.generation = Generation(store.generation.text, stat)
    if stat is not None and stat.links > 1:
        raise TeamError(
            Code.STORE_FAILED,
            f"{store.layout.queue} has {stat.links} names (hard links), and replacing it would leave the others behind",
            "Make it a file of its own: cp it to a new file and mv that over it. Nothing was written.",
        )
