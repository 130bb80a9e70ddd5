"""Take snapshots of a YAML team without its lock: reads, never writes, and turns every failure into a condition."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.locked_files import missing_locks
from team_console.store.backends.presence_folder import PresenceFolder
from team_console.store.backends.yaml.archives import Archives
from team_console.store.backends.yaml.audit_trail import AuditTrail, TrailFileFollower, TrailTip, TransactionLine
from team_console.store.backends.yaml.commit import ASIDE, is_no_folder
from team_console.store.backends.yaml.conflicted_copies import ConflictedCopies
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.drop import DropContents, DropReader
from team_console.store.backends.yaml.healing import (
    CHANGED,
    HEALED_ANSWER,
    HEALED_CUT,
    HEALED_LOST,
    HEALED_STATE,
    ExpectedQueue,
    MessagesById,
    reconcile,
)
from team_console.store.backends.yaml.layout import (
    Layout,
    is_drop_file,
    is_private_to_other,
    leads_out,
    names_in,
    private_problem,
)
from team_console.store.backends.yaml.lock import ReleaseMark, find_holder, parse_released, read_text, text_of_the_dead
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText, apply_line
from team_console.store.backends.yaml.queue_file import QueueFile, load_queue
from team_console.store.backends.yaml.recovery import audit_problem, is_cut_short
from team_console.store.contract.lock_holder import HolderWatch, LockHolder
from team_console.store.contract.problem_codes import FOREIGN_WRITE, NO_LOCKS, NO_LOCKS_HINT, ROLLED_BACK
from team_console.store.contract.snapshot import Condition, Snapshot
from team_console.store.contract.team import Addressed, Progress
from team_console.store.model.clock import Clock, from_nanoseconds
from team_console.store.model.counted import counted
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message, Status, ids_of
from team_console.store.model.recorded import REWORDED, RecordedFacts
from team_console.store.settings.in_force import SettingsInForce

_NAMED = re.compile(rb"""\b(?:message_id|id|request_id)["']?:\s*["']?([^\s"',}]+)""")
FOREIGN_FRAME = "FOREIGN_FRAME"
"""The code of what stands between entries and is none: other programs may read no further than to there."""
_READINGS = 4
"""How often a queue is read again that is replaced each time."""
_MOST_AROUND = 20
ASK_KERNEL_SECONDS = 4.0
"""How seldom the kernel's list of locks is read: each time costs every process on the machine milliseconds."""


class _Broken(Struct, frozen=True):
    """A generation that could not be read, remembered so that it is not waited for again."""

    mark: FileVersion | None
    problem: Problem


