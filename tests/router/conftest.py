"""A team in memory whose members take pushed messages in different ways."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, team_of

TAKE = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
record = json.loads(sys.stdin.readline())
with (folder / "taken.txt").open("a") as file:
    file.write(record["message_id"] + "\\n")
if (folder / "refuse").exists():
    sys.exit((folder / "refuse").read_text())
"""
"""Notes the id of the record it gets; fails with the text of the file `refuse` when there is one."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the command of `runner` notes what it took."""
    return tmp_path


def taken(folder: Path) -> list[str]:
    """Ids the command of `runner` was given, in order."""
    file = folder / "taken.txt"
    return file.read_text().split() if file.exists() else []


@pytest.fixture
def team(clock: FakeClock, folder: Path) -> MemoryTeam:
    runner = Agent("runner", deliver=(sys.executable, "-S", "-c", TAKE, str(folder)))
    return MemoryTeam(config=team_of(Agent("architect"), Agent("code_developer"), runner, name="router"), clock=clock)


@pytest.fixture
def caller(team: MemoryTeam) -> Caller:
    return Caller(team, "ceo", wait=2.0)


@pytest.fixture
def pushed(team: MemoryTeam) -> Callable[[str], list[str]]:
    """Ids in the inbox of an agent, in the order they were pushed."""
    return lambda agent: [inbox.message_id for inbox in team._state.inboxes.get(agent, [])]
