"""What every test of a team needs: messages to put in, and a way to make each kind of team."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from team_console.store.contract.team import Team
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, new_record
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.postgresql import new_location

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


def team_of(*members: Agent, **more: Any) -> TeamConfig:
    """The settings of a team of these members, led by `ceo`, and further ones."""
    agents = {agent.name: agent for agent in (Agent("ceo", role="master"), *members)}
    given = {"name": "sprint-42", "lead": "ceo", "declared": True, **more}
    return TeamConfig(**given, agents=MappingProxyType(agents))


def config() -> TeamConfig:
    """The team of the tests: a lead and three members."""
    return team_of(*map(Agent, NAMES[1:]))


def made_at(location: str, settings: TeamConfig) -> str:
    """Make a new team there; return the location."""
    from team_console.store.service.migration import open_target

    open_target(location, settings).close()
    return location


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
def stored_factory(kind: str, folder: Path, clock: FakeClock) -> Iterator[TeamFactory]:
    """Each call opens the same new team on this kind of store anew, as another process would."""
    from team_console.store.backends.open import open_team

    location = made_at(new_location(kind, folder), config())
    opened: list[Team] = []

    def factory() -> Team:
        opened.append(open_team(location, clock=clock))
        return opened[-1]

    yield factory
    for team in opened:
        team.close()


STORES = ("yaml", "sqlite", "postgresql")
FACTORIES: Mapping[str, Any] = {"memory": memory_factory, **{kind: partial(stored_factory, kind) for kind in STORES}}


def put(team: Team, *messages: Message, wait: float = 2.0) -> None:
    """Add messages in one transaction."""
    with team.transaction(actor="ceo", action="send", wait=wait) as tx:
        for message in messages:
            tx.add(message)
        tx.record("send", ids=[message.message_id for message in messages])


def ids(team: Team) -> list[str]:
    """Ids of the live messages, in stored order."""
    return [message.message_id for message in team.snapshot().messages]
