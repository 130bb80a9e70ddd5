"""The list of requests as they stand now, open ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.store.protocol.judgement import Judged, row_at
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.protocol.request_row import RequestRow, RequestState


class Requests(Struct, frozen=True):
    """Every request as it stands.

    Attributes:
        rows: Open first, oldest first; then answered, newest first.
        open: Those that wait for an answer.
        flagged: Those with something odd.
        twins: Request id -> further questions under an id that another question has.
        orphans: Answers to nothing that is known.
        plan_states: Author -> the state of its latest plan that was not taken back.
        creations: Id of an announcement of a new agent -> the request that it answers.
    """

    rows: tuple[RequestRow, ...]
    open: tuple[RequestRow, ...]
    flagged: tuple[RequestRow, ...]
    twins: Mapping[str, tuple[PlacedMessage, ...]]
    orphans: Sequence[PlacedMessage]
    plan_states: Mapping[str, RequestState]
    creations: Mapping[str, PlacedMessage]


def requests_of(judged: Judged, now: datetime) -> Requests:
    """List the judged requests as they stand `now`."""
    plans: dict[str, RequestState] = {}
    creations: dict[str, PlacedMessage] = {}
    judged_rows = sorted(judged.rows, key=lambda row: row.order)
    for row in judged_rows:
        if row.kind is RequestKind.PLAN and row.state is not RequestState.WITHDRAWN:
            plans[row.asker] = row.state
        if row.kind is RequestKind.CREATE and row.verdict is not None:
            creations.setdefault(row.verdict.message_id, PlacedMessage.of(row.question, row.order.place_in_store))
    shown = [row_at(row, now) for row in judged_rows]
    waiting = tuple([row for row in shown if row.is_open])
    closed = [row for row in shown if not row.is_open]
    rows = (*waiting, *sorted(closed, key=lambda row: (row.decided, row.order), reverse=True))
    return Requests(
        rows=rows,
        open=waiting,
        flagged=tuple([row for row in rows if row.flags]),
        twins=judged.twins,
        orphans=judged.orphans,
        plan_states=plans,
        creations=creations,
    )
