"""Take the write lock of a team (D7), say who has it, and how it was left; one error tells why it cannot be had."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.disk import FORBIDDEN, Disk, FileVersion, HeldLock
from team_console.store.backends.yaml.layout import Layout
from team_console.store.contract.snapshot import LockHolder, locked_error
from team_console.store.model.clock import seconds_since, utc_now
from team_console.store.model.errors import Code, TeamError

_WIDTH = 512
"""Bytes of the lock file's text, always as many, so that one write replaces all of it."""
_FRESH_SECONDS = 2.0
"""A living holder that took the lock so recently is believed without asking the kernel."""


class ReleaseMark(Struct, frozen=True, rename={"seq": "released"}):
    """What the last holder left when it released the lock: everything was finished then.

    Attributes:
        seq: Number of the last audit line, 0 for none.
        queue: Version of the queue's file, None when there was none.
        listed: `QueueText.list_digest` of that queue.
    """

    seq: int
    queue: FileVersion | None = None
    listed: int | None = None


def read_text(disk: Disk, path: Path) -> bytes:
    """Return the lock file's text; empty when it cannot be read."""
    try:
        return disk.read(path, 0, _WIDTH)[0]
    except OSError:
        return b""


def holder_text(*, since: str, action: str) -> bytes:
    """Return the lock file's text while this process holds it, one fixed width so that one write replaces it."""
    return _padded({"pid": os.getpid(), "host": os.uname().nodename, "since": since, "action": action[:64]})


def text_as_left(before: bytes) -> bytes:
    """Return the lock file's text after a session that was given up: what it said `before`, as true as it was."""
    return before[:_WIDTH].rstrip().ljust(_WIDTH - 1) + b"\n"


def released_text(released: ReleaseMark) -> bytes:
    """Return the lock file's text after a release with everything finished."""
    return _padded(msgspec.to_builtins(released))


def parse_released(text: bytes) -> ReleaseMark | None:
    """Return how the lock was left; None when its last holder was killed."""
    try:
        return msgspec.json.decode(text[:_WIDTH], type=ReleaseMark)
    except ValueError:  # all errors of msgspec are of this class
        return None


def find_holder(disk: Disk, path: Path, text: bytes, *, is_held: bool) -> LockHolder | None:
    """Return the holder of the lock, whose `text` was just read, without taking it; None when nobody holds it.

    The kernel's list of locks costs every process on the machine some milliseconds, so it is only asked about
    a holder that stays, or when the lock is known to be held (`is_held`), perhaps by one that leaves no text.
    """
    facts = _parse_facts(text)
    told = _holder_named(facts)
    if not is_held and (told is None or not told.alive or _is_fresh(told)):
        return told
    pids = disk.lock_holders(path, facts.get("pid"))
    if pids is None:
        return told
    if not pids:  # nobody on this machine has it; of one on another machine the kernel here knows nothing
        return told if told is not None and told.alive is None else None
    named = told if told is not None and told.pid == pids[0] else LockHolder(None, "", "", "", True)
    return replace(named, pid=pids[0] or None, alive=True)


def text_of_the_dead(text: bytes, holder: LockHolder | None) -> str | None:
    """Return a sentence about a holder on this host that died without releasing, None when there was none.

    One that lives and took the lock just now did so after it was found that nobody has it.
    """
    facts = _parse_facts(text)
    pid = facts.get("pid")
    if holder is not None or not isinstance(pid, int) or facts.get("host") != os.uname().nodename:
        return None
    told = _holder_named(facts)
    # guard: lock-taken-over-meanwhile
    if told is not None and told.alive and _is_fresh(told):
        return None
    return f"pid {pid} ended during {facts.get('action')} (since {facts.get('since')}) without releasing the lock"


def _holder_named(facts: dict[str, Any]) -> LockHolder | None:
    """Return the holder that the lock file names; None when it names none, or a process of this host that ended."""
    pid, alive = facts.get("pid"), None
    if not isinstance(pid, int):
        return None
    host, since, action = (str(facts.get(key, "")) for key in ("host", "since", "action"))
    if host == os.uname().nodename:
        alive = True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except (PermissionError, OverflowError):
            pass
    return LockHolder(pid, host, since, action, alive)


