"""The fuzz run: batches of inputs in child processes under limits, and a report of every input that broke one."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from tests.equipment.command_line import ROOT
from tests.proofs.fuzz.inputs import changed, make
from tests.proofs.fuzz.look import change, read, read_again

ADDRESS_SPACE = 1 << 30
RESIDENT_KILOBYTES = 400 * 1024
SECONDS_EACH = 12.0
"""Seconds of processor time that an input takes at most. A megabyte of 200,000 entries takes 3 s, on a busy machine 6;
what grows faster than the file takes minutes."""


def read_batch(seed: int, first: int, count: int, largest: int) -> int:
    """Read inputs `first` to `first + count - 1`; prints each number before it is read, and failures."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (300 + count // 10, 310 + count // 10))  # a reader that hangs
    for number in range(first, first + count):
        data = make(number, seed, largest)
        print(number, flush=True)
        began = time.process_time()
        text = read(data)
        if text is not None:
            change(text)
        read_again(*changed(Random(f"{seed}:{number}:changed")))
        taken = time.process_time() - began
        if taken > SECONDS_EACH or peak_kilobytes() > RESIDENT_KILOBYTES:
            print(f"input {number}: {taken:.2f} s, {peak_kilobytes()} KB", file=sys.stderr)
            return 3
        print("unreadable" if text is None else "damaged" if text.damaged() else "fine")
    return 0


def peak_kilobytes() -> int:
    """The most memory this program held so far, 0 where the system does not tell; `ru_maxrss` counts the parent's."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


_ENOUGH = 10
_BATCH = 600
_SHORT, _SMALL, _LARGE = 5_000, 150_000, 1_000_000
"""Up to so many inputs are a short run, of files that are smaller; bytes of the largest file of each."""


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Read so many inputs, two processes at a time; yield each that killed or broke one, and how few were of a kind."""
    outcomes, largest = Counter[str](), _SMALL if count <= _SHORT else _LARGE
    with ThreadPoolExecutor(2) as pool:
        starts = range(0, count, _BATCH)
        for found, failures in pool.map(lambda first: _batch(seed, largest, first, min(_BATCH, count - first)), starts):
            outcomes.update(found)
            yield from failures
    print(", ".join(f"{number} {name}" for name, number in sorted(outcomes.items())), flush=True)
    yield from (
        f"too few inputs are {name}" for name in ("fine", "damaged", "unreadable") if outcomes[name] * 12 <= count
    )


def _batch(seed: int, largest: int, first: int, count: int) -> tuple[Counter[str], list[str]]:
    """Run one batch; after a failure a new child goes on behind that input, up to `_ENOUGH` times."""
    outcomes, failures, end = Counter[str](), list[str](), first + count
    while first < end and len(failures) < _ENOUGH:
        command = [sys.executable, "-m", "tests.proofs.fuzz.run", *map(str, (seed, first, end - first, largest))]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        words = child.stdout.split()
        outcomes.update(word for word in words if not word.isdigit())
        if child.returncode == 0:
            break
        first = max((int(word) for word in words if word.isdigit()), default=first)
        failures.append(f"seed {seed} input {first}: exit {child.returncode}\n{child.stderr[-1500:]}")
        first += 1
    return outcomes, failures


if __name__ == "__main__":
    sys.exit(read_batch(*map(int, sys.argv[1:5])))
