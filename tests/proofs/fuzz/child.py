"""One child process of the fuzz run: reads a batch of inputs under limits and says how far it came."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from random import Random

from tests.proofs.fuzz.inputs import changed, make
from tests.proofs.fuzz.look import change, read, read_again

ADDRESS_SPACE = 1 << 30
RESIDENT_KILOBYTES = 400 * 1024
SECONDS_EACH = 12.0
"""Seconds of processor time that an input takes at most. A megabyte of 200,000 entries takes 3 s, on a busy machine 6;
what grows faster than the file takes minutes."""


def main(seed: int, first: int, count: int, largest: int) -> int:
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


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:5])))
