"""The fuzz run: batches in child processes, and a report of every input that killed or broke one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

_ENOUGH = 10
ROOT = Path(__file__).resolve().parents[3]


@dataclass(slots=True)
class Report:
    """What a run found: how inputs ended, and one text per failure."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def run(*, inputs: int, seed: int, largest: int, batch: int, workers: int) -> Report:
    """Read `inputs` inputs of sequence `seed`, each up to `largest` bytes, `batch` to a process."""
    report = Report()
    with ThreadPoolExecutor(workers) as pool:
        starts = range(0, inputs, batch)
        for part in pool.map(lambda first: _run_batch(seed, largest, first, min(batch, inputs - first)), starts):
            report.outcomes.update(part.outcomes)
            report.failures += part.failures
    return report


def _run_batch(seed: int, largest: int, first: int, count: int) -> Report:
    """Run one batch; after a failure a new child goes on behind that input, up to `_ENOUGH` times."""
    report, end = Report(), first + count
    while first < end and len(report.failures) < _ENOUGH:
        command = [
            sys.executable,
            "-m",
            "tests.proofs.fuzz.child",
            str(seed),
            str(first),
            str(end - first),
            str(largest),
        ]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = list(_words(child.stdout))
        report.outcomes.update(word for word in lines if not word.isdigit())
        if child.returncode == 0:
            break
        numbers = [int(word) for word in lines if word.isdigit()]
        last = numbers[-1] if numbers else first
        tail = child.stderr[-1500:]
        report.failures.append(f"seed {seed} input {last}: exit {child.returncode}\n{tail}")
        first = last + 1
    return report


def _words(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line)
