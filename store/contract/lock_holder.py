"""Who holds the write lock of a team, and the error when it does not come free in time."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, TeamError


class LockHolder(Struct, frozen=True):
    """Who holds the write lock now, as far as the lock file tells.

    Attributes:
        alive: True or False when the owner is on this host and could be checked, else None.
    """

    pid: int | None
    host: str
    since: str
    action: str
    alive: bool | None


class HolderWatch:
    """Looks who holds a lock, and asks the system for it only now and then: that costs every process of a machine time.

    A holder is asked for at each look until it is gone: a write that is over must not pass for one that blocks. One
    that records no time counts from when it was first seen.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        """Look by this clock; while nobody held the lock, ask again only after so many seconds."""
        self._clock, self._seconds = clock, seconds
        self._asked_at = -seconds
        """When the system was asked last, in seconds of `time.monotonic`."""
        self._known: LockHolder | None = None
        """The holder that was found then."""

    def rest(self) -> None:
        """Ask nobody for a while: this process has just held the lock itself."""
        self._asked_at, self._known = time.monotonic(), None

    def look(self, find: Callable[[bool], LockHolder | None]) -> LockHolder | None:
        """Return the holder that `find` gives, which is told whether the system is to be asked now."""
        now, known = time.monotonic(), self._known
        if known is None and now - self._asked_at < self._seconds:
            return find(False)
        self._asked_at, holder = now, find(True)
        if holder is not None and not holder.since:
            is_same = known is not None and known.pid == holder.pid
            holder = known if is_same else replace(holder, since=to_text(self._clock()))
        self._known = holder
        return holder


# The error for a write lock that did not come free in time: who holds it, since when, and what to do.

_LOCKED_HINT = "Try again. The lock ends with its transaction."


def locked_error(place: object, holder: LockHolder | None, wait: float, hint: str = _LOCKED_HINT) -> TeamError:
    """Make the `STORE_LOCKED` error, with all that is known of the holder in its facts.

    Args:
        place: The lock file, or where the database is.
        wait: Seconds that were waited.
        hint: The next step, and when the lock ends.
    """
    facts: dict[str, object] = {}
    if holder is not None and holder.pid is not None:
        facts = {"pid": holder.pid, "host": holder.host, "since": holder.since, "action": holder.action}
    return TeamError(
        Code.STORE_LOCKED,
        f"{place} is held by {_holder_words(holder)}; waited {wait:g} s, nothing was changed",
        hint,
        holder={**facts, "alive": holder.alive if holder else None},
    )


def _holder_words(holder: LockHolder | None) -> str:
    """Return the holder of a lock in words, as far as it is known."""
    if holder is None or not holder.action:
        pid = f", pid {holder.pid}" if holder is not None and holder.pid is not None else ""
        return f"another program (its name is not known){pid}"
    since = f", since {holder.since}" if holder.since else ""
    return f"pid {holder.pid} on {holder.host or 'this host'} ({holder.action}{since})"
