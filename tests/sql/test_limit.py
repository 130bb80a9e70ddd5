"""`receive --limit`: of what waits the most urgent, whatever stands before it in the table."""

from __future__ import annotations

from team_console.store.backends.sql.team import SqlTeam
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.equipment.teams import make_message, put
from tests.sql.claimers import AGENT


def _next(team: SqlTeam, *, limit: int = 1, type: str | None = None, lease: float | None = None) -> list[str]:
    got = receive(Caller(team, AGENT, wait=5.0), agent=AGENT, limit=limit, type=type, lease=lease)
    return [message.message_id[-1] for message in got.messages]


def _mine(number: int, priority: str = "medium", **changes: object) -> Message:
    return make_message(number, to=AGENT, priority=priority, **changes)


def test_the_most_urgent_is_handed_out_first(team: SqlTeam) -> None:
    put(team, _mine(1, "low"), _mine(2), _mine(3, "critical"), _mine(4))
    assert [_next(team), _next(team, limit=2), _next(team), _next(team)] == [["3"], ["2", "4"], ["1"], []]
