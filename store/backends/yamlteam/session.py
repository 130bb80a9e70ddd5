"""One turn with the lock: take it, settle what was left, hand out a transaction, commit it, leave a clean mark."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from store.backends.yamlteam import drop
from store.backends.yamlteam.archives import Archives
from store.backends.yamlteam.codec import QueueText
from store.backends.yamlteam.commit import Slipped, Store
from store.backends.yamlteam.disk import Disk
from store.backends.yamlteam.files import NOT_PLAIN, shared_mode
from store.backends.yamlteam.generation import Generation
from store.backends.yamlteam.holder import Released, holder_text, parse_released, read_text, released_text
from store.backends.yamlteam.layout import Layout
from store.backends.yamlteam.ledger import Ledger
from store.backends.yamlteam.lock import held, not_writable
from store.backends.yamlteam.recovery import settle, take_over
from store.backends.yamlteam.settings_file import replaced_settings
from store.backends.yamlteam.transaction import YamlTransaction
from store.backends.yamlteam.work import Work, from_changes
from store.clock import Clock, to_text
from store.config import TeamConfig
from store.errors import Code, TeamError

_TRIES = 20


@contextmanager
def turn(
    disk: Disk, layout: Layout, *, clock: Clock, action: str, wait: float, known: Generation | None
) -> Iterator[Store]:
    """Hold the lock over a settled store; leave it marked as clean when everything agreed at the end.

    Raises:
        TeamError: `STORE_LOCKED`, `STORE_UNREADABLE`, `STORE_FAILED` or `READ_ONLY`.
    """
    mode = shared_mode(disk.stat(layout.queue))
    with held(disk, layout.lock, wait=wait, mode=mode) as lock:
        released = parse_released(read_text(disk, layout.lock))
        with contextlib.suppress(OSError):
            lock.write(holder_text(since=to_text(clock()), action=action))
        nothing = known or Generation(QueueText.empty(), None)
        store = Store(disk, layout, lock, clock, Ledger(disk, layout.audit), Archives(disk, layout), nothing)
        try:
            _enter(store, released)
            yield store
        finally:
            if store.settled and not store.intruded:
                with contextlib.suppress(OSError):
                    lock.write(released_text(Released(store.tip.seq, store.generation.mark)))


@contextmanager
def transaction(store: Store, *, actor: str, config: Callable[[], TeamConfig]) -> Iterator[YamlTransaction]:
    """A transaction on a store whose lock is held; committed when the block ends without an exception."""
    owner = os.getpid()
    tx = YamlTransaction(store, config())
    yield tx
    changes = tx.finish()
    if changes is None:
        return
    if os.getpid() != owner:
        raise RuntimeError("a transaction must end in the process that began it")
    with replaced_settings(store.disk, store.layout, changes.settings):
        if changes.settings is not None:  # the same line says that these are in force: otherwise they count as lost
            store.settings = changes.settings.encode()
        _commit(store, from_changes(changes, actor=actor))


def _commit(store: Store, work: Work) -> None:
    for _ in range(_TRIES):
        try:
            store.commit(work)
            break
        except Slipped:
            _settle(store)
    else:
        raise _too_busy(store)
    _merge(store)


def _merge(store: Store) -> None:
    """Take over what our swap displaced. Our own work is done, so a failure here is left to the next turn."""
    try:
        while store.intruded:
            take_over(store)
    except Slipped:
        with contextlib.suppress(TeamError, OSError):
            _settle(store)
    except (TeamError, OSError):
        store.settled = False


def _enter(store: Store, released: Released | None) -> None:
    try:
        _settle(store, released, store.generation)
        drop.take_in(store)
        _merge(store)
    except Slipped:
        _settle(store)
    except OSError as error:
        raise _failure(store, error) from error


def _settle(store: Store, released: Released | None = None, known: Generation | None = None) -> None:
    """Agree with the queue as it is now, however often somebody writes it meanwhile."""
    for _ in range(_TRIES):
        try:
            settle(store, released, known or store.generation)
            while store.intruded:
                take_over(store)
            return
        except Slipped:
            continue
        except OSError as error:
            raise _failure(store, error) from error
    raise _too_busy(store)


def _too_busy(store: Store) -> TeamError:
    return TeamError(
        Code.STORE_FAILED,
        f"{store.layout.queue} was rewritten {_TRIES} times by a program that does not lock",
        "Nothing was changed. Stop that program, or let it write through 'team-console' or 'drop/'.",
    )


def _failure(store: Store, error: OSError) -> TeamError:
    path = error.filename or store.layout.queue
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return not_writable(store.layout.queue, error)
    return TeamError(
        Code.STORE_FAILED,
        f"{path}: {error.strerror or error}; nothing was changed",
        "Move it away: it must be a plain file." if error.errno in NOT_PLAIN else "Look into the cause and repeat it.",
        errno=error.errno,
    )
