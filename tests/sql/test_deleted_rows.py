"""Rows that another program deletes are gone from an open board as from a fresh one; what we archived still counts."""

from __future__ import annotations

from team_console.store.backends.sql.team import SqlTeam
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.maintenance import clear
from team_console.store.views.projection import Projection

from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

WAIT = 10.0


def _plan(team: SqlTeam, agent: str) -> str:
    receipt = requests.submit_plan(Caller(team, agent, WAIT), content="1. Split it", summary="Split the loader")
    assert receipt.request_id is not None
    return receipt.request_id


def test_what_left_the_table_through_the_archive_is_not_missing(place: str, opened: Open, clock: FakeClock) -> None:
    team = opened(place, clock=clock)
    request_id = _plan(team, "architect")
    board = Projection("ceo")
    board.update(team.snapshot(), clock())
    writer = opened(place, clock=clock)
    requests.approve(Caller(writer, "ceo", WAIT), request_id=request_id)
    receive(Caller(writer, "architect", WAIT), agent="architect")
    board.update(team.snapshot(), clock())
    clock.advance(30 * 86400)
    clear(Caller(writer, "ceo", WAIT))
    seen = team.snapshot()
    assert (len(seen.messages), seen.missing) == (0, frozenset())
    (row,) = board.update(seen, clock()).requests
    assert (row.request_id, row.state) == (request_id, "approved")
