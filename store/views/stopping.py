"""Ask agents to stop one after the other, in their order, and tell how far the stop of each is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import ALL, USER
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.placed_message import EARLIEST
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.requests import request_shutdown
from team_console.store.service.sending import Preview, preview
from team_console.store.service.writing import roles_now
from team_console.store.views.deliveries import deliveries_of
from team_console.store.views.rows import (
    AgentState,
    Flag,
    RequestRow,
    RequestState,
    RosterRow,
    StopRow,
    StopStage,
    View,
)

_ROLE_ORDER = {"temp": 0, "slave": 1, "resident": 3}
_OTHER_ROLES = 2
PASSED_BY = (Code.AGENT_NOT_FOUND, Code.MISSING_RECIPIENT)
"""What is said of an agent that is gone, has stopped or was asked meanwhile, so that one goes on to the next."""


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
    names.sort(key=lambda name: _ROLE_ORDER.get(roles.get(name, ""), _OTHER_ROLES))
    return replace(seen, recipients=tuple(names))


def ask_to_stop(
    caller: Caller,
    agent: str,
    *,
    reason: str | None,
    timeout: float | None,
    asked: Callable[[Receipt], None] = lambda receipt: None,
    given_up: Callable[[], bool] | None = None,
    again: bool = True,
) -> StopRequest:
    """Ask one agent to stop and wait for its answer.

    Args:
        timeout: Seconds to wait; None does not wait.
        asked: Called with the receipt before the wait begins.
        given_up: Asked now and then whether to wait no longer.
        again: As for `request_shutdown`.

    Raises:
        TeamError: As `request_shutdown` and `await_verdict`.
    """
    receipt = request_shutdown(caller, agent=agent, reason=reason, again=again)
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


# How far the stop of each agent is: whether it was asked, got it, saw it, agreed or refused, and ended.


def stops_of(view: View) -> tuple[StopRow, ...]:
    """Return every agent but the lead, those under way first, then those not asked, then those that ended."""
    lead = view.snapshot.config.lead
    asked = _latest_stop_requests(view)
    agents = {row.name: row for row in view.roster if row.name not in (lead, USER)}
    names = dict.fromkeys((*asked, *agents))
    rows = [_stop_row(name, asked.get(name), agents.get(name)) for name in names if name not in (lead, USER)]
    return tuple(sorted(rows, key=lambda row: (_STAGE_ORDER[row.stage], row.agent)))


_STAGE_ORDER = {
    StopStage.REFUSED: 0,
    StopStage.WRITTEN: 1,
    StopStage.DELIVERED: 1,
    StopStage.SEEN: 1,
    StopStage.AGREED: 2,
    StopStage.NOT_ASKED: 3,
    StopStage.WITHDRAWN: 3,
    StopStage.ENDED: 4,
}


def _latest_stop_requests(view: View) -> dict[str, RequestRow]:
    """Return the latest request to stop of each agent."""
    latest: dict[str, RequestRow] = {}
    for row in view.requests:
        if row.kind is not RequestKind.SHUTDOWN:
            continue
        known = latest.get(row.addressee)
        if known is None or (row.asked_at or EARLIEST) >= (known.asked_at or EARLIEST):
            latest[row.addressee] = row
    return latest


def _stop_row(name: str, request: RequestRow | None, agent: RosterRow | None) -> StopRow:
    """Return the row of one agent by its latest request to stop."""
    if request is None:
        is_gone = agent is not None and agent.state is AgentState.STOPPED
        return StopRow(name, StopStage.ENDED if is_gone else StopStage.NOT_ASKED)
    delivery = next((item for item in deliveries_of(request.question) if item.recipient == name), None)
    delivered_at = from_text(delivery.at) if delivery is not None and delivery.at else None
    stage = _stage(request, agent, is_delivered=delivered_at is not None)
    last = agent.last_seen if agent is not None else None
    ended_at = (last or request.answered_at) if stage is StopStage.ENDED else None
    return StopRow(name, stage, request, delivered_at, ended_at)


def _stage(request: RequestRow, agent: RosterRow | None, *, is_delivered: bool) -> StopStage:
    """Return how far a request to stop is, by its answer and by whether the agent is still there."""
    is_gone = request.ended or agent is None or agent.state is AgentState.STOPPED
    match request.state:
        case RequestState.REJECTED:
            return StopStage.REFUSED
        case RequestState.APPROVED | RequestState.ANSWERED:
            return StopStage.ENDED if is_gone and Flag.STILL_ALIVE not in request.flags else StopStage.AGREED
        case RequestState.WITHDRAWN | RequestState.SUPERSEDED:
            return StopStage.WITHDRAWN
    if request.seen_at is not None:
        return StopStage.SEEN
    return StopStage.DELIVERED if is_delivered else StopStage.WRITTEN
