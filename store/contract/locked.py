"""The error for a write lock that did not come free in time: who holds it, since when, and what to do."""

from __future__ import annotations

from team_console.store.contract.team import LockHolder
from team_console.store.model.errors import Code, TeamError

_HINT = "Try again. The lock ends with its transaction."


def locked_error(place: object, holder: LockHolder | None, wait: float, hint: str = _HINT) -> TeamError:
    """`STORE_LOCKED`, with all that is known of the holder in its facts.

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
        f"{place} is held by {_who(holder)}; waited {wait:g} s, nothing was changed",
        hint,
        holder={**facts, "alive": holder.alive if holder else None},
    )


def _who(holder: LockHolder | None) -> str:
    if holder is None or not holder.action:
        pid = f", pid {holder.pid}" if holder is not None and holder.pid is not None else ""
        return f"another program (its name is not known){pid}"
    since = f", since {holder.since}" if holder.since else ""
    return f"pid {holder.pid} on {holder.host or 'this host'} ({holder.action}{since})"
