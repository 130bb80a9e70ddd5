"""What agents feel on long queues, each figure with its limit: slices of the lock, waiters, and a large archive."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send

from tests.proofs.benchmarks.bulk import READER, aged, cost, waiting
from tests.proofs.benchmarks.data import AGENTS, LEAD, Letter, letter, letters, quiet, write_queue, write_team
from tests.proofs.benchmarks.process import processor_seconds
from tests.proofs.benchmarks.processes import command, environment
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.table import Table
from tests.proofs.benchmarks.targets import Targets

_LOCKED = 2.0
"""Seconds for which no verb may hold the lock at once."""
_GIGABYTE = 1_000_000_000


def agents(run: Run) -> Iterator[Table]:
    """Three tables; each row says whether it is met."""
    yield _slices(run)
    yield _waiters(run)
    yield _archive(run)


def _slices(run: Run) -> Table:
    """Verbs that work through a whole queue, as cold processes: wall time, and how long others had to wait."""
    size, few = (2_000, 500) if run.quick else (100_000, 5_000)
    targets = Targets(f"Everything at once, of {size:,} messages")
    cases: tuple[tuple[str, int, Sequence[str], Callable[[Letter], Letter], float], ...] = (
        ("deliver, everything due", size, ("deliver",), lambda toast: waiting(toast, _in_turn(toast)), 20.0),
        ("receive, half of it for me", size, ("receive", "--agent", READER), _every_other, 15.0),
        ("clear", few, ("clear", "--older-than-days", "0"), lambda toast: replace(toast, status="read"), 1.0),
    )
    for name, count, words, make, limit in cases:
        seconds, longest = _once(run.folder / "slices", count, words, make)
        targets.add(f"{name}: {count:,} messages", seconds, limit, "s")
        targets.add(f"{name}: the longest the lock was held", longest, _LOCKED, "s")
    return targets.table


def _once(folder: Path, count: int, words: Sequence[str], make: Callable[[Letter], Letter]) -> tuple[float, float]:
    """Wall seconds of the verb, and the longest it held the lock."""
    write_team(folder, map(make, aged(count)))
    result = folder / "result.json"
    program = (sys.executable, "-m", "tests.proofs.benchmarks.lock_times", str(result), "-t", str(folder), *words)
    seconds = cost(program).wall / 1e3
    longest = json.loads(result.read_text())["longest"]
    shutil.rmtree(folder)
    return seconds, longest


def _in_turn(toast: Letter) -> str:
    return AGENTS[toast.number % len(AGENTS)]


def _every_other(toast: Letter) -> Letter:
    return waiting(toast, READER if toast.number % 2 else AGENTS[5])


def _waiters(run: Run) -> Table:
    """Agents that wait for messages while nothing comes, and while messages for others come."""
    size, crew, seconds, foreign = (500, 4, 1.0, 5) if run.quick else (10_000, 32, 10.0, 40)
    folder = run.folder / "waiters"
    write_team(folder, quiet(size))
    caller = Caller(open_team(str(folder)), LEAD)
    send(caller, to=AGENTS[0], summary="One write of our own", content="Hello")
    targets = Targets(f"{crew} agents that wait beside {size:,} messages, none for them")
    words = (*command(), "-t", str(folder), "receive", "--wait", "600", "--agent", LEAD)
    pids = [os.posix_spawn(words[0], list(words), environment(), file_actions=_SILENT) for _ in range(crew)]
    try:
        _until_at_rest(pids)
        before = _spent(pids)
        time.sleep(seconds)
        after, begin = _spent(pids), time.monotonic()
        idle = (after - before) / seconds
        targets.add("idle, all of them", idle * 100, _IDLE * 100, "% of a core")
        for number in range(foreign):
            send(caller, to=AGENTS[number % 5], summary="A word for somebody else", content="Hello")
            time.sleep(0.05)
        _until_at_rest(pids)
        each = (_spent(pids) - after - idle * (time.monotonic() - begin)) / foreign / crew * 1e3
        targets.add("a message for somebody else, each of them, beyond a rest", each, 1.0, "ms")
    finally:
        for pid in pids:
            os.kill(pid, 15)
            os.waitpid(pid, 0)
        caller.team.close()
    return targets.table


_IDLE = 0.02
"""Part of a core that all who wait may use together while nothing comes."""
_SILENT = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]


def _spent(pids: Sequence[int]) -> float:
    return sum(map(processor_seconds, pids))


def _until_at_rest(pids: Sequence[int], patience: float = 60.0) -> None:
    """Until half a second costs all of them no more than what they may use while nothing happens."""
    end, pause = time.monotonic() + patience, 0.5
    before = float("-inf")
    while (now := _spent(pids)) - before > _IDLE * pause and time.monotonic() < end:
        before = now
        time.sleep(pause)


def _archive(run: Run) -> Table:
    """Memory of a look at a team whose archive is far larger than its queue."""
    folder, size = run.folder / "archive", 10_000_000 if run.quick else _GIGABYTE
    write_team(folder, letters(100), archived=100)
    block = folder / "block.yaml"
    write_queue(block, (replace(letter(number, to=READER), status="read") for number in range(1_000, 11_000)))
    entries = block.read_bytes().partition(b"\n")[2]
    with (folder / "archive" / f"{READER}-archive.yaml").open("ab") as file:
        for _ in range(size // len(entries)):
            file.write(entries)
    targets = Targets(f"Beside an archive of {size / _GIGABYTE:g} GB")
    for verb in ("status", "requests"):
        used = cost((*command(), "-t", str(folder), verb, "--json")).megabytes
        targets.add(f"{verb}, memory", used, 60.0, "MB")
    shutil.rmtree(folder)
    return targets.table
