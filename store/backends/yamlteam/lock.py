"""The write lock (D7): taking it, leaving word how it was left, and asking who holds it without taking it."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.backends.yamlteam.disk import Disk, Held, Mark, Stat
from store.errors import Code, TeamError
from store.team import LockHolder

_WIDTH = 512
_PROC_LOCKS = Path("/proc/locks")
_held = threading.local()


@dataclass(frozen=True, slots=True)
class Released:
    """What the last holder left when it released the lock: everything was settled then.

    Attributes:
        seq: Number of the last audit line, 0 for none.
        queue: Generation of the queue, None when there was none.
    """

    seq: int
    queue: Mark | None


def read_text(disk: Disk, path: Path) -> bytes:
    """The lock file's text; empty when it cannot be read."""
    try:
        return disk.read(path, 0, _WIDTH)[0]
    except OSError:
        return b""


def holder_text(*, since: str, action: str) -> bytes:
    """The lock file's text while this process holds it, one fixed width so that one write replaces it."""
    return _padded({"pid": os.getpid(), "host": socket.gethostname(), "since": since, "action": action[:64]})


def released_text(released: Released) -> bytes:
    """The lock file's text after a release with everything settled."""
    return _padded({"released": released.seq, "queue": released.queue})


def parse_released(text: bytes) -> Released | None:
    """How the lock was left, or None when its last holder did not get to say."""
    facts = _parse(text)
    seq, queue = facts.get("released"), facts.get("queue")
    if not isinstance(seq, int):
        return None
    if isinstance(queue, list) and len(queue) == 3 and all(isinstance(one, int) for one in queue):
        return Released(seq, (queue[0], queue[1], queue[2]))
    return Released(seq, None)


@contextmanager
def held(disk: Disk, path: Path, *, wait: float) -> Iterator[Held]:
    """Hold the lock at `path` for the block, waiting at most `wait` seconds for it.

    Raises:
        RuntimeError: This thread holds it already; a programming error.
        TeamError: `STORE_LOCKED` with the holder in its facts, `READ_ONLY` when permissions forbid it,
            `STORE_FAILED` when the path or the file system cannot be locked.
    """
    paths: set[str] = _held.__dict__.setdefault("paths", set())
    if str(path) in paths:
        raise RuntimeError(f"this thread already holds {path}")
    lock = _acquire(disk, path, wait)
    paths.add(str(path))
    try:
        yield lock
    finally:
        paths.discard(str(path))
        lock.release()


def _acquire(disk: Disk, path: Path, wait: float) -> Held:
    found = disk.stat(path)
    if found is not None and found.kind != "file":
        raise _unusable(path, f"it is a {found.kind}, not a plain file", "Move it away; it must be a plain file.")
    try:
        return disk.lock(path, wait)
    except TimeoutError:
        raise _locked(disk, path, wait) from None
    except PermissionError as error:
        raise not_writable(path, error) from error
    except OSError as error:
        if error.errno == errno.EROFS:
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


def _locked(disk: Disk, path: Path, wait: float) -> TeamError:
    holder = find_holder(disk, path)
    if holder is None or holder.pid is None:
        who, facts = "another process", {}
    else:
        who = f"pid {holder.pid} on {holder.host or 'this host'} ({holder.action or 'unknown'}, since {holder.since})"
        facts = {"pid": holder.pid, "host": holder.host, "since": holder.since, "action": holder.action}
    return TeamError(
        Code.STORE_LOCKED,
        f"{path} is held by {who}; waited {wait:g} s, nothing was changed",
        "Try again. The lock ends with its process; do not delete the lock file.",
        holder={**facts, "alive": holder.alive if holder else None},
    )


def _unusable(path: Path, why: str, hint: str) -> TeamError:
    return TeamError(Code.STORE_FAILED, f"the lock file {path} cannot be used: {why}", hint)


def find_holder(disk: Disk, path: Path) -> LockHolder | None:
    """Who holds the lock at this moment, found without taking it; None when nobody does."""
    try:
        found = disk.stat(path)
        text = disk.read(path, 0, _WIDTH)[0] if found is not None and found.kind == "file" else b""
    except OSError:
        return None
    if found is None or found.kind != "file":
        return None
    facts = _parse(text)
    pids = _kernel_holders(found, facts.get("pid"))
    if pids is None:
        return _by_text(facts)
    if not pids:
        other_host = "pid" in facts and facts.get("host") != socket.gethostname()
        return _by_text(facts) if other_host else None
    pid = pids[0]
    named = facts if facts.get("pid") == pid else {}
    return LockHolder(pid or None, named.get("host", ""), named.get("since", ""), named.get("action", ""), True)


def text_of_the_dead(text: bytes, holder: LockHolder | None) -> str | None:
    """A sentence about a holder on this host that died without releasing, None when there was none."""
    facts = _parse(text)
    pid = facts.get("pid")
    if holder is not None or not isinstance(pid, int) or facts.get("host") != socket.gethostname():
        return None
    return f"pid {pid} ended during {facts.get('action')} (since {facts.get('since')}) without releasing the lock"


def _by_text(facts: dict[str, Any]) -> LockHolder | None:
    pid = facts.get("pid")
    if not isinstance(pid, int):
        return None
    host = str(facts.get("host", ""))
    alive = _is_alive(pid) if host == socket.gethostname() else None
    if alive is False:
        return None
    return LockHolder(pid, host, str(facts.get("since", "")), str(facts.get("action", "")), alive)


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
    locks = [one for one in map(str.split, lines) if len(one) >= 6 and one[1] == "FLOCK" and one[4].isdigit()]
    return [
        int(one[4])
        for one in locks
        if one[5] == f"{device}:{found.ino}" or (one[5].endswith(f":{found.ino}") and one[4] == str(expected))
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
