"""How soon a waiting program is told of a change on disk: our console and a blocked `receive`, beside `inotifywait`."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import perf_counter

from tests.proofs.benchmarks.clients import courier, environment
from tests.proofs.benchmarks.data import AGENTS, letter, quiet, write_team
from tests.proofs.benchmarks.process import wake_ups
from tests.proofs.benchmarks.processes import command
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples
from tests.proofs.benchmarks.table import Table, number

_SIZE = 1_000
READER = AGENTS[3]
_ASLEEP = 0.5


def waking(run: Run) -> Iterator[Table]:
    """From the end of a write until a process that was asleep has ended, with what it was asleep for."""
    rounds = run.rounds(40)
    columns = ("from the end of a write until a waiting process ended, ms", "p50", "p90", "worst")
    table = Table(f"Being woken, {rounds} messages in a queue of {_SIZE:,}", columns)
    folder = run.folder / "waking"
    write_team(folder, (replace(toast, status="read") for toast in quiet(_SIZE)))
    ours = (*command(), "-t", str(folder), "receive", "--agent", READER, "--wait", "60")
    waiters = {"team-console receive --wait": ours}
    if (program := shutil.which("inotifywait")) is not None:
        # The queue is replaced by a rename into its folder, so that is what to wait for.
        waiters["inotifywait"] = (program, "-q", "-q", "-e", "moved_to", "--include", "message-queue.yaml", str(folder))
    numbers = count(_SIZE)
    for name, words in waiters.items():
        some = Samples(tuple(_until_woken(folder, words, next(numbers)) for _ in range(rounds)))
        table.add(name, *(number(value) for value in (some.median, some.quantile(90), max(some.values))))
    table.notes.append("inotifywait only says that something changed; receive has read, archived and recorded it.")
    if program is None:
        table.notes.append("LEFT OUT because not installed (run with --set-up): inotifywait.")
    yield table


def _until_woken(folder: Path, words: tuple[str, ...], turn: int) -> float:
    send = courier(folder)
    surroundings = environment(folder.parent)
    with subprocess.Popen(words, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as waiter:
        _until_asleep(waiter.pid)
        send(letter(turn, to=READER, kind="message"))
        start = perf_counter()
        if waiter.wait():  # with a limit it would look for the end in steps of up to 50 ms
            raise RuntimeError(f"{' '.join(words)} ended with status {waiter.returncode}")
        return (perf_counter() - start) * 1e3


def _until_asleep(pid: int) -> None:
    """Give the process time to start, until it has not been awake for a while."""
    before, since, end = -1, perf_counter(), perf_counter() + 10
    while perf_counter() < min(end, since + _ASLEEP):
        now = wake_ups(pid)
        if now != before:
            before, since = now, perf_counter()
        time.sleep(0.02)
