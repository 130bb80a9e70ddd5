"""The process that keeps the demo going: it starts agents, runs the router, and clears up when its parent is gone.

`python -m team_console.console.demo.supervisor FOLDER SEED SPEED keep|remove`; its life ends with standard input.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from team_console.console.demo.agent_process import ROLES
from team_console.console.demo.member_out_of_reach import Router
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.parsing import reading

_LOOK_EVERY = 0.2
_PATIENCE = 3.0
LOG = "agents.log"
"""Beside the team's folder: what the agents had to complain about."""


def team_folder(folder: Path) -> Path:
    """Where in the demo's folder the team is."""
    return folder / "team"


class Supervisor:
    """The agents' processes and what the world around them does."""

    def __init__(self, folder: Path, *, seed: int, speed: float) -> None:
        self.folder = folder
        self.location = str(team_folder(folder))
        self.seed = seed
        self.speed = speed
        self.team: Team = open_team(self.location)
        self.router = Router(self.team)
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        self._log = (folder / LOG).open("ab")
        self._seen = ""

    def run(self) -> None:
        """Play until standard input ends."""
        for name in ROLES:
            self.start(name)
        while not select.select([sys.stdin], [], [], _LOOK_EVERY)[0]:
            for process in self.agents.values():
                process.poll()
            with suppress(TeamError):
                self.look()
                self.router.round()

    def look(self) -> None:
        """Start the temporary agents that the lead created since the last look."""
        snapshot = self.team.snapshot()
        if snapshot.revision == self._seen:
            return
        self._seen = snapshot.revision
        for message in snapshot.messages:
            name = created_agent(message, self.team.config().lead)
            if name is not None and name not in self.agents:
                self.start(name)

    def start(self, name: str) -> None:
        """Start one agent; the pipe to its standard input is its tie to this process."""
        command = [
            sys.executable,
            "-P",
            "-m",
            "team_console.console.demo.agent_process",
            name,
            self.location,
            str(self.seed),
            str(self.speed),
        ]
        self.agents[name] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._log, env=environment()
        )

    def stop(self) -> None:
        """End every agent: first by closing its pipe, then by asking, at last by force."""
        for process in self.agents.values():
            if process.stdin is not None:
                process.stdin.close()
        end = time.monotonic() + _PATIENCE
        for process in self.agents.values():
            _wait(process, end - time.monotonic())
        for process in self.agents.values():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.team.close()
        self._log.close()


def created_agent(message: Message, lead: str) -> str | None:
    """The temporary agent that this message brings into being."""
    if message.sender != lead:
        return None
    read = reading(message)
    name = read.body.get("agent_name") if read.name == "AGENT_CREATED" else None
    return name if isinstance(name, str) else None


def environment() -> dict[str, str]:
    """The environment of a child: it finds this very code, whatever folder it is started in."""
    code = str(Path(__file__).resolve().parents[2])
    paths = [code, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(max(0.05, seconds))
    except subprocess.TimeoutExpired:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.3)


def main(arguments: list[str]) -> int:
    """Play in the folder given; remove it afterwards unless it is to be kept."""
    folder, seed, speed, keep = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervisor = Supervisor(Path(folder), seed=int(seed), speed=float(speed))
    try:
        supervisor.run()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        supervisor.stop()
        if keep != "keep":
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
