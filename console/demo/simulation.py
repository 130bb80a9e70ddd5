"""Opens the demo: a team in a temporary folder, its agents as processes, the console on it; and closes it again."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec import Struct
from team_console.console.demo import words
from team_console.console.demo.agent_process import ROLES
from team_console.console.demo.agents import GivenPast, make_team, write
from team_console.console.demo.member_out_of_reach import ABSENT, Router, command, seed_tries
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.clock import utc_now
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.parsing import parse_message
from team_console.store.settings.team_config import CONFIG_NAME, Agent

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
    read = parse_message(message)
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

AGENTS = (
    Agent(words.LEAD, role="master"),
    Agent("task-manager", plan_mode_required=True),
    Agent("schedule-manager"),
    Agent("file-manager"),
    Agent("knowledge-manager"),
    Agent(ABSENT),
    Agent("scrum-master", role="resident"),
    Agent("debugger", role="resident"),
    Agent("slave-batch-1", role="slave"),
    Agent("inspector-1", role="temp"),
    Agent("slave-batch-2", role="slave"),
)
_SIMULATION_PATIENCE = 8.0
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class Simulation(Struct, frozen=True):
    """How the demo is to run: same seed, same words; `speed` 2 is twice as fast."""

    seed: int
    speed: float
    keep: bool


@contextmanager
def simulation(how: Simulation) -> Iterator[Path]:
    """A running team; yields its folder. However the block is left, the agents end and the folder goes."""
    with _orderly_end():
        folder = Path(tempfile.mkdtemp(prefix="team-console-demo-"))
        supervisor: subprocess.Popen[bytes] | None = None
        try:
            build(folder)
            supervisor = _start(folder, how)
            yield team_folder(folder)
        finally:
            _close(folder, supervisor, how)


def build(folder: Path) -> None:
    """The team as the demo opens: its members, two days of archived talk, one delivery that failed."""
    root = team_folder(folder)
    make_team(root, name=words.TEAM, lead=words.LEAD, agents=AGENTS)
    _give_command(root, command(folder))
    past = GivenPast(utc_now())
    archived_talk(past, days=2)
    failed = past.say(
        *(12, "scrum-master", ABSENT, "review"),
        payload={
            "artifact_path": "specs/SPEC-030-reminders.md",
            "review_type": "specification",
            "summary": "SPEC-030 is ready for review",
        },
        priority="high",
        status="failed",
        attempts=4,
        retry_count=3,
        error_message="exit status 75: architect is in a meeting until the hour",
    )
    _first_decision(past)
    write(root, past)
    seed_tries(folder, [failed.message_id], 4)


def archived_talk(past: GivenPast, *, days: int) -> None:
    """Earlier talk, only in the archives."""
    for day in range(days, 0, -1):
        for number, (sender, to, summary, content) in enumerate(words.CHATTER):
            minutes = day * 1440 - number * 47
            past.note(minutes, sender, to, summary, content, read=minutes - 2, live=False)
            reply = words.REPLIES[to][day % len(words.REPLIES[to])]
            past.note(minutes - 4, to, sender, f"Re: {summary}"[:80], reply, read=minutes - 5, live=False)
        plan = words.PLANS[-day % len(words.PLANS)]
        asked = day * 1440 - 300
        request_id = past.request_id("plan_approval", asked, "task-manager", words.TEAM)
        question = {"request_id": request_id, "summary": plan.summary, "content": plan.content}
        past.say(
            asked, "task-manager", words.LEAD, "plan_approval_request", payload=question, read=asked - 5, live=False
        )
        answer = {"request_id": request_id, "approve": True}
        past.say(
            asked - 6, words.LEAD, "task-manager", "plan_approval_response", payload=answer, read=asked - 7, live=False
        )


def _first_decision(past: GivenPast) -> None:
    """A plan that was refused for a reason, and waits revised: what the human sees first is something to decide."""
    plan = words.PLANS[0]
    first = past.request_id("plan_approval", 6, "task-manager", words.TEAM)
    past.say(
        *(6, "task-manager", words.LEAD, "plan_approval_request"),
        payload={"request_id": first, "content": plan.content, "summary": plan.summary},
        priority="high",
        read=4,
    )
    past.say(
        *(4, words.LEAD, "task-manager", "plan_approval_response"),
        payload={"request_id": first, "approve": False, "content": words.FIRST_REASON, "summary": plan.summary},
        priority="high",
        read=3.9,
    )
    again = words.revised(plan, words.FIRST_REASON, 2)
    second = past.request_id("plan_approval", 1, "task-manager", words.TEAM)
    past.say(
        *(1, "task-manager", words.LEAD, "plan_approval_request"),
        payload={"request_id": second, "content": again.content, "summary": again.summary},
        priority="high",
    )


def _give_command(root: Path, arguments: list[str]) -> None:
    """Settings written by `init` name no commands; a JSON list is YAML as well."""
    path = root / CONFIG_NAME
    text = path.read_text(encoding="utf-8")
    entry = f"- name: {ABSENT}\n  role: member\n"
    path.write_text(text.replace(entry, f"{entry}  deliver: {json.dumps(arguments)}\n"), encoding="utf-8")


def wait(seconds: float) -> None:
    """Let the team play without a console."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 1.0))


def _start(folder: Path, how: Simulation) -> subprocess.Popen[bytes]:
    arguments = [str(folder), str(how.seed), str(how.speed), "keep" if how.keep else "remove"]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "team_console.console.demo.simulation", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )


def _close(folder: Path, supervisor: subprocess.Popen[bytes] | None, how: Simulation) -> None:
    """A second signal must not leave the agents or the folder behind, so nothing interrupts this."""
    for number in (*_ENDINGS, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if supervisor is not None:
        if supervisor.stdin is not None:
            with suppress(OSError):
                supervisor.stdin.close()
        try:
            supervisor.wait(_SIMULATION_PATIENCE)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()
    if not how.keep:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """SIGTERM and SIGHUP leave through the `finally` blocks, like Ctrl-C does."""
    before: dict[signal.Signals, Any] = {ending: signal.getsignal(ending) for ending in (*_ENDINGS, signal.SIGINT)}
    for number in _ENDINGS:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