def _is_fresh(holder: LockHolder) -> bool:
    """Return whether it took the lock a moment ago."""
    age = seconds_since(holder.since, utc_now())
    return age is not None and age < _FRESH_SECONDS


def _padded(facts: dict[str, Any]) -> bytes:
    """Return the facts as JSON of the width of the lock file's text."""
    text = json.dumps(facts).encode()
    return text[: _WIDTH - 1].ljust(_WIDTH - 1) + b"\n"


def _parse_facts(text: bytes) -> dict[str, Any]:
    """Return what the text of a lock file says of its holder; empty for other bytes."""
    try:
        facts = json.loads(text[:_WIDTH].decode())
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


_held_here = threading.local()
"""`paths`: the locks that this thread holds. Waiting for one of them would never end."""


@contextmanager
def hold_lock(disk: Disk, path: Path, *, wait: float, mode: int) -> Iterator[HeldLock]:
    """Hold the lock at `path` for the block, waiting at most `wait` seconds for it.

    Raises:
        RuntimeError: This thread holds it already; a programming error.
        TeamError: `STORE_LOCKED` with the holder in its facts, `READ_ONLY` when permissions forbid it,
            `STORE_FAILED` when the path or the file system cannot be locked.
    """
    paths: set[str] = _held_here.__dict__.setdefault("paths", set())
    if str(path) in paths:
        raise RuntimeError(f"this thread already holds {path}")
    lock = _acquire(disk, path, wait, mode)
    paths.add(str(path))
    try:
        yield lock
    finally:
        paths.discard(str(path))
        # What was written is written, whatever the file system says of its lock, which ends with this process.
        # guard: failed-unlock-fails-no-write
        with suppress(OSError):
            lock.release()


@contextmanager
def hold_link_locks(disk: Disk, layout: Layout, *, wait: float, mode: int) -> Iterator[float]:
    """Hold the locks beside the links by which the queue is reached; yields the seconds that are left to wait.

    Raises:
        TeamError: As `hold_lock` does. A folder in which nobody may lock is passed over: nobody else can lock there
            either.
    """
    deadline = time.monotonic() + wait
    with ExitStack() as stack:
        # guard: lock-beside-link-first
        for path in layout.link_locks:
            try:
                stack.enter_context(hold_lock(disk, path, wait=max(0.0, deadline - time.monotonic()), mode=mode))
            except TeamError as error:
                if error.code is not Code.READ_ONLY or disk.stat(path) is not None:
                    raise
        yield max(0.0, deadline - time.monotonic()) if layout.link_locks else wait


def _acquire(disk: Disk, path: Path, wait: float, mode: int) -> HeldLock:
    """Take the lock on a file, or say in one error why it cannot be had."""
    found = disk.stat(path)
    if found is not None and found.kind != "file":
        kind = "pipe or device" if found.kind == "other" else found.kind
        raise _unusable(path, f"it is a {kind}, not a plain file", "Move it away; it must be a plain file.")
    try:
        return disk.lock(path, wait, mode)
    except TimeoutError:
        holder = find_holder(disk, path, read_text(disk, path), is_held=True)
        hint = "Try again. The lock ends with its process; do not delete the lock file."
        raise locked_error(path, holder, wait, hint) from None
    except OSError as error:
        if error.errno in FORBIDDEN:
            raise not_writable(path, error) from error
        hint = "The team must be on a file system that supports flock; locks of another kind do not exclude each other."
        raise _unusable(path, error.strerror or str(error), hint) from error


def not_readable(path: Path, error: OSError, meanwhile: str = "") -> TeamError:
    """Return the error for a path that is there and cannot be read; `meanwhile` ends its sentence."""
    text = f"{path} cannot be read: {error.strerror or error}{meanwhile}"
    hint = "Check what is at that path and its permissions."
    return TeamError(Code.STORE_UNREADABLE, text, hint, path=str(path))


def not_writable(path: Path, error: OSError) -> TeamError:
    """Return the error for a path that permissions or a read-only mount keep us from writing."""
    return TeamError(
        Code.READ_ONLY,
        f"{path} cannot be written: {error.strerror or error}",
        f"Writing needs permission on {path.parent} and the files in it; reading works without.",
    )


def _unusable(path: Path, why: str, hint: str) -> TeamError:
    return TeamError(Code.STORE_FAILED, f"the lock file {path} cannot be used: {why}", hint)
