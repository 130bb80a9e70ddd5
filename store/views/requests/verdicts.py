"""Verdict on one request: what stands now, and a wait for it that the store's own change notice ends.

It is judged by the same views as everything else: what does not count on the screen does not count here.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from team_console.store.contract.team import Team
from team_console.store.desk.waiting import until
from team_console.store.model.message import Message
from team_console.store.views.requests.following import RequestFollower
from team_console.store.views.rows import RequestRow, RequestState

_OPEN = "open"
_STOP_TICK = 0.5
"""Seconds after which a wait that may be told to stop asks whether it was; in a database each costs a look."""


class Outcome(Struct, frozen=True):
    """How a request stands.

    Attributes:
        state: `approved`, `rejected`, `answered`, `withdrawn`, `superseded` or `open`.
        message: The answer that stands; None without one.
        reason: The words of the answer, or why it was withdrawn; None when nothing was said.
    """

    request_id: str
    state: str
    message: Message | None = None
    reason: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether an answer is still wanted."""
        return self.state == _OPEN


def verdict_of(team: Team, request_id: str, *, me: str = "") -> Outcome:
    """How the request stands now.

    Args:
        me: Whose request it is, where several agents chose the same id.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
    """
    return outcome_of(RequestFollower(team, request_id, me=me).look())


def await_verdict(
    team: Team,
    request_id: str,
    *,
    timeout: float | None,
    stop: Callable[[], bool] | None = None,
    me: str = "",
) -> Outcome:
    """Wait until the request is not open any more; how it stands when `timeout` seconds are over or `stop` says so.

    Each look costs what has changed. Nothing is polled where the store tells of changes; a request that expires is
    noticed when it does.

    Args:
        timeout: Seconds; None waits as long as it takes.
        stop: Asked twice a second, and after every change, whether to give up.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`, `USAGE` in a thread whose event loop runs.
    """
    follower = RequestFollower(team, request_id, me=me)
    row: RequestRow | None = None

    def settled() -> Outcome | None:
        nonlocal row
        row = follower.look()
        return None if row.is_open and not (stop is not None and stop()) else outcome_of(row)

    def tick() -> float | None:
        left = until_expiry(team, row)
        return left if stop is None else min(_STOP_TICK, left or _STOP_TICK)

    outcome = until(team, settled, timeout=timeout, tick=tick)
    return outcome if outcome is not None else outcome_of(follower.look())


def until_expiry(team: Team, row: RequestRow | None) -> float | None:
    """Seconds until a request ends by itself, None when it does not."""
    if row is None or row.expires_at is None:
        return None
    # A millisecond more than is left: at the very moment the clock may not have come there yet.
    return max(0.0, (row.expires_at - team.clock()).total_seconds()) + 0.001


def outcome_of(row: RequestRow) -> Outcome:
    """How a request stands, from its row; overdue is open."""
    state = RequestState.OPEN if row.is_open else row.state
    return Outcome(row.request_id, str(state), row.verdict, row.reason or None)