class SnapshotReader:
    """Reads one team; safe to use from several threads.

    Attributes:
        trail: Follows the audit trail.
        generation: The queue as it was last read or written in this process.
        folder_seen: Whether the folder of the queue was there once, so that it is gone when it is not.
    """

    def __init__(
        self, disk: Disk, layout: Layout, clock: Clock, *, settings: Callable[[], SettingsInForce], folder_seen: bool
    ) -> None:
        self._disk = disk
        self._layout = layout
        self._clock = clock
        self._guard = threading.Lock()
        self._settings = settings
        self._broken: _Broken | None = None
        self._holder = HolderWatch(clock, ASK_KERNEL_SECONDS)
        self._damaged: tuple[QueueText, tuple[Problem, ...], frozenset[str]] | None = None
        self._ours: QueueFile | None = None
        self._settled: FileVersion | None = None
        self._completed: tuple[object, QueueText] | None = None
        self._losses = Losses(disk, layout)
        self._beside = FolderHealth(disk, layout, ConflictedCopies(disk, layout))
        self._offered = DropReader(disk, layout)
        self.trail = TrailFileFollower(disk, layout.audit)
        self._rewordings = TrailFileFollower(disk, layout.audit, word=REWORDED.encode())
        self.folder_seen = folder_seen
        self.generation: QueueFile | None = None

    def recorded(self) -> RecordedFacts | None:
        """Return the audit trail's facts on requests and answers; None where the trail belongs to another user."""
        with self._guard:
            found = self.trail.facts(self._settings().config.key)
            return None if self.trail.is_private else found

    def remember_end_of_turn(self, generation: QueueFile | None) -> None:
        """Remember what a turn of our own ended with; the kernel need not be asked who had the lock then: we had."""
        self.generation, self.folder_seen = generation, True
        self._holder.rest()

    def snapshot(self, progress: Progress | None) -> Snapshot:
        """See `Team.snapshot`."""
        with self._guard:
            settings = self._settings()
            generation, broken, ahead, text = self._read_to_last_line(progress)
            messages, damaged, found = self._messages_and_damage(generation, text)
            problems = [*settings.problems, *found]
            if generation is None and broken is not None:
                problems.append(broken.problem)
            stat = generation.stat if generation else None
            mark = stat.mark if stat else broken.mark if broken else None
            condition = self._condition(generation, messages, problems)
            # After the queue, so that every message of ours that was seen there is on record here.
            recorded = self.trail.facts(settings.config.key)
            # The lock's text before the trail: a trail that is read first may only look shorter than it says.
            lock_text = self._lock_text()
            problems += self._beside.problems(generation, lock_text)
            holder = self._holder.look(self._find_holder)
            # guard: lock-given-back-meanwhile
            if holder is None and parse_released(lock_text) is None:  # it may have been given back meanwhile
                lock_text = self._lock_text()
            if (dead := text_of_the_dead(lock_text, holder)) is not None:
                hint = "Nothing to do: the next write finishes or undoes what it began."
                problems.append(Problem("STALE_LOCK", "notice", str(self._layout.lock), dead, hint))
            loss = self._loss(generation, lock_text) if generation is not None and holder is None else None
            problems += (loss.problem, *loss.changed) if loss is not None else ()
            offers = self._offered.look()
            live = set(ids_of(messages)) if offers.messages else frozenset()
            return Snapshot(
                revision=_revision(mark, settings, condition, offers, ahead),
                taken_at=self._clock(),
                changed_at=from_nanoseconds(stat.mtime_ns) if stat else None,
                config=settings.config,
                messages=messages,
                problems=(*problems, *offers.problems),
                condition=condition,
                holder=holder,
                missing=loss.missing if loss is not None else frozenset(),
                damaged=damaged,
                recorded=None if self.trail.is_private else recorded,
                dropped=tuple(message for message in offers.messages if message.message_id not in live),
            )

    def _messages_and_damage(
        self, generation: QueueFile | None, on_record: QueueText | None
    ) -> tuple[Sequence[Message], frozenset[str], list[Problem]]:
        """Return the messages, request ids of those that are damaged, and what is wrong with the queue.

        Args:
            on_record: The queue with the transaction that it lacks; None where there is no queue.
        """
        if generation is None or on_record is None:
            return (), frozenset(), []
        self.generation = generation
        found, damaged = self._damage(generation.text)
        return on_record.messages(), damaged, [*_shared_id_problems(generation.text), *found]

    def _read_to_last_line(
        self, progress: Progress | None
    ) -> tuple[QueueFile | None, _Broken | None, int, QueueText | None]:
        """Return the queue, or why it cannot be read, and what `_on_record` says of it.

        Read again where it was replaced before the trail was read: of two writes at that moment one, or the first,
        would be missing, though somebody may have seen it already.
        """
        for _ in range(_READINGS):
            generation, broken = self._read_queue(progress)
            ahead, text = self._on_record(generation)
            found = self._disk.stat(self._layout.queue) if generation is not None else None
            # guard: queue-replaced-while-read
            if generation is None or (found.mark if found else None) == generation.mark:
                break
        return generation, broken, ahead, text

    # guard: snapshot-with-last-line
    def _on_record(self, generation: QueueFile | None) -> tuple[int, QueueText | None]:
        """Return the queue as the trail's last line makes it, with the number of that line; 0 where it is so already.

        A line that is durable is committed, though its writer may have died before the queue was replaced: requests are
        judged by the trail, and what is shown beside them must not be older. What the line takes out stays in view,
        because the archive may not have it yet.
        """
        if generation is None:
            return 0, None
        try:
            tip = self._tip_ahead(generation)
            line = tip.line
            prev = self._disk.stat(self._layout.prev)
            if line is None or not is_cut_short(line, generation, prev):
                return 0, generation.text
            key = generation.mark, tip.digest
            if self._completed is None or self._completed[0] != key:
                self._completed = key, apply_line(generation.text, replace(line, removed=(), merged=()))
            return line.seq, self._completed[1]
        except (OSError, TextError):  # the next writer tells what is wrong with the trail
            return 0, generation.text

    def _tip_ahead(self, generation: QueueFile) -> TrailTip:
        """Return the end of the trail; an empty one where the lock file says that the queue has all of it."""
        released = parse_released(self._lock_text())
        if released is not None and released.queue == generation.mark:
            return TrailTip()
        tip = AuditTrail(self._disk, self._layout.audit).tip()
        return TrailTip() if tip.torn or (released is not None and released.seq == tip.seq) else tip

    def addressed(self, agent: str) -> Addressed | None:
        """See `Team.addressed`.

        While somebody writes nothing is certain: what was known would be the answer of before, and no notice comes when
        the lock is let go, so that whoever waits would go on waiting for a message that is there.
        """
        with self._guard:
            try:
                found = self._disk.stat(self._layout.queue)
                dropped = names_in(self._disk, self._layout, self._layout.drop)
            except OSError:  # closed to us: whoever takes the lock is told
                return None
            if found is None or any(map(is_drop_file, dropped)):
                return None
            if found.mark != self._settled:
                released = parse_released(self._lock_text())
                if released is None or released.queue != found.mark:
                    return None
            generation, _ = self._read_queue()
            if generation is None or generation.mark != found.mark:
                return None
            self.generation, self._settled = generation, found.mark
            messages, damaged = generation.text.messages(), generation.text.damaged_count
            mine = tuple(message for message in messages if message.is_addressed_to(agent))
            return Addressed(mine, is_empty=not messages, damaged=damaged, is_complete=damaged == 0)

    def reworded(self) -> frozenset[str]:
        """See `Team.reworded`."""
        with self._guard:
            generation, _ = self._read_queue()
            loss = self._loss(generation, self._lock_text()) if generation is not None else None
            changed = {problem.place for problem in loss.changed} if loss is not None else ()
            return frozenset(self._rewordings.facts(self._settings().config.key).reworded).union(changed)

    def _read_queue(self, progress: Progress | None = None) -> tuple[QueueFile | None, _Broken | None]:
        """Return the queue as it is now, or why it cannot be read."""
        queue = self._layout.queue
        try:
            found = self._disk.stat(queue)
            mark = found.mark if found else None
            if self._broken is not None and self._broken.mark == mark and mark is not None:
                return None, self._broken
            self._broken = None
            return load_queue(self._disk, queue, self.generation, progress=progress), None
        except TeamError as error:
            found = self._disk.stat(queue)
            told = Problem("UNREADABLE", "error", str(queue), error.message, error.hint)
            self._broken = _Broken(found.mark if found else None, told)
            return None, self._broken
        except OSError as error:
            hint = "Check the folder and its permissions."
            text = f"{queue} cannot be read: {error.strerror or error}"
            return None, _Broken(None, Problem("UNREADABLE", "error", str(queue), text, hint))

    def _damage(self, text: QueueText) -> tuple[tuple[Problem, ...], frozenset[str]]:
        """Return each damaged place, and the ids that can still be found there."""
        if len(text.messages()) == len(text.entries):
            return (), frozenset()
        if self._damaged is None or self._damaged[0] is not text:
            queue = self._layout.queue
            found = tuple(
                Problem("DAMAGED_ENTRY", "error", f"{queue}:{line}", error.message, error.hint)
                for line, error in text.damaged()
            )
            found += tuple(
                Problem(FOREIGN_FRAME, "warning", f"{queue}:{line}", error.message, error.hint)
                for line, error in text.between_entries()[:_MOST_AROUND]
            )
            raws = (entry.raw for entry in text.entries if entry.is_damaged)
            named = frozenset(item.decode("utf-8", "replace") for raw in raws for item in _NAMED.findall(raw))
            self._damaged = text, found, named
        return self._damaged[1:]

    def _condition(
        self, generation: QueueFile | None, messages: Sequence[Message], problems: list[Problem]
    ) -> Condition:
        """Return the condition of the team; a queue that is gone is told among the problems."""
        if generation is None:
            return Condition.UNREADABLE
        if generation.stat is None:
            if self._was_never_made():
                return Condition.EMPTY
            problems.append(self._vanished_problem())
            return Condition.VANISHED
        return Condition.OK if messages or generation.text.entries else Condition.EMPTY

    def _was_never_made(self) -> bool:
        """Return whether there is no queue because nobody wrote yet; the first write makes its folder beside the
        settings.
        """
        if self._layout.folder_exists(self._disk):
            self.folder_seen = True
            return not self._existed()
        return not self.folder_seen and self._disk.stat(self._layout.config) is not None

    def _existed(self) -> bool:
        """Return whether anything beside it shows that there was a queue."""
        disk, layout = self._disk, self._layout
        audit = disk.stat(layout.audit)
        return bool((audit and audit.size) or disk.stat(layout.prev) or names_in(disk, layout, layout.archives))

    def _vanished_problem(self) -> Problem:
        """Return the problem of a queue that is gone, with the way back."""
        queue = self._layout.queue
        hint = "The next write puts its messages back from the audit trail (audit.jsonl)."
        if self._disk.stat(self._layout.audit) is None:
            hint = "Restore it from a copy; the next write begins a new one."
            if self._disk.stat(self._layout.prev) is not None:
                hint = f"Restore it: cp {queue.name}.prev {queue.name}"
        if not self._layout.folder_exists(self._disk):
            hint = "Was the folder moved? Nothing is created in its place."
        return Problem("VANISHED", "error", str(queue), f"{queue} is gone", hint)

    def _lock_text(self) -> bytes:
        return read_text(self._disk, self._layout.lock)

    def _find_holder(self, is_due: bool) -> LockHolder | None:
        return find_holder(self._disk, self._layout.lock, self._lock_text(), is_held=is_due)

    # guard: loss-told
    def _loss(self, generation: QueueFile, lock_text: bytes) -> Loss | None:
        """Return what somebody else did to the queue since our last write, by the mark in the lock file."""
        released, mark = parse_released(lock_text), generation.mark
        if mark is None or (released is not None and released.queue in (mark, None)):
            self._ours = generation if mark is not None else None
            return None
        return self._losses.look(generation, self._ours, lock_text)


