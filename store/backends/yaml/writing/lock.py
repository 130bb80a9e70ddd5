"""Takes the write lock (D7) and says in one error why it cannot be had."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from team_console.store.backends.yaml.disk import Disk, Held
from team_console.store.backends.yaml.files import FORBIDDEN
from team_console.store.backends.yaml.writing.lock_owner import find_holder, read_text
from team_console.store.contract.locked import locked_error
from team_console.store.model.errors import Code, TeamError

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
