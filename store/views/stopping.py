"""Agents that are asked to stop one after the other: in which order, one at a time, and how many agreed by now."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import ALL
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.requests import request_shutdown
from team_console.store.service.sending import Preview, preview
from team_console.store.service.writing import roles_now
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


def whom_to_stop(caller: Caller) -> Preview:
    """Return the members that a shutdown of the team asks, in order, and who is not asked: those who do not listen.

    Temporary ones come first and residents last, so that nobody loses its contact too early; the lead is never asked.

    Raises:
        TeamError: `MISSING_RECIPIENT` when nobody is left to ask, and as `preview`.
    """
    seen = preview(caller, to=ALL)
    snapshot = caller.team.snapshot()
    roles = roles_now(snapshot)
    skip = {snapshot.config.lead, *seen.not_listening}
    names = [name for name in seen.recipients if name not in skip and roles.get(name) != "master"]
    if not names:
        raise TeamError(Code.MISSING_RECIPIENT, "nobody is left to ask", "team-console roster shows who is there.")
    names.sort(key=lambda name: _ORDER.get(roles.get(name, ""), _BETWEEN))
    return replace(seen, recipients=tuple(names))


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
