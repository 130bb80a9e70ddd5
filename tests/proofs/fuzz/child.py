"""One child process of the fuzz run: reads a batch of inputs under limits and says how far it came."""

from __future__ import annotations

import resource
import sys
from functools import partial
from pathlib import Path

from team_console.store.backends.yaml.queue import QueueText

from tests.proofs.fuzz.inputs import make
from tests.proofs.fuzz.look import change, read
from tests.proofs.fuzz.pace import is_too_slow, timed

ADDRESS_SPACE = 1 << 30
RESIDENT_KILOBYTES = 300 * 1024
SECONDS_EACH = 1.0
"""Seconds of the machine of known speed (`tests/proofs/fuzz/pace.py`) that reading or changing an input takes at most.

A change is judged with a reading of what came of it.
"""


def main(seed: int, first: int, count: int, largest: int) -> int:
    """Read inputs `first` to `first + count - 1`; prints each number before it is read, and failures."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (300 + count // 10, 310 + count // 10))  # a reader that hangs
    for number in range(first, first + count):
        data = make(number, seed, largest)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        text, reading = timed(partial(read, data))
        changing = timed(partial(change, text))[1] if text is not None else 0.0
        if is_too_slow(reading, SECONDS_EACH, partial(read, data)) or is_too_slow(
            changing, 2 * SECONDS_EACH, partial(change_anew, data)
        ):
            sys.stderr.write(f"input {number}: {reading:.2f} s and {changing:.2f} s\n")
            return 3
        if peak_kilobytes() > RESIDENT_KILOBYTES:
            sys.stderr.write(f"input {number} took more than {RESIDENT_KILOBYTES} KB\n")
            return 4
        outcome = "unreadable" if text is None else "damaged" if text.damaged() else "fine"
        sys.stdout.write(f"{outcome}\n")
    return 0


def change_anew(data: bytes) -> None:
    """Change what was not read before."""
    change(QueueText.parse(data))


def peak_kilobytes() -> int:
    """The most memory this program held so far, 0 where the system does not tell; `ru_maxrss` counts the parent's."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:5])))
