"""The process of a client, and the one of ours that waits beside each of its sessions; imports nothing heavy."""

from __future__ import annotations

import fcntl
import os
import time

from team_console.console.clients.session_files import EventData, SessionFiles
from team_console.store.backends.locked_files import SAFE

WAKER = "waker"
"""The file that the process holds a lock on which waits for mail beside a session."""
_OTHER_ENDS = 3.0
"""Seconds within which one that waited for an earlier process of the client is gone."""
_LOOK_AGAIN = 0.1
"""Seconds between two tries to take the lock from it."""


def client_pid(data: EventData) -> int:
    """Return the process of the client: the one that an event names, else who started this hook, perhaps through a
    shell.
    """
    named = data.get("client_pid")
    pid = named if type(named) is int and named > 0 else os.getppid()
    while (found := _process_stat(pid)) is not None and found.name.endswith("sh"):
        pid = found.parent
    return pid


def is_alive(pid: object) -> bool:
    """Return whether a process runs, as far as that can be told; one that ended and was not reaped does not."""
    number = pid if isinstance(pid, int) else 0
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    found = _process_stat(number)
    # guard: unreaped-is-gone
    return found is None or found.state != "Z"


def started_at(pid: int) -> str:
    """Return when a process began, by the system's own count: numbers of processes are used again. Empty where it does
    not tell.
    """
    found = _process_stat(pid)
    return found.begin if found is not None else ""


class _ProcessStat:
    """What the system tells of a process.

    Attributes:
        name: Of the program, as the system cuts it.
        state: A letter: `Z` for one that ended and was not reaped.
        parent: The process that started it.
        begin: When it began, in ticks since the system did.
    """

    def __init__(self, name: str, state: str, parent: int, begin: str) -> None:
        self.name, self.state, self.parent, self.begin = name, state, parent, begin


def _process_stat(pid: int) -> _ProcessStat | None:
    """Return what the system tells of a process; None where it tells nothing."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            head, _, rest = file.read().rpartition(")")  # the name stands in brackets, and may have some itself
        fields = rest.split()
        return _ProcessStat(head.partition("(")[2], fields[0], int(fields[1]), fields[19])
    except (OSError, ValueError, IndexError):
        return None


def become_waker(files: SessionFiles, data: EventData) -> int | None:
    """Make this process the one that waits beside the session; returns the descriptor that holds its lock, None where
    another process waits.

    One that waited for an earlier process of the client, which has ended, is gone in a moment.
    """
    client, end = str(client_pid(data)), time.monotonic() + _OTHER_ENDS
    try:
        os.makedirs(files.folder, mode=0o700, exist_ok=True)
        held = os.open(os.path.join(files.folder, WAKER), os.O_RDWR | os.O_CREAT | SAFE, 0o600)
    except OSError:
        return None
    while True:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(held, 0)
            os.pwrite(held, client.encode(), 0)
            return held
        except BlockingIOError:
            # guard: one-waker-a-session
            if os.pread(held, 32, 0).decode("ascii", "replace") == client or time.monotonic() >= end:
                os.close(held)
                return None
        except OSError:
            os.close(held)
            return None
        time.sleep(_LOOK_AGAIN)


def is_session_there(files: SessionFiles, held: int) -> bool:
    """Return whether the session goes on beside which this process waits: its end takes the locked file away.

    Args:
        held: The descriptor that `become_waker` returned.
    """
    try:
        return os.path.samestat(os.stat(os.path.join(files.folder, WAKER)), os.fstat(held))
    except OSError:
        return False


def has_waker(files: SessionFiles) -> bool:
    """Return whether a process waits beside the session."""
    try:
        found = os.open(os.path.join(files.folder, WAKER), os.O_RDONLY | SAFE)
    except OSError:
        return False
    try:
        fcntl.flock(found, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(found)
    return False
