"""The lock-free view of a YAML team: reads, never writes, and turns every failure into a condition."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.disk import Disk, Mark, Stat
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.reading.appended import AppendedMessages
from team_console.store.backends.yaml.reading.settings_in_force import ReadSettings, SettingsFile
from team_console.store.backends.yaml.writing.generation import Generation, load
from team_console.store.backends.yaml.writing.lock_owner import find_holder, parse_released, read_text, text_of_the_dead
from team_console.store.contract.team import Condition, LockHolder, Snapshot
from team_console.store.model.clock import Clock, from_file, to_text
from team_console.store.model.copies import copy_problems
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts

if TYPE_CHECKING:
    from team_console.store.backends.yaml.reading.archives import ForeignAppends
    from team_console.store.backends.yaml.reading.foreign_changes import Loss, Losses
    from team_console.store.backends.yaml.reading.offered import OfferedMessages, Offers
    from team_console.store.backends.yaml.reading.recorded_reader import RecordedReader
    from team_console.store.backends.yaml.reading.side_checks import Beside

Progress = Callable[[int, int], bool]
_NAMED = re.compile(rb"""\b(?:message_id|id|request_id)["']?:\s*["']?([^\s"',}]+)""")
_LARGE = 3
"""How many times more messages a queue must hold than are asked for, so that the newest are much quicker to read."""
_MANY_BYTES = 1 << 20
"""Size of a queue from which on its first picture does not wait until all of it is cut into entries."""
ASK_KERNEL_SECONDS = 4.0
"""How seldom the kernel's list of locks is read: each time costs every process on the machine milliseconds."""


class _Broken(Struct, frozen=True):
    """A generation that could not be read, remembered so that it is not waited for again."""

    mark: Mark | None
    problem: Problem


