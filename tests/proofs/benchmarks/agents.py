"""What agents feel: waiting, hook events that need nothing, how soon a verdict is printed and tools are there."""

from __future__ import annotations

import json
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter
from typing import Any

from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve
from team_console.store.service.sending import send
from team_console.store.service.sessions import open_requests
from team_console.store.service.waiting import announce_presence

from tests.equipment.cases import constant
from tests.mcp.answers import INITIALIZED, VERSIONS, greeting, request
from tests.proofs.benchmarks.data import AGENTS, LEAD, quiet, write_team
from tests.proofs.benchmarks.measure import (
    Figure,
    Run,
    bare,
    command,
    environment,
    percentile,
    processor_seconds,
    run_once,
    take_turns,
    talking,
)

_SIZE = 1_000
_EVENTS = constant(__file__, "EVENTS", dict[str, tuple[dict[str, Any], float]])
"""What happens -> the event, and how many bare starts its hook may take."""
_ASKS, _ = _EVENTS["a permission, with nobody at a console"]


def agents(run: Run) -> Iterator[Figure]:
    """The rows."""
    team = run.folder / "agents"
    write_team(team, quiet(_SIZE))
    yield from _waiting(run, team)
    yield from _woken(run, team)
    yield from _hooks(run, team)
    yield _tools(run, team)


def _waiting(run: Run, team: Path) -> Iterator[Figure]:
    seconds = 2.0 if run.is_quick else 10.0
    for crew, most in ((1, 0.25), (32, 6.0)):
        words = (*command(), "-t", str(team), "receive", "--agent", LEAD, "--wait", "600")
        waiters = [_started(words, run) for _ in range(crew)]
        try:
            _rest(waiters)
            before = sum(processor_seconds(waiter.pid) for waiter in waiters)
            time.sleep(seconds)
            used = sum(processor_seconds(waiter.pid) for waiter in waiters) - before
        finally:
            for waiter in waiters:
                waiter.terminate()
                waiter.wait()
        yield Figure(f"{crew} waiting beside {_SIZE:,} messages", 100 * used / seconds, most, "% of a core")


def _woken(run: Run, team: Path) -> Iterator[Figure]:
    caller, reader, took = Caller(open_team(str(team)), LEAD), AGENTS[3], list[float]()
    run_once((*command(), "-t", str(team), "receive", "--agent", reader), environment(run.folder))
    for turn in range(run.rounds(24)):
        waiter = _started((*command(), "-t", str(team), "receive", "--agent", reader, "--wait", "60"), run)
        _rest([waiter])
        send(caller, to=reader, summary=f"Word {turn}", content="Hello")
        start = perf_counter()
        waiter.wait()
        took.append((perf_counter() - start) * 1e3)
    caller.team.close()
    yield Figure("from a write until a waiting agent has its message", median(took), 150, "ms")


def _started(words: tuple[str, ...], run: Run) -> subprocess.Popen[bytes]:
    return subprocess.Popen(words, env=environment(run.folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _rest(waiters: list[subprocess.Popen[bytes]]) -> None:
    """Until half a second costs all of them nearly nothing."""
    before, end = float("-inf"), monotonic() + 60
    while monotonic() < end:
        time.sleep(0.5)
        now = sum(processor_seconds(waiter.pid) for waiter in waiters)
        if now - before < 0.002 * (1 + len(waiters)):
            return
        before = now


def _hooks(run: Run, team: Path) -> Iterator[Figure]:
    surroundings = environment(run.folder, TEAM_CONSOLE_AS=AGENTS[0], TEAM_CONSOLE_TEAM=str(team))
    hook = (*command(), "hook")
    run_once((*command(), "receive", "--agent", AGENTS[0]), surroundings)  # mail would be something to do
    run_once(hook, surroundings, _event({"hook_event_name": "SessionStart"}))  # leaves what later events look at

    def told(event: Mapping[str, object]) -> Callable[[], float]:
        return lambda: run_once(hook, surroundings, _event(event))

    events = {name: told(event) for name, (event, _) in _EVENTS.items()}
    took = take_turns({"bare": bare(run.folder), **events}, run.rounds(40))
    for name, (_, most) in _EVENTS.items():
        yield Figure(f"a hook event with nothing to do: {name}", took[name] / took["bare"], most, "x bare Python")
    opened = open_team(str(team))
    with announce_presence(opened):
        verdicts = [_verdict(opened, surroundings, turn) * 1e3 for turn in range(run.rounds(100))]
    opened.close()
    figure = percentile(verdicts, 95)
    yield Figure("verdict written until the hook has printed it, p95", figure, 150, "ms", f"p50 {median(verdicts):.0f}")


def _tools(run: Run, team: Path) -> Figure:
    surroundings = environment(run.folder, TEAM_CONSOLE_AS=AGENTS[0], TEAM_CONSOLE_TEAM=str(team))
    frames = (greeting(VERSIONS[-1]), INITIALIZED, request(2, "tools/list"))
    asks = "".join(f"{json.dumps(frame)}\n" for frame in frames).encode()

    def told() -> float:
        with talking((*command(), "mcp"), surroundings) as (said, heard):
            start = perf_counter()
            said.write(asks)
            said.flush()
            for _ in range(2):
                heard.readline()
            return perf_counter() - start

    took = take_turns({"bare": bare(run.folder), "mcp": told}, run.rounds(40))
    what = "mcp until initialize and tools/list are answered"
    return Figure(what, took["mcp"] / took["bare"], 10, "x bare Python")


def _verdict(team: Team, surroundings: Mapping[str, str], turn: int) -> float:
    """Seconds from the return of the approval until the hook has printed it."""
    with talking((*command(), "hook"), surroundings) as (said, heard):
        said.write(_event({**_ASKS, "session_id": f"s-{turn}"}))
        said.close()
        end = monotonic() + 30.0
        while not (found := open_requests(team.snapshot())) and monotonic() < end:
            select.select([], [], [], 0.02)
        select.select([], [], [], 0.3)  # until the hook waits, as it does when a human reads
        approve(Caller(team, LEAD), request_id=next(iter(found)))
        start = perf_counter()
        heard.read(1)
        return perf_counter() - start


def _event(event: Mapping[str, object]) -> bytes:
    return json.dumps({"session_id": "bench", "cwd": "/", **event}).encode()