def _shared_id_problems(text: QueueText) -> Iterator[Problem]:
    """Yield a problem for each id that several entries of the queue have, as it is stored."""
    hint = "The next change, or 'team-console check --heal', writes it so."
    for message_id in text.merged:
        what = f"message {message_id} is stored several times with the same content; copies count once"
        yield Problem("DUPLICATE_COPY", "warning", message_id, what, hint)
    for old, new in text.renamed:
        what = f"another message in the queue has the id {old}; the later one counts as {new}"
        yield Problem("DUPLICATE_ID", "error", old, what, hint)


def _revision(
    mark: FileVersion | None, settings: SettingsInForce, condition: Condition, offers: DropContents, ahead: int
) -> str:
    """Return another text whenever anything that is shown may be another: queue, settings, condition, `drop/`, and the
    line of the trail that is ahead of the queue.
    """
    dropped = f"/{hash(offers.marks):x}" if offers.marks else ""
    return f"{_mark_text(mark)}/{settings.number}/{condition}{dropped}" + (f"/line {ahead}" if ahead else "")


def _mark_text(mark: tuple[int, ...] | None) -> str:
    return "-".join(f"{item:x}" for item in mark) if mark else "none"


# What lies beside the queue and deserves a look: torn ends, rejected messages, recent healings, loose permissions.

