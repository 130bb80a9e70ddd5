"""Connections: of this process alone after a fork, replaced when the server was started again, closed in the end."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from team_console.store.backends.sql.open import create_database
from team_console.store.backends.sql.team import SqlTeam

from tests.equipment.postgresql import Server, fresh_database
from tests.equipment.teams import ids, make_message, put
from tests.sql.conftest import SETTINGS, Open


def _child(work: Callable[[], bool]) -> bool:
    """What `work` gives in a forked process."""
    child = os.fork()
    if not child:
        done = False
        try:
            done = work()
        finally:
            os._exit(0 if done else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _session(team: SqlTeam) -> int:
    """Which session on the server the team has, 0 without a server."""
    with team.transaction(actor="ceo", action="look", wait=5.0) as tx:
        return int(tx.connection.scalar("SELECT pg_backend_pid()")) if "://" in team.location else 0


def test_a_team_works_on_both_sides_of_a_fork(place: str, opened: Open) -> None:
    team = opened(place)
    put(team, make_message(1))
    assert len(ids(team)) == 1
    session = _session(team)

    def work() -> bool:
        if session and _session(team) == session:  # both would read from one line
            return False
        put(team, make_message(2))
        seen = ids(team)
        team.close()
        return len(seen) == 2

    assert _child(work)
    assert len(ids(team)) == 2
    put(team, make_message(3))
    assert len(ids(team)) == 3


@pytest.mark.slow
def test_connections_to_a_server_that_was_started_again_are_replaced(own_server: Server, opened: Open) -> None:
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    team = opened(place)
    put(team, make_message(1))
    own_server.kill()
    own_server.start()
    put(team, make_message(2))
    assert len(ids(team)) == 2
