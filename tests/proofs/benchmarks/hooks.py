"""Hooks of real agents' clients: what an event costs that needs nothing, and how soon a verdict is printed."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter

from team_console.console.agents.session_files import note_run
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve
from team_console.store.service.sessions import open_requests
from team_console.store.service.waiting import announce_presence

from tests.proofs.benchmarks.data import AGENTS, LEAD, quiet, write_team
from tests.proofs.benchmarks.processes import command, environment
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples, take_turns
from tests.proofs.benchmarks.table import Table, number, ratio, spread

_BARE = "python -I -c pass"
_USED = "a tool was used, nothing waits"
_RECORDED = "of which keeping what the agent ran"
_COSTS = 3.0
"""How many bare starts an event may cost that needs nothing."""
_SOON = 0.150
"""Seconds within which a verdict is printed, in 95 of 100 cases."""
_SIZES = (1_000, 10_000)
_EVENTS: Mapping[str, Mapping[str, object]] = {
    _USED: {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}},
    "a permission is asked for, nobody is there": {
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    },
    "an event of no interest": {"hook_event_name": "Notification"},
}


def hooks(run: Run) -> list[Table]:
    """Two tables for each size of the queue: the cost of what needs nothing, and the way of a verdict."""
    tables = []
    for size in _SIZES[:1] if run.quick else _SIZES:
        folder = run.folder / f"hooks-{size}"
        write_team(folder, quiet(size))
        tables += [_costs(run, folder, size), _verdicts(run, folder, size)]
    return tables


def _costs(run: Run, folder: Path, size: int) -> Table:
    _heard(folder, {"hook_event_name": "SessionStart"})  # leaves what the later events look at
    contestants: dict[str, Callable[[], float]] = {_BARE: _timed((sys.executable, "-I", "-c", "pass"), b"", folder)}
    for name, event in _EVENTS.items():
        contestants[name] = _timed((*command(), "hook"), _event(event), folder)
    results = take_turns(contestants, rounds=run.rounds(80), budget=run.budget)
    table = Table("An event that needs nothing (ms)", ("event", "wall time", "bare starts", "target"))
    bare = results.pop(_BARE)
    table.add(_BARE, spread(bare.times(1e3)), "1x", "")
    for name, some in results.items():
        kept = some.median <= _COSTS * bare.median
        table.add(name, spread(some.times(1e3)), ratio(some.median, bare.median), _target(f"{_COSTS:g}x", kept))
    recorded = _recording(run)
    table.add(_RECORDED, spread(recorded.times(1e3)), ratio(recorded.median, bare.median), "")
    table.notes.append(f"A queue of {size:,} messages. What an agent ran is recorded in the first of these events.")
    return table


def _target(most: str, kept: bool) -> str:
    """A limit, and whether it was kept in this run."""
    return f"at most {most}: {'kept' if kept else 'MISSED'}"


def _recording(run: Run) -> Samples:
    """Seconds that one more line in the record of what an agent ran takes, inside its process."""
    event: dict[str, object] = {**_EVENTS[_USED], "tool_input": {"command": "make test"}, "tool_response": {"exit": 0}}
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(run.folder / "hooks-state")
    try:
        return Samples(tuple(_recorded(event) for _ in range(run.rounds(2_000))))
    finally:
        del os.environ["XDG_STATE_HOME"]
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before


def _recorded(event: dict[str, object]) -> float:
    start = perf_counter()
    note_run(event, session="bench-record", agent=AGENTS[0], location="/")
    return perf_counter() - start


def _verdicts(run: Run, folder: Path, size: int) -> Table:
    team = open_team(str(folder))
    with announce_presence(team):
        some = Samples(tuple(_verdict(team, folder) for _ in range(run.rounds(100))))
    team.close()
    columns = ("from the end of the write to the hook's output, ms", "p50", "p95", "worst", "target")
    table = Table(f"A verdict reaches its client, {len(some.values)} of them", columns)
    figures = (some.median, some.quantile(95), max(some.values))
    kept = _target(f"{_SOON * 1e3:g} ms at p95", figures[1] <= _SOON)
    table.add("approved", *(number(figure * 1e3) for figure in figures), kept)
    table.notes.append(f"A queue of {size:,} messages.")
    return table


_numbers = count(1)


def _verdict(team: Team, folder: Path) -> float:
    """Seconds from the return of the approval until the hook has printed it."""
    with subprocess.Popen(
        (*command(), "hook"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_identity(folder)
    ) as hook:
        assert hook.stdin is not None
        assert hook.stdout is not None
        asked = {**_EVENTS["a permission is asked for, nobody is there"], "session_id": f"s-{next(_numbers)}"}
        hook.stdin.write(_event(asked))
        hook.stdin.close()
        end = monotonic() + 30.0
        while not (open_now := open_requests(team.snapshot())) and monotonic() < end:
            select.select([], [], [], 0.02)
        select.select([], [], [], 0.3)  # until the hook waits, as it does when a human reads
        approve(Caller(team, LEAD), request_id=next(iter(open_now)))
        start = perf_counter()
        os.read(hook.stdout.fileno(), 1)
        return perf_counter() - start


def _event(event: Mapping[str, object]) -> bytes:
    return json.dumps({"session_id": "bench", "cwd": "/", **event}).encode()


def _identity(folder: Path) -> dict[str, str]:
    state = folder.parent / "hooks-state"
    return environment(TEAM_CONSOLE_AS=AGENTS[0], TEAM_CONSOLE_TEAM=str(folder), XDG_STATE_HOME=str(state))


def _heard(folder: Path, event: dict[str, object]) -> None:
    subprocess.run((*command(), "hook"), input=_event(event), env=_identity(folder), capture_output=True, check=True)


def _timed(words: tuple[str, ...], data: bytes, folder: Path) -> Callable[[], float]:
    surroundings = _identity(folder)

    def measure() -> float:
        start = perf_counter()
        done = subprocess.run(words, input=data, capture_output=True, env=surroundings, check=True)
        seconds = perf_counter() - start
        if done.stdout:
            raise RuntimeError(f"the hook said something: {done.stdout!r}")
        return seconds

    return measure
