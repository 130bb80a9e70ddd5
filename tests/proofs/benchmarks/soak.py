"""The long run: ten changes a second, or more, against a console on a terminal; memory, descriptors, processor time.

`python -m tests.proofs.benchmarks.soak --minutes 60` prints a table at the end; memory must not grow by itself.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import linear_regression
from time import perf_counter

from tests.proofs.benchmarks.clients import console_command, environment
from tests.proofs.benchmarks.data import AGENTS, LEAD, quiet, write_team
from tests.proofs.benchmarks.machine import describe, load
from tests.proofs.benchmarks.process import descriptors, memory, processor_seconds
from tests.proofs.benchmarks.table import Table, number
from tests.proofs.benchmarks.terminal import Terminal

_SIZE = 1_000
_OPEN = 40
"""Messages of the long run that are unread at any moment; the oldest is read when there are more."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The console at one moment; `output` is all bytes so far, `changes` all writes so far."""

    seconds: float
    resident: float
    descriptors: int
    processor: float
    output: int
    changes: int


def main(arguments: Sequence[str]) -> int:
    """Run for as long as asked and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument("--rate", type=float, default=10.0, help="changes a second (default: 10)")
    parser.add_argument("--dir", metavar="DIR", help="where to put the temporary team (default: the system's)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="team-console-soak-", dir=options.dir) as name:
        folder = Path(name)
        print(describe(folder), end="\n\n", flush=True)
        busy, idle = soak(folder, seconds=options.minutes * 60, idle=min(60.0, options.minutes * 6), rate=options.rate)
    print(table(busy, idle).text())
    print(f"Load at the end: {load()}")
    return 0


def soak(folder: Path, *, seconds: float, idle: float, rate: float = 10.0) -> tuple[list[Sample], list[Sample]]:
    """Samples of the busy time, a hundred of them, and two of the idle time after it."""
    team = folder / "team"
    write_team(team, quiet(_SIZE))
    change = _changes(team)
    with Terminal(console_command(team), environment(folder)) as terminal:
        terminal.settle(quiet=1.5)
        busy = _busy(terminal, change, seconds, rate)
        _drain(terminal, 3.0)
        before = _sample(terminal, 0.0, 0)
        _drain(terminal, idle)
        after = _sample(terminal, idle, 0)
    return busy, [before, after]


def _busy(terminal: Terminal, change: Callable[[], None], seconds: float, rate: float) -> list[Sample]:
    start, done = perf_counter(), 0
    samples = [_sample(terminal, 0.0, 0)]
    while (now := perf_counter() - start) < seconds:
        change()
        done += 1
        _drain(terminal, max(0.0, done / rate - (perf_counter() - start)))
        if now >= len(samples) * seconds / 100:
            samples.append(_sample(terminal, perf_counter() - start, done))
    return [*samples, _sample(terminal, perf_counter() - start, done)]


def _drain(terminal: Terminal, seconds: float) -> None:
    deadline = perf_counter() + seconds
    while (left := deadline - perf_counter()) > 0:
        terminal.read(left)
    terminal.forget()


def _sample(terminal: Terminal, seconds: float, changes: int) -> Sample:
    pid = terminal.pid
    return Sample(seconds, memory(pid)[0], descriptors(pid), processor_seconds(pid), terminal.received, changes)


def _changes(team: Path) -> Callable[[], None]:
    """Each call sends one message to the human, and every other call reads an old one."""
    from team_console.store.backends.open import open_team
    from team_console.store.service.caller import Caller
    from team_console.store.service.inbox import read_message
    from team_console.store.service.sending import send

    opened, waiting, numbers = open_team(str(team)), list[str](), count()

    def change() -> None:
        if len(waiting) > _OPEN:
            read_message(Caller(opened, LEAD), agent=LEAD, message_id=waiting.pop(0))
            return
        number = next(numbers)
        caller = Caller(opened, AGENTS[number % len(AGENTS)])
        receipt = send(caller, to=LEAD, summary=f"change {number:06} of the long run", content="Nothing to do.")
        waiting.append(receipt.messages[0].message_id)

    return change


def table(busy: Sequence[Sample], idle: Sequence[Sample]) -> Table:
    """What grew and what it cost. The first fifth of the time warms up and does not count for the slope."""
    first, last = busy[0], busy[-1]
    counted = [item for item in busy if item.seconds >= last.seconds / 5] or list(busy)
    slope = linear_regression([item.seconds for item in counted], [item.resident for item in counted]).slope
    changes = last.changes
    result = Table(f"{last.seconds / 60:.0f} minutes, {changes / last.seconds:.1f} changes a second", ("", "value"))
    result.add("memory at the start / after warming up / at the end, MB", _three(first, counted[0], last))
    result.add("memory growth, MB per hour", number(slope * 3600))
    result.add("descriptors at the start / at the end", f"{first.descriptors} / {last.descriptors}")
    result.add("processor while busy, % of a core", number(100 * (last.processor - first.processor) / last.seconds))
    result.add("bytes to the terminal per change", number((last.output - first.output) / max(1, changes)))
    result.add("processor while idle, % of a core", number(_idle_percent(idle)))
    result.add("bytes to the terminal while idle", number(idle[-1].output - idle[0].output))
    return result


def _three(*samples: Sample) -> str:
    return " / ".join(number(sample.resident) for sample in samples)


def _idle_percent(idle: Sequence[Sample]) -> float:
    return 100 * (idle[-1].processor - idle[0].processor) / (idle[-1].seconds or 1.0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
