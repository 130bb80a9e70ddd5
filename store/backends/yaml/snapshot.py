"""Take snapshots of a YAML team without its lock: reads, never writes, and turns every failure into a condition."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.audit_trail import AuditTrail, TrailFileFollower, TrailTip
from team_console.store.backends.yaml.commit import apply_line
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.drop import DropContents, DropReader
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.folder_health import (
    ConflictedCopies,
    FolderHealth,
    ForeignWrite,
    ForeignWrites,
)
from team_console.store.backends.yaml.layout import Layout, is_drop_file, names_in
from team_console.store.backends.yaml.lock import find_holder, parse_released, read_text, text_of_the_dead
from team_console.store.backends.yaml.queue import QueueFile, QueueText, load_queue
from team_console.store.backends.yaml.recovery import is_cut_short
from team_console.store.contract.snapshot import Condition, HolderWatch, LockHolder, Snapshot
from team_console.store.contract.team import Addressed, Progress
from team_console.store.model.clock import Clock, from_nanoseconds
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message, ids_of
from team_console.store.model.recorded_facts import REWORDED, RecordedFacts
from team_console.store.settings.in_force import SettingsInForce

# Finds ids in a damaged entry, whose YAML cannot be read: a key with or without quotes, and the word behind it.
_NAMED = re.compile(rb"""\b(?:message_id|id|request_id)["']?:\s*["']?([^\s"',}]+)""")
FOREIGN_FRAME = "FOREIGN_FRAME"
"""The code of what stands between entries and is none: other programs may read no further than to there."""
_READINGS = 4
"""How often a queue is read again that is replaced each time."""
_MOST_AROUND = 20
"""Pieces between entries that are told one by one."""
ASK_KERNEL_SECONDS = 4.0
"""How seldom the kernel's list of locks is read: each time costs every process on the machine milliseconds."""


class _Broken(Struct, frozen=True):
    """A generation (state of the queue file) that could not be read, so that it is not waited for again."""

    mark: FileVersion | None
    problem: Problem


class _QueueReading(Struct, frozen=True):
    """The queue as it was read once.

    Attributes:
        queue: What its file holds; None where it cannot be read.
        broken: Why it cannot.
        ahead: Number of the trail's last line where the file lacks what that did; 0 where it lacks nothing.
        text: What the file holds together with that line; None where it cannot be read.
    """

    queue: QueueFile | None
    broken: _Broken | None
    ahead: int = 0
    text: QueueText | None = None


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
        """Of the text that was looked at last: its damaged places, and the ids that can still be found there."""
        self._ours: QueueFile | None = None
        """The queue as one of us left it, as far as it was seen: what another program did to it since is told by it."""
        self._settled: FileVersion | None = None
        """The mark of a queue of which the lock file said, when it was released, that trail and archives agree with it:
        as long as the queue has it, `addressed` does not ask again."""
        self._completed: tuple[object, QueueText] | None = None
        """Mark of a queue and digest of the line ahead of it, and the text that the line makes of it."""
        self._foreign_writes = ForeignWrites(disk, layout)
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
            problems = [*settings.problems]
            # What is read later can only know more than what was read before. First the queue, then the trail: so
            # every message of ours that was seen in the queue is on record.
            reading = self._read_to_last_line(progress)
            queue, messages = reading.queue, reading.text.messages() if reading.text is not None else ()
            damaged = frozenset[str]()
            if queue is not None:
                self.generation = queue
                found, damaged = self._damage(queue.text)
                problems += (*_shared_id_problems(queue.text), *found)
            problems += [reading.broken.problem] if reading.broken is not None else []
            condition = self._condition(queue, messages, problems)
            recorded = self.trail.facts(settings.config.key)
            # The lock's text before the end of the trail, which may only be ahead of what the text says of it.
            lock_text = self._lock_text()
            problems += self._beside.problems(queue, lock_text)
            holder = self._holder.look(self._find_holder)
            # guard: lock-given-back-meanwhile
            if holder is None and parse_released(lock_text) is None:  # it may have been given back meanwhile
                lock_text = self._lock_text()
            if (dead := text_of_the_dead(lock_text, holder)) is not None:
                hint = "Nothing to do: the next write finishes or undoes what it began."
                problems.append(Problem("STALE_LOCK", "notice", str(self._layout.lock), dead, hint))
            foreign_write = self._foreign_write(queue, lock_text) if holder is None else None
            problems += (foreign_write.problem, *foreign_write.changed) if foreign_write is not None else ()
            offers = self._offered.look()
            live = set(ids_of(messages)) if offers.messages else frozenset()
            stat = queue.stat if queue is not None else None
            read = queue or reading.broken
            return Snapshot(
                revision=_revision(read.mark if read is not None else None, settings, condition, offers, reading.ahead),
                taken_at=self._clock(),
                changed_at=from_nanoseconds(stat.mtime_ns) if stat else None,
                config=settings.config,
                messages=messages,
                problems=(*problems, *offers.problems),
                condition=condition,
                holder=holder,
                missing=foreign_write.missing if foreign_write is not None else frozenset(),
                damaged=damaged,
                recorded=None if self.trail.is_private else recorded,
                dropped=tuple(message for message in offers.messages if message.message_id not in live),
            )

    def _read_to_last_line(self, progress: Progress | None) -> _QueueReading:
        """Return the queue with what the trail's last line makes of it.

        Read again where it was replaced before the trail was read: of two writes at that moment one, or the first,
        would be missing, though somebody may have seen it already.
        """
        for _ in range(_READINGS):
            queue, broken = self._read_queue(progress)
            if queue is None:
                return _QueueReading(None, broken)
            ahead, text = self._on_record(queue)
            found = self._disk.stat(self._layout.queue)
            # guard: queue-replaced-while-read
            if (found.mark if found else None) == queue.mark:
                break
        return _QueueReading(queue, None, ahead, text)

    # guard: snapshot-with-last-line
    def _on_record(self, generation: QueueFile) -> tuple[int, QueueText]:
        """Return the number of the trail's last line and what it makes of the queue; 0 where it has all of it.

        A line that is durable is committed, though its writer may have died before the queue was replaced: requests are
        judged by the trail, and what is shown beside them must not be older. What the line takes out stays in view,
        because the archive may not have it yet.
        """
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
            foreign_write = self._foreign_write(generation, self._lock_text())
            changed = {problem.place for problem in foreign_write.changed} if foreign_write is not None else ()
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
        """Return what the lock file says."""
        return read_text(self._disk, self._layout.lock)

    def _find_holder(self, is_due: bool) -> LockHolder | None:
        """Return who has the lock; the kernel is asked only when that is due."""
        return find_holder(self._disk, self._layout.lock, self._lock_text(), is_held=is_due)

    # guard: loss-told
    def _foreign_write(self, generation: QueueFile | None, lock_text: bytes) -> ForeignWrite | None:
        """Return what somebody else did to the queue since our last write, by the mark in the lock file; None for
        nothing, or where that cannot be told.
        """
        if generation is None:
            return None
        released, mark = parse_released(lock_text), generation.mark
        if mark is None:
            self._ours = None
            return None
        # The lock was given back over this very queue, or without one: nobody wrote since.
        if released is not None and released.queue in (mark, None):
            self._ours = generation
            return None
        return self._foreign_writes.look(generation, self._ours, lock_text)


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
    version = "-".join(f"{item:x}" for item in mark) if mark else "none"
    dropped = f"/{hash(offers.marks):x}" if offers.marks else ""
    return f"{version}/{settings.number}/{condition}{dropped}" + (f"/line {ahead}" if ahead else "")
