"""Agents that are asked to stop one after the other: in which order, one at a time, and how many agreed by now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.requests import request_shutdown
from team_console.store.views.rows import RequestRow, RequestState

_ORDER = {"temp": 0, "slave": 1, "resident": 3}
_BETWEEN = 2


class StopRequest(Struct, frozen=True):
    """One agent that was asked to stop.

    Attributes:
        outcome: The request as it was when its wait was over; None where nobody waited.
    """

    agent: str
    receipt: Receipt
    outcome: RequestRow | None = None


def stop_order(names: Iterable[str], roles: Mapping[str, str]) -> tuple[str, ...]:
    """Return the agents in the order in which they are asked: temporary ones first and residents last, so that nobody
    loses its contact too early; the master never.
    """
    asked = (name for name in names if roles.get(name) != "master")
    return tuple(sorted(asked, key=lambda name: _ORDER.get(roles.get(name, ""), _BETWEEN)))


def ask_to_stop(
    caller: Caller,
    agent: str,
    *,
    reason: str | None,
    timeout: float | None,
    asked: Callable[[Receipt], None] = lambda receipt: None,
    given_up: Callable[[], bool] | None = None,
) -> StopRequest:
    """Ask one agent to stop and wait for its answer.

    Args:
        timeout: Seconds to wait; None does not wait.
        asked: Called with the receipt before the wait begins.
        given_up: Asked now and then whether to wait no longer.

    Raises:
        TeamError: As `request_shutdown` and `await_verdict`.
    """
    receipt = request_shutdown(caller, agent=agent, reason=reason)
    asked(receipt)
    if timeout is None or receipt.request_id is None:
        return StopRequest(agent, receipt)
    from team_console.store.views.verdicts import await_verdict  # asyncio: 20 ms, which a wait alone needs

    outcome = await_verdict(caller.team, receipt.request_id, timeout=timeout, stop=given_up, me=caller.actor)
    return StopRequest(agent, receipt, outcome)


def agreed_by_now(team: Team, stops: Iterable[StopRequest], *, me: str) -> int:
    """Return how many agreed to stop; an answer that came after its wait counts like any other.

    Raises:
        TeamError: As `verdict_of`.
    """
    return sum(_has_agreed(team, stop, me) for stop in stops)


def _has_agreed(team: Team, stop: StopRequest, me: str) -> bool:
    outcome, request_id = stop.outcome, stop.receipt.request_id
    # guard: late-agreement-counts
    if outcome is not None and outcome.is_open and request_id is not None:
        from team_console.store.views.verdicts import verdict_of  # as above

        outcome = verdict_of(team, request_id, me=me)
    return outcome is not None and outcome.state is RequestState.APPROVED
