"""`team-console send` as a whole process, against a bare Python start and ClawTeam's `inbox send`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter

from tests.proofs.benchmarks.data import AGENTS, letter, letters, write_team
from tests.proofs.benchmarks.peers import ROOT
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import take_turns
from tests.proofs.benchmarks.table import Table, ratio, spread
from tests.proofs.benchmarks.targets import Targets

_BARE = "python -I -c pass"
_VERSION = "team-console --version"
_LIMITS = {100: 95.0, 10_000: 110.0, 100_000: 300.0}
"""Size of the queue -> milliseconds a send may take at most."""
_OURS = "team-console send, {:,} messages"


def processes(run: Run) -> list[Table]:
    """Wall time from start to exit in ms, median (10th-90th percentile)."""
    contestants = {_BARE: _timed((sys.executable, "-I", "-c", "pass")), _VERSION: _timed((*command(), "--version"))}
    for size in run.sizes:
        contestants[_OURS.format(size)] = _ours(run.folder / f"processes-{size}", size)
    if run.peers.clawteam is not None:
        contestants["clawteam inbox send"] = _clawteam(run.peers.clawteam, run.folder / "clawteam")
    results = take_turns(contestants, rounds=run.rounds(24), budget=run.budget)
    table = Table("Send one message from a shell (ms)", ("process", "wall time", "ratio to team-console"))
    ours = results[_OURS.format(run.sizes[0])].median
    for name, some in results.items():
        table.add(name, spread(some.times(1e3)), ratio(some.median, ours))
    bare = results[_BARE].median
    targets = Targets("Processes beside their limits, by the clock", bare * 1e3)
    for size, limit in _LIMITS.items():
        if size in run.sizes:
            targets.add(f"send, {size:,} messages", results[_OURS.format(size)].median * 1e3, limit, "ms")
    targets.add("--version", results[_VERSION].median / bare, 1.3, "x bare Python")
    table.notes.append(
        "team-console locks, reads the queue, checks name, id and permission, syncs three times and writes an audit "
        "line; ClawTeam writes two files and syncs nothing."
    )
    if run.peers.clawteam is None:
        table.notes.append("LEFT OUT because not installed (run with --set-up): clawteam.")
    return [table, targets.table]


def command() -> tuple[str, ...]:
    """How to start team-console: the installed command where there is one, else the package."""
    script = Path(sys.executable).with_name("team-console")
    return (str(script),) if script.exists() else (sys.executable, "-m", "team_console.console")


def environment(**more: str) -> dict[str, str]:
    """What a shell would give, without settings that change what is measured."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TEAM_CONSOLE", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def _ours(folder: Path, size: int) -> Callable[[], float]:
    write_team(folder, letters(size))
    numbers = count(size)

    def measure() -> float:
        toast = letter(next(numbers))
        words = ("-t", str(folder), "send", "--to", toast.to, "--summary", toast.summary, "--content", toast.content[0])
        return _timed((*command(), *words, "--as", toast.sender))()

    return measure


def _clawteam(program: Path, folder: Path) -> Callable[[], float]:
    words = (str(program), "--data-dir", str(folder))
    sender, recipient = AGENTS[:2]
    identity = {"CLAWTEAM_AGENT_NAME": sender, "CLAWTEAM_AGENT_ID": sender, "CLAWTEAM_AGENT_TYPE": "leader"}
    _timed((*words, "team", "spawn-team", "bench", "--agent-name", sender), environment(**identity))()
    toast = letter(1)
    send = (*words, "inbox", "send", "bench", recipient, toast.content[0], "--from", sender)
    return _timed(send, environment(**identity))


def _timed(words: Sequence[str], surroundings: Mapping[str, str] | None = None) -> Callable[[], float]:
    def measure() -> float:
        start = perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, env=surroundings or environment())
        seconds = perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} failed: {done.stderr.strip() or done.stdout.strip()}")
        return seconds

    return measure
