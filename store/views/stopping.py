"""The shutdown of a team: of each agent whether it was asked, got it, saw it, agreed or refused, and ended."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.names import USER
from team_console.store.protocol.entries import EARLIEST
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.conversation import deliveries_of
from team_console.store.views.rows import AgentState, Flag, RequestRow, RequestState, RosterRow, View


class Stage(StrEnum):
    """How far the stop of one agent is, as far as the store tells."""

    NOT_ASKED = "not asked"
    WRITTEN = "written"
    DELIVERED = "delivered"
    SEEN = "seen"
    REFUSED = "refused"
    AGREED = "agreed"
    ENDED = "ended"
    WITHDRAWN = "taken back"


class StopRow(Struct, frozen=True):
    """One agent of the shutdown; moments are None for what has not happened or left no time.

    Attributes:
        reason: Why it refused.
        due_at: When it should have answered.
        is_overdue: Whether it did not.
        still_writes: It agreed to stop and still writes.
    """

    agent: str
    stage: Stage
    asked_at: datetime | None = None
    delivered_at: datetime | None = None
    seen_at: datetime | None = None
    answered_at: datetime | None = None
    ended_at: datetime | None = None
    due_at: datetime | None = None
    reason: str = ""
    is_overdue: bool = False
    still_writes: bool = False

    @property
    def is_left(self) -> bool:
        """Whether the agent is still there."""
        return self.stage is not Stage.ENDED


def stops_of(view: View) -> tuple[StopRow, ...]:
    """Every agent but the lead, those under way first, then those not asked, then those that ended."""
    lead = view.snapshot.config.lead
    asked = _latest(view)
    agents = {row.name: row for row in view.roster if row.name not in (lead, USER)}
    names = dict.fromkeys((*asked, *agents))
    rows = [_row(name, asked.get(name), agents.get(name)) for name in names if name not in (lead, USER)]
    return tuple(sorted(rows, key=lambda row: (_ORDER[row.stage], row.agent)))


_ORDER = {
    Stage.REFUSED: 0,
    Stage.WRITTEN: 1,
    Stage.DELIVERED: 1,
    Stage.SEEN: 1,
    Stage.AGREED: 2,
    Stage.NOT_ASKED: 3,
    Stage.WITHDRAWN: 3,
    Stage.ENDED: 4,
}


def _latest(view: View) -> dict[str, RequestRow]:
    """The latest request to stop of each agent."""
    latest: dict[str, RequestRow] = {}
    for row in view.requests:
        if row.kind is not RequestKind.SHUTDOWN:
            continue
        known = latest.get(row.addressee)
        if known is None or (row.asked_at or EARLIEST) >= (known.asked_at or EARLIEST):
            latest[row.addressee] = row
    return latest


def _row(name: str, request: RequestRow | None, agent: RosterRow | None) -> StopRow:
    if request is None:
        is_gone = agent is not None and agent.state is AgentState.STOPPED
        return StopRow(name, Stage.ENDED if is_gone else Stage.NOT_ASKED)
    delivery = next((item for item in deliveries_of(request.question) if item.recipient == name), None)
    delivered_at = from_text(delivery.at) if delivery is not None and delivery.at else None
    stage = _stage(request, agent, is_delivered=delivered_at is not None)
    last = agent.last_seen if agent is not None else None
    return StopRow(
        agent=name,
        stage=stage,
        asked_at=request.asked_at,
        delivered_at=delivered_at,
        seen_at=request.seen_at,
        answered_at=request.answered_at,
        ended_at=(last or request.answered_at) if stage is Stage.ENDED else None,
        due_at=request.due_at,
        reason=request.reason if request.state is RequestState.REJECTED else "",
        is_overdue=request.state is RequestState.OVERDUE,
        still_writes=Flag.STILL_ALIVE in request.flags,
    )


def _stage(request: RequestRow, agent: RosterRow | None, *, is_delivered: bool) -> Stage:
    is_gone = request.ended or agent is None or agent.state is AgentState.STOPPED
    match request.state:
        case RequestState.REJECTED:
            return Stage.REFUSED
        case RequestState.APPROVED | RequestState.ANSWERED:
            return Stage.ENDED if is_gone and Flag.STILL_ALIVE not in request.flags else Stage.AGREED
        case RequestState.WITHDRAWN | RequestState.SUPERSEDED:
            return Stage.WITHDRAWN
    if request.seen_at is not None:
        return Stage.SEEN
    return Stage.DELIVERED if is_delivered else Stage.WRITTEN
