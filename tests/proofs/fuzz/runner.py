"""The fuzz run: batches in child processes, and a report of every input that killed or broke one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.equipment.command_line import ROOT

_ENOUGH = 10


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
        command = [sys.executable, "-m", "tests.proofs.fuzz.child", *map(str, (seed, first, end - first, largest))]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        words = child.stdout.split()
        report.outcomes.update(word for word in words if not word.isdigit())
        if child.returncode == 0:
            break
        first = max((int(word) for word in words if word.isdigit()), default=first)
        report.failures.append(f"seed {seed} input {first}: exit {child.returncode}\n{child.stderr[-1500:]}")
        first += 1
    return report