_RECENT = 20
_COUNTS = (
    ("restored", "message", "put back"),
    ("changed", "state", "put back"),
    ("removed", "archived message", "taken out again"),
)


class FolderHealth(Struct):
    """Looks at the other files of a team; at the trail only when it changed."""

    disk: Disk
    layout: Layout
    copies: ConflictedCopies
    of_trail: tuple[object, list[Problem]] = (None, [])
    locks: str | None = None

    def problems(self, queue: QueueFile | None, lock_text: bytes) -> list[Problem]:
        """Return everything to tell, and what of it cannot be looked at; `lock_text` is what the lock file says."""
        found = _loose_mode(self.layout, queue)
        looks = (
            (self._leftovers, self.layout.folder),
            (lambda: self._problems_of_trail(lock_text), self.layout.audit),
            (lambda: self.copies.problems(queue), self.layout.folder),
            (self._folders, self.layout.folder),
            (self._no_lock_file, self.layout.lock),
        )
        for look, path in looks:
            try:
                found += look()
            except OSError as error:
                if not is_private_to_other(error):
                    found.append(_unusable_file(Path(error.filename or path), error.strerror or str(error)))
        closed = private_problem(self.layout)
        found += [closed] if closed is not None else []
        return found + self._without_locks(queue)

    def _without_locks(self, queue: QueueFile | None) -> list[Problem]:
        """Say that nobody can write because the file system has no locks; asked once."""
        if self.locks is None and queue is not None and queue.stat is not None:
            self.locks = missing_locks(self.layout.queue)
        if not self.locks:
            return []
        text = f"{self.layout.folder} is on a file system without locks ({self.locks}): nobody can write to this team"
        return [Problem(NO_LOCKS, "error", str(self.layout.folder), text, NO_LOCKS_HINT)]

    def _folders(self) -> list[Problem]:
        """Return findings on what stands in place of a folder: nothing is written through a link out of the team."""
        found: list[Problem] = []
        layout = self.layout
        for folder in (layout.archives, layout.inboxes, layout.attachments, layout.drop):
            there = self.disk.stat(folder)
            if there is None or there.kind == "folder":  # as nearly always: what follows looks again and closer
                continue
            if is_no_folder(self.disk, folder):
                found.append(_unusable_file(folder, "not a folder"))
            elif leads_out(self.disk, layout, folder):
                text = f"{folder} is a link that leads out of the team, and is not followed"
                hint = f"Remove the link: rm {folder}; the folder is made when it is needed."
                found.append(Problem("LINK_OUT", "error", str(folder), text, hint))
        return [*found, *PresenceFolder(layout.presence).problems()]

    def _no_lock_file(self) -> list[Problem]:
        """Return the finding that something else stands in place of the lock file."""
        lock = self.disk.stat(self.layout.lock)
        if lock is None or lock.kind == "file":
            return []
        return [_unusable_file(self.layout.lock, "not a plain file", "Nothing can be written while it is so.")]

    def _leftovers(self) -> list[Problem]:
        """Return findings on torn ends, on what was moved aside, and on rejected messages."""
        layout, found = self.layout, list[Problem]()
        for name in (*self.disk.names(layout.folder), *names_in(self.disk, layout, layout.archives)):
            if ".torn-" in name:
                text = f"{name} holds what a crash or another program left unfinished"
                hint = "Look into it before you delete it: it may hold whole records."
                found.append(Problem("TORN_END", "notice", name, text, hint))
            elif ASIDE in name:
                text = f"{name} stood in the place of a file of the team and was moved aside"
                found.append(Problem("SET_ASIDE", "notice", name, text, "Find out who put it there, and delete it."))
        hint = "It is no message, or another one has its id. Correct it and move it into drop/ again, or delete it."
        for name in names_in(self.disk, layout, layout.rejected):
            place = f"drop/rejected/{name}"
            found.append(Problem("DROP_REJECTED", "warning", place, f"{place} was not taken in", hint))
        return found

    def _problems_of_trail(self, lock_text: bytes) -> list[Problem]:
        """Return healings among the trail's last lines, and what it lacks of what was written."""
        found = self.disk.stat(self.layout.audit)
        key = found.mark if found else None, lock_text
        if found is None or self.of_trail[0] != key:
            trail = AuditTrail(self.disk, self.layout.audit)
            lines = trail.last(_RECENT)
            lost = audit_problem(self.disk, self.layout, parse_released(lock_text), trail.tip().seq)
            told = [_healing_notice(line) for line in lines if line.action == "heal"]
            self.of_trail = key, [lost, *told] if lost is not None else told
        return self.of_trail[1]


