"""Connections: of this process alone after a fork, replaced when the server was started again, closed in the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_one_left_in_a_transaction_keeps_nothing_from_the_next(place: str, opened: Open) -> None:
    team = opened(place)
    with team.connect() as connection:
        team.begin_writing(connection, wait=1.0, label="left")
    put(team, make_message(1))
    assert len(ids(team)) == 1


def test_what_is_read_is_closed_with_the_team(tmp_path: Path, opened: Open) -> None:
    place = tmp_path / "team.db"
    create_database(str(place), SETTINGS)
    team = opened(str(place))
    put(team, make_message(1))
    team.snapshot()
    team.close()
    held = [os.readlink(entry) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink() and entry.exists()]
    assert not [path for path in held if path.startswith(str(place))]


def test_a_connection_in_use_while_the_team_is_closed_is_closed_afterwards(place: str, opened: Open) -> None:
    team = opened(place)
    with team.connect() as connection:
        raw: Any = connection.driver
        team.close()
        assert raw.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(Exception, match="closed"):
        raw.execute("SELECT 1")
