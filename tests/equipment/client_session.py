"""A client that behaves like a real one: it starts its hook for each event, and its own dialog stands beside it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from team_console.store.backends.open import open_team
from team_console.store.service.waiting import announce_presence

from tests.equipment.command_line import clean_environment, started

_DATA = Path(__file__).parents[1] / "proofs" / "clients" / "data" / "hook_inputs.json"
CAPTURED: Mapping[str, Mapping[str, Any]] = json.loads(_DATA.read_text(encoding="utf-8"))
"""Events of the real programs, with neutral paths and names."""
WAIT = 180.0
"""Seconds after which what was expected counts as missing."""


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

    def close(self) -> None:
        """Kill what it started and did not end."""
        for process in self.waiting:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None and not stream.closed:
                    stream.close()


@contextmanager
def at_console(location: str) -> Iterator[None]:
    """A console is open as long as the block runs."""
    team = open_team(location)
    try:
        with announce_presence(team) as announced:
            assert announced
            yield
    finally:
        team.close()
