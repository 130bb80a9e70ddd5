"""One turn with the lock: take it, recover what was left, hand out a transaction, commit it, leave a clean mark."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec.structs import replace
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.files import shared_mode
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.reading.archives import Archives
from team_console.store.backends.yaml.reading.settings_in_force import ReadSettings
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line
from team_console.store.backends.yaml.recovery.recovery import recover
from team_console.store.backends.yaml.writing import drop
from team_console.store.backends.yaml.writing.commit import LockedQueue, Slipped, failure
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.backends.yaml.writing.lock import held
from team_console.store.backends.yaml.writing.lock_owner import (
    Released,
    holder_text,
    left_text,
    parse_released,
    read_text,
    released_text,
)
from team_console.store.backends.yaml.writing.queue_edit import line_of
from team_console.store.backends.yaml.writing.settings_writer import replaced_settings
from team_console.store.backends.yaml.writing.transaction import YamlTransaction
from team_console.store.contract.changed import ChangedError
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import digest_of

HEAL = "heal"
"""The action of whoever asks for repair."""
_TRIES = 100
"""Each try meets another write of somebody who does not lock; `LockedQueue.patience` ends most of them sooner."""


@contextmanager
def turn(
    disk: Disk,
    layout: Layout,
    *,
    clock: Clock,
    action: str,
    wait: float,
    known: Generation | None,
    archives: Archives,
    settings: Callable[[], ReadSettings],
) -> Iterator[LockedQueue]:
    """Hold the lock over a queue that agrees with everything; leave it marked as clean when it does so at the end.

    Args:
        archives: The team's; what was known of them in the turn before is forgotten.
        settings: Reads the settings, once the lock is there; all that is done in this turn goes by them.

    Raises:
        TeamError: `STORE_LOCKED`, `STORE_UNREADABLE`, `STORE_FAILED` or `READ_ONLY`.
    """
    mode = shared_mode(disk.stat(layout.queue))
    with held(disk, layout.lock, wait=wait, mode=mode) as lock:
        before = read_text(disk, layout.lock)
        left = parse_released(before)
        with contextlib.suppress(OSError):
            lock.write(holder_text(since=to_text(clock()), action=action))
        seen = known or Generation(QueueText.empty(), None)
        read = settings()
        ledger = Ledger(disk, layout.audit, read.config.key)
        archives.forget()
        queue = LockedQueue(disk, layout, lock, clock, ledger, archives, seen, seen, read, left=left)
        begun: Mark | None = None
        try:
            _enter(queue, thorough=action == HEAL)
            begun, queue.in_force = queue.generation.mark, read.to_record
            yield queue
        finally:
            # Whoever comes after a turn that was given up must not take us for a holder that died in it.
            text = left_text(before)
            if queue.agrees and queue.left is not None:
                text = released_text(replace(queue.left, damaged=_count_damaged(queue, left, begun)))
            with contextlib.suppress(OSError):
                lock.write(text)


def _count_damaged(queue: LockedQueue, left: Released | None, begun: Mark | None) -> int | None:
    """Entries that cannot be read: as many as in the queue this turn began with, since a turn neither makes nor mends
    any; else as many as this turn found out.
    """
    if left is not None and left.damaged is not None and left.queue == begun is not None:
        return left.damaged
    return queue.generation.text.damaged_count


@contextmanager
def transaction(queue: LockedQueue, *, actor: str) -> Iterator[YamlTransaction]:
    """A transaction on a queue whose lock is held; committed when the block ends without an exception."""
    if queue.settings.error is not None:
        raise queue.settings.error
    owner = os.getpid()
    tx = YamlTransaction(queue, queue.settings.config)
    yield tx
    changes = tx.finish()
    if changes is None:
        return
    if os.getpid() != owner:
        raise RuntimeError("a transaction must end in the process that began it")
    with replaced_settings(queue.disk, queue.layout, changes.settings):
        if changes.settings is not None:  # the same line says that these are in force: otherwise they count as lost
            queue.in_force = changes.settings.encode()
        line = line_of(changes, queue.generation.text, actor=actor)
        _write(queue, line, changes.attachments, rests_on=tx.expected)


def _write(
    queue: LockedQueue,
    line: Line,
    attachments: Mapping[str, bytes] | None = None,
    *,
    rests_on: Sequence[Message] = (),
) -> None:
    """Write `line`, and have everything agree again if somebody wrote at that very moment.

    Raises:
        ChangedError: A message that the line `rests_on` was changed by a program that does not lock, since it was read.
    """

    def commit() -> None:
        _refuse_changed(queue, rests_on)
        queue.commit(line, attachments)

    _attempt(queue, commit)
    with contextlib.suppress(TeamError):  # Ours is done; what is left of theirs is for the next turn.
        _attempt(queue)


def _attempt(queue: LockedQueue, step: Callable[[], None] | None = None, *, thorough: bool = False) -> None:
    """Have everything agree, then do `step`; both again as often as somebody who does not lock writes meanwhile.

    Raises:
        TeamError: As `recover` and `LockedQueue.commit` do; `STORE_FAILED` when it never ends.
    """
    for _ in range(_TRIES):
        try:
            if not queue.agrees:
                _agree(queue, recover(queue, thorough=thorough))
            if queue.agrees:
                return step() if step is not None else None
        except Slipped:
            queue.agrees = False
        except OSError as error:
            raise failure(queue.layout.queue, error) from error
    raise _too_busy(queue)


def _agree(queue: LockedQueue, remedy: Line | None) -> None:
    if remedy is None:
        queue.finish_recovery()
    else:
        queue.commit(remedy)


def _refuse_changed(queue: LockedQueue, rests_on: Sequence[Message]) -> None:
    text = queue.generation.text
    for message in rests_on:
        now = [text.entries[place].message for place in text.places(message.message_id)]
        digest = digest_of(message)
        if not any(other is not None and digest_of(other) == digest for other in now):
            raise ChangedError(reading(message).request_id or message.message_id, next(iter(now), None))


def _enter(queue: LockedQueue, *, thorough: bool) -> None:
    """Before anything is asked: everything agrees, and what was dropped is in the queue."""
    _attempt(queue, thorough=thorough)
    try:
        drop.take_in(queue, lambda line: _write(queue, line))
    except OSError as error:
        raise failure(queue.layout.queue, error) from error


def _too_busy(queue: LockedQueue) -> TeamError:
    return TeamError(
        Code.STORE_FAILED,
        f"{queue.layout.queue} was rewritten {_TRIES} times by a program that does not lock",
        "Nothing was changed. Stop that program, or let it write through 'team-console' or 'drop/'.",
    )
