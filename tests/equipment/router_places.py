"""The same team for the router in files, in SQLite and in PostgreSQL, opened by as many as a test likes."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.clock import Clock, utc_now
from team_console.store.settings.team_config import Agent

from tests.equipment.command_line import COMMAND, clean_environment
from tests.equipment.postgresql import new_location
from tests.equipment.teams import made_at, team_of


@dataclass(slots=True)
class Place:
    """A team at `location`; the command of `runner` appends every record it gets to `taken`."""

    kind: str
    location: str
    folder: Path
    _opened: list[Team] = field(default_factory=list)

    def open(self, clock: Clock = utc_now) -> Team:
        """The team as another process would open it."""
        self._opened.append(open_team(self.location, clock=clock))
        return self._opened[-1]

    @property
    def taken(self) -> Path:
        """What the command of `runner` got, one record a line."""
        return self.folder / "taken.jsonl"

    def router(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `team-console deliver`; the caller ends it."""
        command = [*COMMAND, "-t", self.location, "deliver", *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=clean_environment(), stdout=subprocess.DEVNULL)

    def deliveries(self) -> Counter[str]:
        """How often the audit trail says that a message was delivered, by id."""
        lines = self.open().audit(limit=100_000)
        return Counter(fact for line in lines if line.action == "deliver" for fact in line.facts["ids"])

    def close(self) -> None:
        """Close what was opened."""
        for team in self._opened:
            team.close()


@contextmanager
def made(kind: str, folder: Path, *agents: Agent) -> Iterator[Place]:
    """A new team led by `ceo`; `runner` has a command unless it is among `agents`."""
    runner = Agent("runner", deliver=("sh", "-c", f'cat >> "{folder}/taken.jsonl"'))
    settings = team_of(Agent("architect"), runner, *agents, name="router")
    place = Place(kind, made_at(new_location(kind, folder), settings), folder)
    try:
        yield place
    finally:
        place.close()
