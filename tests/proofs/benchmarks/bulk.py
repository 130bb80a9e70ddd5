"""Verbs on many messages, each as a fresh process: processor time, memory, and how both grow, beside a bare Python."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from tests.proofs.benchmarks.data import AGENTS, LEAD, Letter, letters, write_team
from tests.proofs.benchmarks.processes import command, environment
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.table import Table, number
from tests.proofs.benchmarks.targets import Targets

READER = AGENTS[3]
_AGE = timedelta(hours=30)
_ROUNDS = 3
_LONG = 5_000.0
"""Milliseconds from which on a verb is run once: beside those a disturbance is small."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One row: a command line, and the messages it is given.

    Attributes:
        before: What was run before it. After a send team-console wrote the queue last, so that nothing has to be taken
            in or compared; after a receive it is known, too, that all of it can be understood.
        limits: Size of the queue -> what it may take at most, in milliseconds of processor time.
    """

    name: str
    words: Sequence[str]
    make: Callable[[Letter], Letter] = lambda letter: letter
    before: Sequence[Sequence[str]] = ()
    limits: Mapping[int, float] = field(default_factory=dict)


_SEND = ("send", "--to", READER, "--summary", "Five words are in here", "--content", "Hello", "--as", LEAD)
_PLAN = f"plan_approval-{1771900000000 + 7}@{AGENTS[7]}@bench"
_RECEIVE = ("receive", "--agent", AGENTS[5])
_SENT = (_SEND,)
_READ = (_SEND, ("receive", "--agent", AGENTS[6]))
_LOOK = {10_000: 333.0, 100_000: 2_950.0}
VERBS = (
    Verb("--version", ("--version",)),
    Verb("send", _SEND, before=_SENT),
    Verb("receive, nothing for me", _RECEIVE, lambda toast: waiting(toast, AGENTS[4]), _READ),
    Verb("receive, nothing, the first after a foreign write", _RECEIVE, lambda toast: waiting(toast, AGENTS[4]), _SENT),
    Verb("receive, everything", ("receive", "--agent", READER), lambda toast: waiting(toast, READER)),
    Verb("deliver, everything due", ("deliver",), lambda toast: waiting(toast, AGENTS[toast.number % len(AGENTS)])),
    Verb("clear, everything", ("clear", "--older-than-days", "0"), lambda toast: replace(toast, status="read")),
    Verb("approve", ("approve", _PLAN, "--as", LEAD), lambda toast: _asked_once(toast), _SENT, _LOOK),
    Verb("status", ("status", "--json"), before=_SENT, limits=_LOOK),
    Verb("requests", ("requests", "--json"), before=_SENT, limits=_LOOK),
    Verb("check", ("check", "--json"), before=_SENT, limits=_LOOK),
)
_GROWN = {"receive, nothing for me": {10_000: 1.3, 100_000: 4.0}}
"""Verb -> size -> how many times what it takes at the smallest size it may take at most."""
_MEMORY = 150.0
"""Megabytes of a look at the largest queue."""


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """What one process took: milliseconds of processor time, megabytes at its largest, milliseconds by the clock."""

    milliseconds: float
    megabytes: float
    wall: float = 0.0


def bulk(run: Run) -> Iterator[Table]:
    """The best of a few rounds: what another program does meanwhile only ever adds to it."""
    folder, sizes = run.folder / "bulk", run.sizes
    floor = min(cost((sys.executable, "-I", "-c", "pass")) for _ in range(_ROUNDS + 2))
    columns = ("team-console", *(f"{size:,}" for size in sizes), "last / bare", "growth")
    times = Table("Verbs on many messages: processor time of a cold process (ms)", columns)
    memory = Table("Verbs on many messages: largest memory of a process (MB)", (*columns[:-2], "last / bare"))
    targets = Targets("Verbs on many messages beside their limits", floor.milliseconds)
    for name, words in (("floor: read the queue", "read"), ("floor: journal, rewrite, rename, syncs", "write")):
        _put(times, name, [_floor(folder, size, words) for size in sizes], sizes, floor)
    for verb in VERBS:
        costs = [_best(folder, verb, size) for size in sizes]
        _put(times, verb.name, costs, sizes, floor)
        used = [each.megabytes for each in costs]
        memory.add(verb.name, *map(number, used), f"{number(used[-1] / floor.megabytes)}x")
        _judge(targets, verb, dict(zip(sizes, costs, strict=True)), floor)
    times.notes.append(f"A bare Python takes {number(floor.milliseconds)} ms and {number(floor.megabytes)} MB.")
    times.notes.append(
        f"Growth: the power of the size, from {sizes[-2]:,} to {sizes[-1]:,}, with which grows what a verb takes "
        f"beyond {sizes[0]:,}. What no cache holds any more adds to it; a test holds counted work to 1.1."
    )
    times.notes.append(
        "Floor: system calls alone in a bare Python. Nothing stays warm from one measurement to the next."
    )
    yield times
    yield memory
    yield targets.table


def _put(table: Table, name: str, costs: Sequence[Cost], sizes: Sequence[int], floor: Cost) -> None:
    spent = [each.milliseconds for each in costs]
    power = exponent(sizes[-2:], [each - spent[0] for each in spent[-2:]])
    table.add(name, *map(number, spent), f"{number(spent[-1] / floor.milliseconds)}x", power)


def _judge(targets: Targets, verb: Verb, costs: Mapping[int, Cost], floor: Cost) -> None:
    smallest = min(costs)
    if verb.name == "--version":
        targets.add(verb.name, costs[smallest].milliseconds / floor.milliseconds, 1.3, "x bare Python")
    for size, limit in verb.limits.items():
        if size in costs:
            targets.add(f"{verb.name}, {size:,} messages", costs[size].milliseconds, limit, "ms")
    if max(verb.limits, default=0) in costs:
        targets.add(f"{verb.name}, {max(costs):,} messages", costs[max(costs)].megabytes, _MEMORY, "MB")
    for size, limit in _GROWN.get(verb.name, {}).items():
        if size in costs:
            times = costs[size].milliseconds / costs[smallest].milliseconds
            targets.add(f"{verb.name}, {size:,} messages", times, limit, f"x {smallest:,}")


def _floor(folder: Path, size: int, what: str) -> Cost:
    shutil.rmtree(folder, ignore_errors=True)
    write_team(folder, letters(size))
    program = (sys.executable, "-I", str(Path(__file__).with_name("floor.py")), what, str(folder))
    return min(cost(program) for _ in range(_ROUNDS))


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> str:
    """With what power of the size the costs grow from the first to the last; a dash where they do not."""
    if min(costs) <= 0:
        return "-"
    return number(math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0]))


def waiting(toast: Letter, to: str) -> Letter:
    """The letter as a message that `to` has yet to get."""
    return replace(toast, to=to, type="message", status="pending")


def _asked_once(toast: Letter) -> Letter:
    """The letter; of all plans only the first is one, since a later plan of the same agent would supersede it."""
    return toast if toast.number == 7 else replace(toast, type="message")


def aged(size: int) -> Iterator[Letter]:
    """Letters whose dates end some hours ago, whatever day it is."""
    start = datetime.now(UTC) - _AGE
    step = _AGE / (2 * size)
    for toast in letters(size):
        yield replace(toast, created=f"{start + step * toast.number:%Y-%m-%dT%H:%M:%S}.000Z")


def _best(folder: Path, verb: Verb, size: int) -> Cost:
    best = _measure(folder, verb, size)
    for _ in range(_ROUNDS - 1 if best.milliseconds < _LONG else 0):
        best = min(best, _measure(folder, verb, size))
    return best


def _measure(folder: Path, verb: Verb, size: int) -> Cost:
    """On a team of its own, in the folder it was written to: a copied queue is one that somebody else has replaced."""
    if verb.words[0].startswith("-"):
        return cost((*command(), *verb.words))
    shutil.rmtree(folder, ignore_errors=True)
    write_team(folder, map(verb.make, aged(size)))
    for words in verb.before:
        cost((*command(), *words, "-t", str(folder)))
    return cost((*command(), *verb.words, "-t", str(folder)))


def cost(words: Sequence[str]) -> Cost:
    """What one process takes that is started with these words, its output thrown away."""
    spawner = _spawner()
    assert spawner.stdin is not None
    assert spawner.stdout is not None
    spawner.stdin.write(json.dumps([*words]) + "\n")
    spawner.stdin.flush()
    spent, megabytes, wall, status = json.loads(spawner.stdout.readline())
    if status not in (0, 1):
        raise RuntimeError(f"{' '.join(words)} ended with status {status}")
    return Cost(spent, megabytes, wall)


@cache
def _spawner() -> subprocess.Popen[str]:
    """A small process that starts the others; it ends with this one, whose end closes its standard input."""
    program = (sys.executable, "-I", str(Path(__file__).with_name("spawner.py")))
    return subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
