"""One child process of the fuzz run: reads a batch of inputs under limits and says how far it came."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from tests.fuzz.inputs import make
from tests.fuzz.look import change, read

ADDRESS_SPACE = 1 << 30
RESIDENT_KILOBYTES = 300 * 1024
SECONDS_EACH = 1.0


def main(seed: int, first: int, count: int, largest: int) -> int:
    """Read inputs `first` to `first + count - 1`; prints each number before it is read, and failures."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (60 + count // 50, 70 + count // 50))
    for number in range(first, first + count):
        data = make(number, seed, largest)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        times = [time.process_time()]
        text = read(data)
        times.append(time.process_time())
        if text is not None:
            change(text)
        times.append(time.process_time())
        if max(times[1] - times[0], times[2] - times[1]) > SECONDS_EACH:
            sys.stderr.write(f"input {number}: {times[1] - times[0]:.2f} s and {times[2] - times[1]:.2f} s\n")
            return 3
        if peak_kilobytes() > RESIDENT_KILOBYTES:
            sys.stderr.write(f"input {number} took more than {RESIDENT_KILOBYTES} KB\n")
            return 4
        outcome = "unreadable" if text is None else "damaged" if text.damaged() else "fine"
        sys.stdout.write(f"{outcome}\n")
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