class SnapshotReader:
    """Reads one team; safe to use from several threads. `generation` and `folder_seen` are shared with transactions."""

    def __init__(self, disk: Disk, layout: Layout, clock: Clock, *, settings: SettingsFile, folder_seen: bool) -> None:
        self._disk = disk
        self._layout = layout
        self._clock = clock
        self._guard = threading.Lock()
        self._settings = settings
        self._appended = AppendedMessages(disk, layout)
        self._broken: _Broken | None = None
        self._asked_kernel = -ASK_KERNEL_SECONDS
        self._silent_holder: LockHolder | None = None
        self._damaged: tuple[QueueText, tuple[Problem, ...], frozenset[str]] | None = None
        self._ours: Generation | None = None
        self._losses: Losses | None = None
        self.folder_seen = folder_seen
        self.generation: Generation | None = None

    @cached_property
    def _beside(self) -> Beside:
        from team_console.store.backends.yaml.reading.side_checks import Beside

        return Beside(self._disk, self._layout)

    @cached_property
    def _foreign_appends(self) -> ForeignAppends:
        from team_console.store.backends.yaml.reading.archives import ForeignAppends

        return ForeignAppends(self._disk, self._layout)

    @cached_property
    def _recorded(self) -> RecordedReader:
        from team_console.store.backends.yaml.reading.recorded_reader import RecordedReader

        return RecordedReader(self._disk, self._layout.audit)

    @cached_property
    def _offered(self) -> OfferedMessages:
        from team_console.store.backends.yaml.reading.offered import OfferedMessages

        return OfferedMessages(self._disk, self._layout)

    def recorded(self) -> RecordedFacts | None:
        """What the audit trail knows of requests and answers; None where it is another user's own."""
        with self._guard:
            found = self._recorded.read(self._settings.look().config.key)
            return None if self._recorded.is_private else found

    def left(self, generation: Generation | None) -> None:
        """Remember what a turn of our own ended with; the kernel need not be asked who had the lock then: we had."""
        self.generation, self.folder_seen = generation, True
        self._asked_kernel, self._silent_holder = time.monotonic(), None

    def snapshot(self, progress: Progress | None) -> Snapshot:
        """See `Team.snapshot`."""
        with self._guard:
            settings = self._settings.look()
            generation, broken = self._read_queue()
            messages, damaged, found = self._understood(generation, progress)
            problems = [*settings.problems, *found]
            if generation is None and broken is not None:
                problems.append(broken.problem)
            stat = generation.stat if generation else None
            mark = stat.mark if stat else broken.mark if broken else None
            condition = self._condition(generation, messages, problems)
            # After the queue, so that every message of ours that was seen there is on record here.
            recorded = self._recorded.read(settings.config.key)
            # The lock's text before the ledger: a ledger that is read first may only look shorter than it says.
            lock_text = self._lock_text()
            problems += self._beside.problems(generation, lock_text)
            holder = self._holder(lock_text)
            if holder is None and parse_released(lock_text) is None:  # it may have been given back meanwhile
                lock_text = self._lock_text()
            problems += self._lock_problems(lock_text, holder)
            loss = self._loss(generation, lock_text) if generation is not None and holder is None else None
            problems += (loss.problem, *loss.changed) if loss is not None else ()
            offers = self._offered.look()
            live = {message.message_id for message in messages} if offers.messages else frozenset()
            archives = self._foreign_appends.look()
            return Snapshot(
                revision=_revision(mark, settings, condition, offers, archives),
                taken_at=self._clock(),
                changed_at=from_file(stat.mtime_ns) if stat else None,
                config=settings.config,
                messages=messages,
                problems=(*problems, *offers.problems),
                condition=condition,
                holder=holder,
                missing=loss.missing if loss is not None else frozenset(),
                damaged=damaged,
                recorded=None if self._recorded.is_private else recorded,
                dropped=tuple(message for message in offers.messages if message.message_id not in live),
                archives=archives,
            )

    def _understood(
        self, generation: Generation | None, progress: Progress | None
    ) -> tuple[Sequence[Message], frozenset[str], list[Problem]]:
        """Messages of the queue, request ids of those that are damaged, and what is wrong with it."""
        if generation is None:
            return (), frozenset(), []
        self.generation = generation
        generation.text.parse_all(progress)
        messages = generation.text.distinct()
        copies = copy_problems(generation.text.messages()) if messages is not generation.text.messages() else ()
        found, damaged = self._damage(generation.text)
        return messages, damaged, [*copies, *found]

    def read_ahead(self) -> None:
        """Understand all of the queue, as far as it can be read, so that nobody has to with the lock."""
        with self._guard:
            self._understood(self._read_queue()[0], None)

    def reworded(self) -> frozenset[str]:
        """See `Team.reworded`."""
        from team_console.store.backends.yaml.reading.recorded_reader import reworded

        with self._guard:
            generation, _ = self._read_queue()
            loss = self._loss(generation, self._lock_text()) if generation is not None else None
            changed = {problem.place for problem in loss.changed} if loss is not None else ()
            return reworded(self._disk, self._layout.audit).union(changed)

    def newest(self, limit: int, names: Collection[str] = ()) -> Snapshot | None:
        """See `Team.newest`."""
        return self._glimpse(limit, names) or self._newest(limit)

    def _glimpse(self, limit: int, names: Collection[str]) -> Snapshot | None:
        """The newest of a queue that is large and written as we write it, without cutting all of it."""
        found = self._disk.stat(self._layout.queue)
        if found is None or found.size < _MANY_BYTES:
            return None
        from team_console.store.backends.yaml.codec.glimpse import glimpse

        try:
            data, found = self._disk.read(self._layout.queue)
        except OSError:
            return None
        seen = glimpse(data, limit, names)
        return self._preliminary(found, seen.messages, seen.left_out) if seen is not None else None

    def _newest(self, limit: int) -> Snapshot | None:
        with self._guard:
            generation, _ = self._read_queue()
            if generation is None or generation.stat is None:
                return None
            self.generation = generation
            if generation.text.size < _LARGE * limit:
                return None
            left_out, messages = generation.text.newest(limit)
            return self._preliminary(generation.stat, messages, left_out)

    def _preliminary(self, stat: Stat, messages: tuple[Message, ...], left_out: int) -> Snapshot:
        settings = self._settings.look()
        return Snapshot(
            revision=f"{_words(stat.mark)}/newest",
            taken_at=self._clock(),
            changed_at=from_file(stat.mtime_ns),
            config=settings.config,
            messages=messages,
            problems=settings.problems,
            condition=Condition.OK,
            left_out=left_out,
        )

    def _read_queue(self) -> tuple[Generation | None, _Broken | None]:
        queue = self._layout.queue
        try:
            found = self._disk.stat(queue)
            mark = found.mark if found else None
            if self._broken is not None and self._broken.mark == mark and mark is not None:
                return None, self._broken
            self._broken = None
            return self._followed(), None
        except TeamError as error:
            broken = _Broken(self._mark_now(), Problem("UNREADABLE", "error", str(queue), error.message, error.hint))
            self._broken = broken
            return None, broken
        except OSError as error:
            hint = "Check the folder and its permissions."
            text = f"{queue} cannot be read: {error.strerror or error}"
            return None, _Broken(None, Problem("UNREADABLE", "error", str(queue), text, hint))

    def _followed(self) -> Generation:
        """The present generation, told by the ledger where that is enough."""
        appended = self._appended
        if (generation := appended.follow(self.generation)) is None:
            reached = appended.will_compare()
            generation = load(self._disk, self._layout.queue, self.generation)
            appended.compared(reached)
        return generation

    def _mark_now(self) -> Mark | None:
        found = self._disk.stat(self._layout.queue)
        return found.mark if found else None

    def _damage(self, text: QueueText) -> tuple[tuple[Problem, ...], frozenset[str]]:
        """Each damaged place, and the ids that can still be found there."""
        if len(text.messages()) == len(text.entries):
            return (), frozenset()
        if self._damaged is None or self._damaged[0] is not text:
            found = tuple(self._damage_problem(line, error) for line, error in text.damaged())
            raws = (entry.raw for entry in text.entries if entry.message is None)
            named = frozenset(item.decode("utf-8", "replace") for raw in raws for item in _NAMED.findall(raw))
            self._damaged = text, found, named
        return self._damaged[1:]

    def _damage_problem(self, line: int, error: CodecError) -> Problem:
        place = f"{self._layout.queue}:{line}"
        return Problem("DAMAGED_ENTRY", "error", place, error.message, error.hint)

    def _condition(
        self, generation: Generation | None, messages: Sequence[Message], problems: list[Problem]
    ) -> Condition:
        if generation is None:
            return Condition.UNREADABLE
        if generation.stat is None:
            if self._was_never_made():
                return Condition.EMPTY
            problems.append(self._vanished_problem())
            return Condition.VANISHED
        return Condition.OK if messages or generation.text.entries else Condition.EMPTY

    def _was_never_made(self) -> bool:
        """Whether there is no queue because nobody wrote yet; the first write makes its folder beside the settings."""
        if self._layout.folder_exists(self._disk):
            self.folder_seen = True
            return not self._existed()
        return not self.folder_seen and self._disk.stat(self._layout.config) is not None

    def _existed(self) -> bool:
        """Whether anything beside it shows that there was a queue."""
        disk, layout = self._disk, self._layout
        audit = disk.stat(layout.audit)
        return bool((audit and audit.size) or disk.stat(layout.prev) or disk.names(layout.archives))

    def _vanished_problem(self) -> Problem:
        queue = self._layout.queue
        hint = "The next write puts its messages back from the ledger (audit.jsonl)."
        if self._disk.stat(self._layout.audit) is None:
            hint = "Restore it from a copy; the next write begins a new one."
            if self._disk.stat(self._layout.prev) is not None:
                hint = f"Restore it: cp {queue.name}.prev {queue.name}"
        if not self._layout.folder_exists(self._disk):
            hint = "Was the folder moved? Nothing is created in its place."
        return Problem("VANISHED", "error", str(queue), f"{queue} is gone", hint)

    def _lock_text(self) -> bytes:
        return read_text(self._disk, self._layout.lock)

    def _holder(self, lock_text: bytes) -> LockHolder | None:
        """Who holds the lock; one that leaves no text in the lock file is asked of the kernel now and then.

        Such a holder counts from when it was first seen, and is asked for at each look until it is gone.
        """
        path, now, silent = self._layout.lock, time.monotonic(), self._silent_holder
        if silent is None and now - self._asked_kernel < ASK_KERNEL_SECONDS:
            return find_holder(self._disk, path, lock_text)
        self._asked_kernel, self._silent_holder = now, None
        holder = find_holder(self._disk, path, self._lock_text(), sure=True)
        if holder is None or holder.since:
            return holder
        same = silent is not None and silent.pid == holder.pid
        self._silent_holder = silent if same else replace(holder, since=to_text(self._clock()))
        return self._silent_holder

    def _lock_problems(self, lock_text: bytes, holder: LockHolder | None) -> list[Problem]:
        """What the lock file tells of a holder that died."""
        dead = text_of_the_dead(lock_text, holder)
        if dead is None:
            return []
        hint = "Nothing to do: the next write finishes or undoes what it began."
        return [Problem("STALE_LOCK", "notice", str(self._layout.lock), dead, hint)]

    def _loss(self, generation: Generation, lock_text: bytes) -> Loss | None:
        """What somebody else did to the queue since one of us left it, told by its mark in the lock file."""
        released, mark = parse_released(lock_text), generation.mark
        if mark is None or (released is not None and released.queue in (mark, None)):
            self._ours = generation if mark is not None else None
            return None
        if self._losses is None:
            from team_console.store.backends.yaml.reading.foreign_changes import Losses

            self._losses = Losses(self._disk, self._layout)
        return self._losses.look(generation, self._ours, lock_text)


def _revision(mark: Mark | None, settings: ReadSettings, condition: Condition, offers: Offers, archives: int) -> str:
    """Another text whenever anything that is shown may be another: queue, settings, condition, `drop/`, archives."""
    lost = "!" if settings.config.lost else ""
    appended = f"/{archives}" if archives else ""
    return f"{_words(mark)}/{_words(settings.mark)}{lost}/{condition}{_digest(offers)}{appended}"


def _digest(offers: Offers) -> str:
    """Part of a revision: nothing while `drop/` is empty, else another text whenever its files are others."""
    return f"/{hash(offers.marks):x}" if offers.marks else ""


def _words(mark: tuple[int, ...] | None) -> str:
    return "-".join(f"{item:x}" for item in mark) if mark else "none"
