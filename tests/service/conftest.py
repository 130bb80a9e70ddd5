"""A team in memory with seats for its members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FACTORIES, FakeClock

SeatOf = Callable[[str], Caller]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def team(clock: FakeClock) -> MemoryTeam:
    agents = [
        Agent("ceo", role="master"),
        Agent("task-manager", plan_mode_required=True),
        Agent("file-manager"),
        Agent("knowledge-manager", may_message=frozenset({"ceo"})),
    ]
    settings = TeamConfig(
        name="sprint-42", lead="ceo", agents=MappingProxyType({agent.name: agent for agent in agents}), declared=True
    )
    return MemoryTeam(config=settings, clock=clock)


@pytest.fixture
def caller(team: MemoryTeam) -> SeatOf:
    return lambda name: Caller(team, name, wait=1.0)


@pytest.fixture(params=list(FACTORIES))
def any_team(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Team]:
    """A team of each kind."""
    with FACTORIES[request.param](tmp_path, clock) as make:
        yield make()
