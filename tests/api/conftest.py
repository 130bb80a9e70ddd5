"""A team on disk, in a folder and in SQLite, and clients of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from team_console.store.api import AgentClient, join_team

from tests.equipment.command_line import CommandLine

Join = Callable[..., AgentClient]
SETTINGS = "team: sprint-42\nlead: ceo\nagents: [ceo, task-manager, file-manager]\n"


@pytest.fixture(params=["folder", "sqlite"])
def location(request: pytest.FixtureRequest, team: CommandLine) -> str:
    """Where a new team is, one of each kind."""
    if request.param == "folder":
        return str(team.folder)
    from team_console.store.backends.open import create_database

    create_database(str(team.folder / "team.db"), SETTINGS)
    return str(team.folder / "team.db")


@pytest.fixture
def join(location: str) -> Iterator[Join]:
    """Joins the team under a name; all clients are closed in the end."""
    clients: list[AgentClient] = []

    def join_as(name: str, **options: bool) -> AgentClient:
        clients.append(join_team(location, name, **options))
        return clients[-1]

    yield join_as
    for client in clients:
        client.close()


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    """Runs the other side of a conversation in a thread."""
    with ThreadPoolExecutor() as threads:
        yield threads
