"""A client that behaves like a real one: it starts its hook for each event, and its own dialog stands beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service.waiting import announce_presence

from tests.equipment.command_line import CommandLine, clean_environment, started
from tests.equipment.scripts import CAPTURED as CAPTURED

WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What a client hears from its hook."""

    status: int
    out: str
    err: str = ""

    @property
    def reply(self) -> Any:
        """The answer; None for none."""
        return json.loads(self.out) if self.out else None

    @property
    def decision(self) -> Any:
        """What was decided on a permission."""
        return self.reply["hookSpecificOutput"]["decision"]

    @property
    def context(self) -> str:
        """What the model is told beside its work."""
        words: str = self.reply["hookSpecificOutput"]["additionalContext"]
        return words


@dataclass
class Client:
    """One session of a client, with hooks of one member in its settings."""

    folder: Path
    state: Path
    member: str = "alice"
    session: str = "11111111-2222-3333-4444-555555555555"
    location: str = ""
    options: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)
    waiting: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def event(self, name: str, **changes: Any) -> dict[str, Any]:
        """A captured event, of this session; None takes a field away."""
        event = {**CAPTURED[name], "session_id": self.session, "cwd": str(self.folder), **changes}
        return {key: value for key, value in event.items() if value is not None}

    def begin(self, name: str, *words: str, **changes: Any) -> subprocess.Popen[bytes]:
        """Start the hook for an event and go on."""
        return self.begin_with(json.dumps(self.event(name, **changes)), *words)

    def begin_with(self, event: str, *words: str) -> subprocess.Popen[bytes]:
        """Start the hook for an event in JSON and go on."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        arguments = ("hook", *self.options, *words)
        process = started(*arguments, folder=self.folder, environment=self.environment, **pipes)
        assert process.stdin is not None
        process.stdin.write(event.encode())
        process.stdin.close()
        process.stdin = None
        self.waiting.append(process)
        return process

    def tell(self, name: str, *words: str, **changes: Any) -> Heard:
        """Let the hook answer an event."""
        return self.end(self.begin(name, *words, **changes))

    def end(self, process: subprocess.Popen[bytes]) -> Heard:
        """Wait until a hook has ended."""
        out, err = process.communicate(timeout=WAIT)
        return Heard(process.returncode, out.decode(), err.decode())

    @property
    def environment(self) -> dict[str, str]:
        """As the settings' command line sets it."""
        location = self.location or str(self.folder)
        identity = {"TEAM_CONSOLE_AS": self.member, "TEAM_CONSOLE_TEAM": location}
        return clean_environment(
            XDG_STATE_HOME=str(self.state), **self.extra, **{key: value for key, value in identity.items() if value}
        )

    def escape(self, process: subprocess.Popen[bytes]) -> Heard:
        """Dismiss the dialog: the client ends its hook."""
        process.send_signal(signal.SIGTERM)
        return self.end(process)


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

    @contextmanager
    def at_console(self) -> Iterator[None]:
        """A console is open as long as the block runs."""
        team = open_team(str(self.command.folder))
        try:
            with announce_presence(team) as announced:
                assert announced
                yield
        finally:
            team.close()


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
    for process in client.waiting:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()


def session_files(client: Client) -> Path:
    """The folder of what the session's events left on this machine."""
    (folder,) = (client.state / "team-console" / "sessions").iterdir()
    return folder


def wait_for_file(folder: Path, prefix: str) -> None:
    """Until a file of this name is there: the hook has asked and waits."""
    Human.until(lambda: [name for name in os.listdir(folder) if name.startswith(prefix)], bool)
