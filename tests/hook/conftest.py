"""A team, a session of one of its agents, and the human at its console."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.client_session import CAPTURED as CAPTURED
from tests.equipment.client_session import WAIT, at_console
from tests.equipment.client_session import Client as Client
from tests.equipment.client_session import Heard as Heard
from tests.equipment.command_line import CommandLine


@dataclass(frozen=True)
class Human:
    """The human, on the command line of the same team."""

    command: CommandLine

    def requests(self, *words: str) -> list[dict[str, Any]]:
        """What the ledger has, newest first."""
        listed: list[dict[str, Any]] = self.command.ok("requests", "--json", *words).json["requests"]
        return listed

    def asked(self, number: int = 1) -> list[dict[str, Any]]:
        """So many open requests, waited for."""
        return list(self.until(lambda: self.requests("--open"), lambda listed: len(listed) == number))

    def ended(self) -> dict[str, Any]:
        """The only request, once it is not open any more."""
        (request,) = self.until(
            self.requests, lambda listed: len(listed) == 1 and listed[0]["state"] not in ("open", "overdue")
        )
        return dict(request)

    @staticmethod
    def until(look: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
        """What is seen once it holds."""
        end = time.monotonic() + WAIT
        while not holds(seen := look()):
            assert time.monotonic() < end, seen
        return seen

    def at_console(self) -> AbstractContextManager[None]:
        """A console is open as long as the block runs."""
        return at_console(str(self.command.folder))


@pytest.fixture
def office(make_team: Callable[..., CommandLine]) -> CommandLine:
    """The command line in a team of `ceo` with the agents `alice` and `ben`."""
    return make_team("alice", "ben")


@pytest.fixture
def human(office: CommandLine) -> Human:
    return Human(office)


@pytest.fixture
def client(office: CommandLine, tmp_path: Path) -> Iterator[Client]:
    """A session of `alice`; what it started and did not end is killed."""
    client = Client(office.folder, tmp_path / "state")
    yield client
    client.close()


def session_files(client: Client) -> Path:
    """The folder of what the session's events left on this machine."""
    (folder,) = (client.state / "team-console" / "sessions").iterdir()
    return folder
