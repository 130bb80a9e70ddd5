"""What the kernel says about a running process: memory, processor time, descriptors."""

from __future__ import annotations

import os
import time
from pathlib import Path

_BY_SCHEDULER = 2
"""The kernel's number for the time a process ran as the scheduler counts it; that in `/proc` ticks every 10 ms."""


def memory(pid: int) -> tuple[float, float]:
    """Resident and proportional set size in MB."""
    found = {"Rss": 0.0, "Pss": 0.0}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        key, _, rest = line.partition(":")
        if key in found:
            found[key] = int(rest.split()[0]) / 1024
    return found["Rss"], found["Pss"]


def processor_seconds(pid: int) -> float:
    """Time that all its threads ran so far, those that ended included, to the nanosecond."""
    return time.clock_gettime(~pid << 3 | _BY_SCHEDULER)  # as clock_getcpuclockid makes it, which Python does not offer


def wake_ups(pid: int) -> int:
    """How often its present threads went to sleep so far, and so how often they were woken."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            text = status.read_text()
        except OSError:  # a thread that ended meanwhile
            continue
        total += int(text.partition("\nvoluntary_ctxt_switches:")[2].split(None, 1)[0])
    return total


def descriptors(pid: int) -> int:
    """Open file descriptors."""
    return len(os.listdir(f"/proc/{pid}/fd"))
