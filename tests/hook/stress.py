"""Many permission requests at once, with hooks and consoles killed in the middle: each verdict at its own request.

Every request carries a number. The human allows even ones and refuses odd ones with the number in the reason, so that a
verdict at the wrong request is seen in what the hook printed. Of the hooks that are killed, half die at some moment
after their start, and half while they certainly wait: when the human sees what they ask.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.protocol.client_requests import permission_of
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve, reject
from team_console.store.service.sessions import open_requests

from tests.equipment.command_line import COMMAND, CommandLine, clean_environment, started
from tests.equipment.terminal import Terminal, console

PATIENCE = 60.0
"""Seconds that are given to what must happen by itself."""
_NEW_INTERPRETER = 10
"""Of so many hooks one is started as a client starts it."""


_PROCESSES = 4
_KILLED = 0.25
"""Share of the hooks that are killed."""


@dataclass
class Findings:
    """What came of it; everything but the counts must be empty."""

    asked: int = 0
    allowed: int = 0
    refused: int = 0
    killed: int = 0
    waited: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        killed = f"{self.killed} killed ({self.waited} while they waited)"
        return f"{self.asked} asked: {self.allowed} allowed, {self.refused} refused, {killed}"


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Ask so many requests; yield each answer that was lost, came to the wrong one, or never came."""
    office = CommandLine(folder / "team")
    office.folder.mkdir(parents=True)
    members = [word for number in range(_PROCESSES) for word in ("--agent", f"agent-{number}")]
    office.ok("init", ".", "--name", "stress", "--lead", "ceo", *members)
    findings, hooks = Findings(), Hooks()
    with _consoles(office.folder), _human(office.folder, hooks):
        with ThreadPoolExecutor(_PROCESSES) as pool:
            shares = [range(number, count, _PROCESSES) for number in range(_PROCESSES)]
            for worker in [pool.submit(_ask, office.folder, share, seed, hooks, findings) for share in shares]:
                worker.result()
        findings.open += _left_open(office.folder)
    findings.waited = hooks.killed_waiting
    _judge(office, findings)
    print(findings, flush=True)
    for kind, cases in (("lost", findings.lost), ("at the wrong one", findings.wrong), ("left open", findings.open)):
        yield from (f"{kind}: {case}" for case in cases)
    if not findings.killed > findings.waited > 0 or findings.allowed + findings.refused + findings.killed != count:
        yield f"too little happened for a proof: {findings}"


class Hooks:
    """Hooks that are to be killed while they wait, by the number of what they ask."""

    def __init__(self) -> None:
        self.doomed: dict[int, subprocess.Popen[bytes]] = {}
        self.killed_waiting = 0

    def kill(self, number: int) -> bool:
        """Kill the hook that asks this if it is one of them."""
        process = self.doomed.pop(number, None)
        if process is None:
            return False
        process.send_signal(signal.SIGKILL)
        self.killed_waiting += 1
        return True


def _ask(folder: Path, numbers: range, seed: int, hooks: Hooks, findings: Findings) -> None:
    """One agent asks one thing after the other; some of its hooks are killed while they wait."""
    chance = random.Random(f"{seed} {numbers.start}")
    environment = clean_environment(
        TEAM_CONSOLE_AS=f"agent-{numbers.start}",
        TEAM_CONSOLE_TEAM=str(folder),
        XDG_STATE_HOME=str(folder.parent / "state"),
        TEAM_CONSOLE_DEBUG="1",
    )
    for number in numbers:
        dies, waits = chance.random() < _KILLED, chance.random() < 0.5
        after = chance.uniform(0.05, 1.5)
        said = _hook(environment, number, after if dies and not waits else None, hooks if dies and waits else None)
        _compare(number, *said, dies, findings)
        findings.asked += 1


