"""Databases for the tests: a new file, or a new database on a private PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from team_console.store.backends.open import create_database, open_database
from team_console.store.backends.sql.team import SqlTeam

from tests.equipment.postgresql import Server, empty_postgresql, new_location, server_or_skip
from tests.equipment.teams import FakeClock

SETTINGS = "team: sprint-42\nlead: ceo\nagents: [ceo, architect, code_developer]\n"

Open = Callable[..., SqlTeam]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def postgres() -> str:
    """The location of a new, empty PostgreSQL database."""
    return empty_postgresql()


@pytest.fixture
def own_server() -> Server:
    """A running server that the test may kill; only tests that do so use it, one after the other."""
    server = server_or_skip("to be killed")
    if server.process is None:
        server.start()
    return server


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A location without any tables, one of each kind."""
    return new_location(request.param, tmp_path)


@pytest.fixture
def place(empty_place: str) -> str:
    """The location of a new team, one of each kind."""
    create_database(empty_place, SETTINGS)
    return empty_place


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens teams and closes them in the end."""
    teams: list[SqlTeam] = []

    def open_(location: str, **options: object) -> SqlTeam:
        teams.append(open_database(location, **options))  # type: ignore[arg-type]
        return teams[-1]

    yield open_
    for team in teams:
        team.close()


@pytest.fixture
def team(place: str, opened: Open, clock: FakeClock) -> SqlTeam:
    return opened(place, clock=clock)