def _healing_notice(line: TransactionLine) -> Problem:
    """Tell of a repair that a line of the trail has."""
    facts = line.facts
    if "completed" in facts:
        text = f"{facts.get('action')} was cut short and was finished"
    else:
        counts = [(facts[name], *what) for name, *what in _COUNTS if isinstance(facts.get(name), list) and facts[name]]
        text = "; ".join(f"{counted(len(ids), noun)} {done}" for ids, noun, done in counts)
        text = text or "what another program wrote was taken over"
    return Problem("HEALED", "notice", f"audit.jsonl, line {line.seq}", f"{line.at}: {text}")


def _unusable_file(path: Path, why: str, until: str = "The next write moves it aside if it can.") -> Problem:
    hint = f"{until} Look at what is there: ls -ld {path}"
    return Problem("UNUSABLE_FILE", "error", str(path), f"{path} cannot be used: {why}", hint)


def _loose_mode(layout: Layout, queue: QueueFile | None) -> list[Problem]:
    """Tell of a queue that everybody on the machine may write."""
    if queue is None or queue.stat is None or not queue.stat.mode & 0o002:
        return []
    text = f"everybody on this machine may write {layout.queue.name} (mode {queue.stat.mode:04o})"
    return [Problem("LOOSE_MODE", "warning", str(layout.queue), text, f"chmod o-w {layout.queue}")]


