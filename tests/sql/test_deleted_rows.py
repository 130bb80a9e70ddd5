"""Rows that another program deletes are gone from an open board as from a fresh one; what we archived still counts."""

from __future__ import annotations

from team_console.store.backends.sql.team import SqlTeam
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.maintenance import clear
from team_console.store.views.history import past
from team_console.store.views.projection import Projection, view_of
from team_console.store.views.rows import View

from tests.equipment.statements import execute
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

WAIT = 10.0


def _fresh(team: SqlTeam) -> View:
    known = past(team, limit=1000)
    return view_of(team.snapshot(), me="ceo", now=team.clock(), history=known.messages, complete=known.complete)


def _plan(team: SqlTeam, agent: str) -> str:
    receipt = requests.submit_plan(Caller(team, agent, WAIT), content="1. Split it", summary="Split the loader")
    assert receipt.request_id is not None
    return receipt.request_id


def test_a_request_whose_row_somebody_deleted_does_not_stay_open_on_the_board(
    place: str, opened: Open, clock: FakeClock
) -> None:
    team = opened(place, clock=clock)
    ids = [_plan(team, "architect"), _plan(team, "code_developer")]
    board = Projection("ceo")
    before = board.update(team.snapshot(), clock())
    assert sorted(row.request_id for row in before.requests) == sorted(ids)
    execute(place, "DELETE FROM agent_message WHERE sender = 'architect'")
    team.snapshot()
    requests.approve(Caller(opened(place, clock=clock), "ceo", WAIT), request_id=ids[1])
    seen = team.snapshot()
    assert len(seen.missing) == 1
    shown, fresh = board.update(seen, clock()), _fresh(team)
    assert [row.request_id for row in shown.requests] == [ids[1]]
    assert (shown.requests, shown.attention, shown.roster) == (fresh.requests, fresh.attention, fresh.roster)


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


def test_a_row_that_was_put_back_is_not_missing_any_more(place: str, opened: Open, clock: FakeClock) -> None:
    team = opened(place, clock=clock)
    request_id = _plan(team, "architect")
    board = Projection("ceo")
    board.update(team.snapshot(), clock())
    execute(place, "CREATE TABLE kept AS SELECT * FROM agent_message")
    execute(place, "DELETE FROM agent_message")
    assert board.update(team.snapshot(), clock()).requests == ()
    execute(place, "INSERT INTO agent_message SELECT * FROM kept")
    seen = team.snapshot()
    assert seen.missing == frozenset()
    assert [row.request_id for row in board.update(seen, clock()).requests] == [request_id]
