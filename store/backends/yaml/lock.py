"""Takes the write lock (D7) and says in one error why it cannot be had."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from team_console.store.backends.yaml.audit_log import mark_of
from team_console.store.backends.yaml.disk import FORBIDDEN, Disk, Held, Mark, Stat
from team_console.store.contract.team import LockHolder, locked_error
from team_console.store.model.clock import seconds_since, utc_now
from team_console.store.model.errors import Code, TeamError

_WIDTH = 512
_PROC_LOCKS = Path("/proc/locks")
_FRESH_SECONDS = 2.0


class Released(Struct, frozen=True):
    """What the last holder left when it released the lock: everything was finished then.

    Attributes:
        seq: Number of the last audit line, 0 for none.
        queue: Generation of the queue, None when there was none.
        damaged: Entries of it that could not be read, None when the holder did not have to find out.
    """

    seq: int
    queue: Mark | None
    damaged: int | None = None


def read_text(disk: Disk, path: Path) -> bytes:
    """The lock file's text; empty when it cannot be read."""
    try:
        return disk.read(path, 0, _WIDTH)[0]
    except OSError:
        return b""


def holder_text(*, since: str, action: str) -> bytes:
    """The lock file's text while this process holds it, one fixed width so that one write replaces it."""
    return _padded({"pid": os.getpid(), "host": os.uname().nodename, "since": since, "action": action[:64]})


def left_text(before: bytes) -> bytes:
    """The lock file's text after a session that was given up: what it said `before`, as true as it was."""
    return before[:_WIDTH].rstrip().ljust(_WIDTH - 1) + b"\n"


def released_text(released: Released) -> bytes:
    """The lock file's text after a release with everything finished."""
    damaged = {} if released.damaged is None else {"damaged": released.damaged}
    return _padded({"released": released.seq, "queue": released.queue, **damaged})


def parse_released(text: bytes) -> Released | None:
    """How the lock was left, or None when its last holder did not get to say."""
    facts = _parse(text)
    seq, damaged = facts.get("released"), facts.get("damaged")
    if not isinstance(seq, int):
        return None
    return Released(seq, mark_of(facts.get("queue")), damaged if isinstance(damaged, int) else None)


def find_holder(disk: Disk, path: Path, text: bytes, *, sure: bool = False) -> LockHolder | None:
    """Who holds the lock, of which the `text` was just read, found without taking it; None when nobody does.

    The kernel's list of locks costs every process on the machine some milliseconds, so it is only asked about
    a holder that stays, or when the lock is known to be held (`sure`), perhaps by one that leaves no text.
    """
    facts = _parse(text)
    told = _by_text(facts)
    if not sure and (told is None or not told.alive or _is_fresh(told)):
        return told
    found = disk.stat(path)
    pids = _kernel_holders(found, facts.get("pid")) if found is not None else []
    if pids is None:
        return told
    if not pids:
        return told if told is not None and told.alive is None else None
    pid = pids[0]
    named = facts if facts.get("pid") == pid else {}
    return LockHolder(pid or None, named.get("host", ""), named.get("since", ""), named.get("action", ""), True)


def text_of_the_dead(text: bytes, holder: LockHolder | None) -> str | None:
    """A sentence about a holder on this host that died without releasing, None when there was none.

    One that lives and took the lock just now did so after it was found that nobody has it.
    """
    facts = _parse(text)
    pid = facts.get("pid")
    if holder is not None or not isinstance(pid, int) or facts.get("host") != os.uname().nodename:
        return None
    told = _by_text(facts)
    # guard: lock-taken-over-meanwhile
    if told is not None and told.alive and _is_fresh(told):
        return None
    return f"pid {pid} ended during {facts.get('action')} (since {facts.get('since')}) without releasing the lock"


def _by_text(facts: dict[str, Any]) -> LockHolder | None:
    pid = facts.get("pid")
    if not isinstance(pid, int):
        return None
    host = str(facts.get("host", ""))
    alive = _is_alive(pid) if host == os.uname().nodename else None
    if alive is False:
        return None
    return LockHolder(pid, host, str(facts.get("since", "")), str(facts.get("action", "")), alive)


def _is_fresh(holder: LockHolder) -> bool:
    age = seconds_since(holder.since, utc_now())
    return age is not None and age < _FRESH_SECONDS


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _kernel_holders(found: Stat, expected: object) -> list[int] | None:
    """Pids with an flock on the file, from the kernel's own list; None where there is no such list.

    The list's device number is not the file's on some file systems, so the `expected` pid is enough there.
    """
    try:
        lines = _PROC_LOCKS.read_text().splitlines()
    except OSError:
        return None
    device = f"{os.major(found.dev):02x}:{os.minor(found.dev):02x}"
    locks = [line for line in map(str.split, lines) if len(line) >= 6 and line[1] == "FLOCK" and line[4].isdigit()]
    return [
        int(lock[4])
        for lock in locks
        if lock[5] == f"{device}:{found.ino}" or (lock[5].endswith(f":{found.ino}") and lock[4] == str(expected))
    ]


def _padded(facts: dict[str, Any]) -> bytes:
    text = json.dumps(facts).encode()
    return text[: _WIDTH - 1].ljust(_WIDTH - 1) + b"\n"


def _parse(text: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(text[:_WIDTH].decode())
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


_held = threading.local()


@contextmanager
def held(disk: Disk, path: Path, *, wait: float, mode: int) -> Iterator[Held]:
    """Hold the lock at `path` for the block, waiting at most `wait` seconds for it.

    Raises:
        RuntimeError: This thread holds it already; a programming error.
        TeamError: `STORE_LOCKED` with the holder in its facts, `READ_ONLY` when permissions forbid it,
            `STORE_FAILED` when the path or the file system cannot be locked.
    """
    paths: set[str] = _held.__dict__.setdefault("paths", set())
    if str(path) in paths:
        raise RuntimeError(f"this thread already holds {path}")
    lock = _acquire(disk, path, wait, mode)
    paths.add(str(path))
    try:
        yield lock
    finally:
        paths.discard(str(path))
        lock.release()


def _acquire(disk: Disk, path: Path, wait: float, mode: int) -> Held:
    found = disk.stat(path)
    if found is not None and found.kind != "file":
        kind = "pipe or device" if found.kind == "other" else found.kind
        raise _unusable(path, f"it is a {kind}, not a plain file", "Move it away; it must be a plain file.")
    try:
        return disk.lock(path, wait, mode)
    except TimeoutError:
        holder = find_holder(disk, path, read_text(disk, path), sure=True)
        hint = "Try again. The lock ends with its process; do not delete the lock file."
        raise locked_error(path, holder, wait, hint) from None
    except OSError as error:
        if error.errno in FORBIDDEN:
            raise not_writable(path, error) from error
        hint = "The team must be on a file system that supports flock; locks of another kind do not exclude each other."
        raise _unusable(path, error.strerror or str(error), hint) from error


def not_writable(path: Path, error: OSError) -> TeamError:
    """The error for a path that permissions or a read-only mount keep us from writing."""
    return TeamError(
        Code.READ_ONLY,
        f"{path} cannot be written: {error.strerror or error}",
        f"Writing needs permission on {path.parent} and the files in it; reading works without.",
    )


def _unusable(path: Path, why: str, hint: str) -> TeamError:
    return TeamError(Code.STORE_FAILED, f"the lock file {path} cannot be used: {why}", hint)