def _hook(
    environment: dict[str, str], number: int, dies_after: float | None, doomed: Hooks | None
) -> tuple[bytes, bytes]:
    """What it printed, and what it complained of."""
    event = {
        "hook_event_name": "PermissionRequest",
        "session_id": f"session-{number}",
        "cwd": "/",
        "tool_name": "Bash",
        "tool_input": {"command": f"run {number}"},
    }
    with _started(environment, number) as process:
        if doomed is not None:
            doomed.doomed[number] = process
        try:
            return process.communicate(json.dumps(event).encode(), timeout=dies_after or PATIENCE * 5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return process.communicate()


def _started(environment: dict[str, str], number: int) -> subprocess.Popen[bytes]:
    """One hook: each is a process of its own; every tenth is a new interpreter, the others are forked from one.

    The start of an interpreter is half of what a hook costs, and is the same in each: it would be most of the run.
    """
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if number % _NEW_INTERPRETER == 0:
        return subprocess.Popen([*COMMAND, "hook"], env=environment, **options)
    return started("hook", folder=Path("/"), environment=environment, **options)


def _compare(number: int, out: bytes, complaint: bytes, dies: bool, findings: Findings) -> None:
    """What the hook said must be what the human said to this very number."""
    if not out:
        findings.killed += dies
        if not dies:
            findings.lost.append(f"run {number} {complaint.decode()[-300:]}")
        return
    decision = json.loads(out)["hookSpecificOutput"]["decision"]
    expected = {"behavior": "allow"} if number % 2 == 0 else {"behavior": "deny", "message": f"no {number}"}
    if {key: decision.get(key) for key in expected} != expected:
        findings.wrong.append(f"run {number}: {decision}")
    findings.allowed += decision["behavior"] == "allow"
    findings.refused += decision["behavior"] == "deny"


@contextmanager
def _human(folder: Path, hooks: Hooks) -> Iterator[None]:
    """Answers whatever is asked until the block ends."""
    over = threading.Event()
    human = threading.Thread(target=_decide, args=(folder, over, hooks))
    human.start()
    try:
        yield
    finally:
        over.set()
        human.join()


def _decide(folder: Path, over: threading.Event, hooks: Hooks) -> None:
    team, dead = open_team(str(folder)), set[str]()
    while not over.is_set():
        for request_id, question in open_requests(team.snapshot()).items():
            number = int(permission_of(question.payload).input["command"].split()[1])
            if request_id in dead or hooks.kill(number):
                dead.add(request_id)  # a console, or another hook, finds out that nobody waits for an answer
                continue
            with suppress(TeamError):  # its hook was killed meanwhile
                _answer(team, request_id, number)
        over.wait(0.02)
    team.close()


def _answer(team: Team, request_id: str, number: int) -> None:
    if number % 2 == 0:
        approve(Caller(team, "ceo"), request_id=request_id)
    else:
        reject(Caller(team, "ceo"), request_id=request_id, reason=f"no {number}")


@contextmanager
def _consoles(folder: Path) -> Iterator[None]:
    """Two consoles, of which one is killed and opened again every two seconds; the other is there meanwhile."""
    over = threading.Event()
    open_now = [_opened(folder), _opened(folder)]

    def kill() -> None:
        for place in itertools.cycle((0, 1)):
            if over.wait(2.0):
                return
            open_now[place].signal(signal.SIGKILL)
            open_now[place].end()
            open_now[place] = _opened(folder)

    with ThreadPoolExecutor() as threads:
        at_work = [threads.submit(kill), threads.submit(_drain, open_now, over)]
        try:
            yield
        finally:
            over.set()
            wait(at_work)
            for terminal in open_now:
                terminal.end()
    for work in at_work:
        work.result()  # one that broke off tested nothing


def _opened(folder: Path) -> Terminal:
    terminal = console(folder)
    terminal.wait_for("Needs you", seconds=PATIENCE)
    return terminal


def _drain(terminals: list[Terminal], over: threading.Event) -> None:
    """A terminal that nobody reads would stop its console; what stands on it matters to nobody here."""
    while not over.wait(0.05):
        for terminal in list(terminals):
            with suppress(OSError, ValueError):
                while select.select([terminal.fd], [], [], 0)[0] and os.read(terminal.fd, 1 << 16):
                    pass


def _left_open(folder: Path) -> list[str]:
    """What stays open after all who asked have ended; the consoles have some time to see it."""
    team, end = open_team(str(folder)), time.monotonic() + PATIENCE
    while (left := open_requests(team.snapshot())) and time.monotonic() < end:
        time.sleep(0.2)
    team.close()
    return list(left)


def _judge(office: CommandLine, findings: Findings) -> None:
    """The ledger tells the same: no request of a number twice, and none approved that was to be refused."""
    rows = office.ok("requests --json").json["requests"]
    findings.open += [row["request_id"] for row in rows if row["state"] in ("open", "overdue")]
    titles = [row["title"] for row in rows]
    findings.wrong += [f"{title} stands there twice" for title in set(titles) if titles.count(title) > 1]
    for row in rows:
        number = int(row["title"].split()[-1])
        if row["state"] == ("rejected" if number % 2 == 0 else "approved"):
            findings.wrong.append(f"run {number} is {row['state']}")
