"""What every test of a team needs: messages to put in, and a way to make each kind of team."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from team_console.store.contract.team import Team
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, new_record
from team_console.store.settings.editing import write_new_settings
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.postgresql import empty_postgresql

START = datetime(2026, 2, 24, 10, 30, 15, 123000, tzinfo=UTC)
NAMES = ("ceo", "task-manager", "file-manager", "knowledge-manager")


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def config() -> TeamConfig:
    """The team of the tests: a lead and three members."""
    agents = {name: Agent(name, role="master" if name == "ceo" else "member") for name in NAMES}
    return TeamConfig(name="sprint-42", lead="ceo", agents=MappingProxyType(agents), declared=True)


def make_message(number: int = 1, **changes: Any) -> Message:
    """A plain message whose id, age and text come from `number`."""
    values: dict[str, Any] = {
        "message_id": f"MSG-20260224-{number:08d}",
        "type": "message",
        "sender": "ceo",
        "to": "task-manager",
        "created": to_text(START + timedelta(seconds=number)),
        "priority": "medium",
        "payload": {"summary": f"Summary of message number {number}", "content": f"Line one\nline two of {number}\n"},
    }
    return new_record(**{**values, **changes})


TeamFactory = Callable[[], Team]


@contextmanager
def memory_factory(folder: Path, clock: FakeClock) -> Iterator[TeamFactory]:
    """Always the same team: memory is shared only inside the process."""
    team = MemoryTeam(config=config(), clock=clock)
    yield lambda: team


@contextmanager
def yaml_factory(folder: Path, clock: FakeClock) -> Iterator[TeamFactory]:
    """Each call opens the same folder anew, as another process would."""
    from team_console.store.backends.open import open_team

    root = folder / "team"
    root.mkdir()
    agents = [Agent(name, role="master" if name == "ceo" else "member") for name in NAMES]
    write_new_settings(root / "messenger-config.yaml", team="sprint-42", lead="ceo", agents=agents)
    opened: list[Team] = []

    def factory() -> Team:
        opened.append(open_team(str(root), clock=clock))
        return opened[-1]

    yield factory
    for team in opened:
        team.close()


@contextmanager
def sqlite_factory(folder: Path, clock: FakeClock) -> Iterator[TeamFactory]:
    """Each call opens the same database file anew."""
    with _database(str(folder / "team.db"), clock) as factory:
        yield factory


@contextmanager
def postgresql_factory(folder: Path, clock: FakeClock) -> Iterator[TeamFactory]:
    """Each call opens the same new database of a real server anew."""
    with _database(empty_postgresql(), clock) as factory:
        yield factory


@contextmanager
def _database(location: str, clock: FakeClock) -> Iterator[TeamFactory]:
    from team_console.store.backends.open import open_team
    from team_console.store.backends.sql.open import create_database

    members = "".join(f"- {{name: {name}, role: {'master' if name == 'ceo' else 'member'}}}\n" for name in NAMES)
    create_database(location, f"team: sprint-42\nlead: ceo\nagents:\n{members}")
    opened: list[Team] = []

    def factory() -> Team:
        opened.append(open_team(location, clock=clock))
        return opened[-1]

    yield factory
    for team in opened:
        team.close()


FACTORIES: Mapping[str, Any] = {
    "memory": memory_factory,
    "yaml": yaml_factory,
    "sqlite": sqlite_factory,
    "postgresql": postgresql_factory,
}


def put(team: Team, *messages: Message, wait: float = 2.0) -> None:
    """Add messages in one transaction."""
    with team.transaction(actor="ceo", action="send", wait=wait) as tx:
        for message in messages:
            tx.add(message)
        tx.record("send", ids=[message.message_id for message in messages])


def ids(team: Team) -> list[str]:
    """Ids of the live messages, in stored order."""
    return [message.message_id for message in team.snapshot().messages]
