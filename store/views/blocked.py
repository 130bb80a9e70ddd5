"""Blocked time: how long agents waited for a human, by their requests alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median

from msgspec import Struct
from team_console.store.protocol.kinds import RESULTS, RequestKind
from team_console.store.views.rows import RequestRow


class Blocked(Struct, frozen=True):
    """How long one agent, or a team, waited.

    Attributes:
        total: Seconds in which at least one of its requests waited.
        median: Seconds that a request waited, of those that do not wait any more; None without one.
        now: Seconds for which its oldest open request waits; None where none does.
        requests: How many it put.
    """

    total: float
    median: float | None
    now: float | None
    requests: int


class BlockedTimes(Struct, frozen=True):
    """How long agents waited for a human.

    Attributes:
        team: All of them together; waits at one time are counted for each agent.
        agents: By name, each agent that asked.
    """

    team: Blocked
    agents: Mapping[str, Blocked]


def blocked_times(rows: Iterable[RequestRow], now: datetime, *, since: datetime | None = None) -> BlockedTimes:
    """Return how long the agents of these requests waited for a human.

    Args:
        since: Count only from this moment on; None for all that the rows know.
    """
    waits: dict[str, list[tuple[datetime, datetime, bool]]] = {}
    for row in rows:
        if row.kind in RESULTS or row.kind is RequestKind.SHUTDOWN or row.asked_at is None:
            continue
        end = now if row.is_open else row.answered_at or row.withdrawn_at
        start = row.asked_at if since is None else max(since, row.asked_at)
        if end is not None and end >= start:
            waits.setdefault(row.asker, []).append((start, end, row.is_open))
    agents = {name: _blocked(own, now, _covered(own)) for name, own in waits.items()}
    every = [wait for own in waits.values() for wait in own]
    return BlockedTimes(_blocked(every, now, sum(blocked.total for blocked in agents.values())), agents)


def _blocked(waits: list[tuple[datetime, datetime, bool]], now: datetime, total: float) -> Blocked:
    over = [(end - start).total_seconds() for start, end, is_open in waits if not is_open]
    still = [(now - start).total_seconds() for start, _, is_open in waits if is_open]
    return Blocked(total, median(over) if over else None, max(still, default=None), len(waits))


def _covered(waits: list[tuple[datetime, datetime, bool]]) -> float:
    """Return the seconds in which at least one of the waits went on."""
    total, until = 0.0, None
    for start, end, _ in sorted(waits):
        begin = start if until is None else max(start, until)
        if end > begin:
            total += (end - begin).total_seconds()
            until = end
    return total