# What a program that does not lock took out of the queue or put back, told before the next write heals it.

_WHO = "another program"
_ASKED = 50
"""For how many missing messages the archives are searched."""
_HEAL = "The next write puts back what the audit trail (audit.jsonl) knows; 'team-console check --heal' does it now."
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
        missing: Ids of messages that the trail says are in the queue, and that are not.
        changed: Messages that say something else than the trail has of them, told one by one.
    """

    problem: Problem
    missing: frozenset[str] = frozenset()
    changed: tuple[Problem, ...] = ()


class Losses:
    """Compares a queue that somebody else wrote with the trail, once for each such queue; takes no lock."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._archives = Archives(disk, layout)
        self._found: tuple[tuple[FileVersion, bytes], Loss | None] | None = None

    def look(self, now: QueueFile, ours: QueueFile | None, lock_text: bytes) -> Loss | None:
        """Return what the queue lacks; None when that is unknown, or during a write.

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

    def _is_still(self, mark: FileVersion, lock_text: bytes) -> bool:
        found = self._disk.stat(self._layout.queue)
        same = found is not None and found.mark == mark
        return same and read_text(self._disk, self._layout.lock) == lock_text

    def _compare(self, now: QueueFile, ours: QueueFile | None, released: ReleaseMark | None) -> Loss | None:
        """Return what the queue lacks by our own account; None where nothing can be told."""
        try:
            expected = self._expected(now, ours, released)
            if expected is None:
                return Loss(_uncompared_write(self._layout)) if released is not None else None
            return _loss_against(expected, now, self._layout, self._archives)
        except OSError as error:
            return None if is_private_to_other(error) else Loss(_uncompared_write(self._layout))
        except TeamError:
            return Loss(_uncompared_write(self._layout))
        finally:
            self._archives.forget()

    def _expected(self, now: QueueFile, ours: QueueFile | None, released: ReleaseMark | None) -> MessagesById | None:
        """Return the content of the queue by our own trail; None without one, or when the queue is as we left it."""
        line = AuditTrail(self._disk, self._layout.audit).tip().line
        if line is None or (released is None and now.mark in (line.queue, line.base)):
            return None
        trusted = released.queue if released is not None else None
        prev = self._disk.stat(self._layout.prev) if released is None else None
        is_before_line = released is None and is_cut_short(line, now, prev)
        return ExpectedQueue(
            self._disk, self._layout, ours or now, line, trusted=trusted, is_before_line=is_before_line
        ).expected()


def _loss_against(expected: MessagesById, now: QueueFile, layout: Layout, archives: Archives) -> Loss:
    """Return what the queue lacks of the expected messages, and what else was done to them.

    Read messages are in an archive; of the others that are gone, some may be too when the trail is damaged.
    """
    asked: set[str] = set()

    def is_done(message: Message) -> bool:
        if message.message_id not in expected or message.status == Status.READ:
            return message.message_id in expected
        asked.add(message.message_id)
        return len(asked) <= _ASKED and archives.has_copy_of(message)

    healing = reconcile(expected, now.text, archived=is_done, taken_out=lambda _: False)
    missing = frozenset(ids_of(healing.adds))
    counts = Counter(problem.code for problem in healing.problems)
    words = [text.format(counted(counts[code], "message")) for code, text in _WORDS.items() if counts[code]]
    changed = tuple(problem for problem in healing.problems if problem.code == CHANGED)
    if not words:
        return Loss(_harmless_write(layout), changed=changed)
    text = f"{_WHO} {', '.join(words)}"
    return Loss(Problem(ROLLED_BACK, "error", layout.queue.name, text, _HEAL), missing, changed)


def _uncompared_write(layout: Layout) -> Problem:
    text = "the queue was last written by another program"
    hint = "It cannot be compared with the audit trail (audit.jsonl), so it is not known whether messages are missing."
    return Problem(FOREIGN_WRITE, "notice", str(layout.queue), text, hint)


def _harmless_write(layout: Layout) -> Problem:
    text = f"{_WHO} wrote the queue last; nothing is missing by the audit trail (audit.jsonl)"
    return Problem("UNLOCKED_WRITE", "notice", str(layout.queue), text, "The next write takes over what it added.")
