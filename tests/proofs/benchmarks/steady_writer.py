"""Agents that write to each other at a steady rate, as a process: `python -m tests.proofs.benchmarks.steady_writer`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from time import perf_counter

from tests.proofs.benchmarks.clients import courier
from tests.proofs.benchmarks.data import AGENTS, letter

RATE = 50
"""Messages a second."""


def write_steadily(team: Path, size: int, seconds: float) -> None:
    """Send messages between agents to a queue of `size`; says so once the first is written."""
    send = courier(team)
    start = perf_counter()
    for done in range(int(RATE * seconds) + 1):
        send(letter(size + done, kind="message", to=AGENTS[done % len(AGENTS)]))
        if not done:
            print("writing", flush=True)
            start = perf_counter()
        time.sleep(max(0.0, start + done / RATE - perf_counter()))


if __name__ == "__main__":
    write_steadily(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
