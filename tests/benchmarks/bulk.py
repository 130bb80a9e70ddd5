"""Verbs on many messages, each as a fresh process: processor time, memory, and how both grow, beside a bare Python."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.benchmarks.data import AGENTS, LEAD, Letter, letters, write_team
from tests.benchmarks.processes import command, environment
from tests.benchmarks.run import Run
from tests.benchmarks.table import Table, number

READER = AGENTS[3]
_AGE = timedelta(hours=30)
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Verb:
    """One row: a command line, and the messages it is given."""

    name: str
    words: Sequence[str]
    make: Callable[[Letter], Letter] = lambda letter: letter
    primed: bool = False
    """Whether team-console wrote the queue last, so that nothing has to be taken in or compared first."""


_SEND = ("send", "--to", READER, "--summary", "Five words are in here", "--content", "Hello", "--as", LEAD)
VERBS = (
    Verb("--version", ("--version",)),
    Verb("send", _SEND, primed=True),
    Verb("receive, nothing for me", ("receive", "--agent", AGENTS[5]), lambda toast: _waiting(toast, AGENTS[4]), True),
    Verb("receive, everything", ("receive", "--agent", READER), lambda toast: _waiting(toast, READER)),
    Verb("deliver, everything due", ("deliver",), lambda toast: _waiting(toast, AGENTS[toast.number % len(AGENTS)])),
    Verb("clear, everything", ("clear", "--older-than-days", "0"), lambda toast: replace(toast, status="read")),
    Verb("status", ("status", "--json")),
    Verb("requests", ("requests", "--json")),
    Verb("check", ("check", "--json")),
)


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """What one process took: milliseconds of processor time, and megabytes at its largest."""

    milliseconds: float
    megabytes: float


def bulk(run: Run) -> Iterator[Table]:
    """The best of a few rounds: what another program does meanwhile only ever adds to it."""
    floor = min(_cost((sys.executable, "-I", "-c", "pass")) for _ in range(_ROUNDS + 2))
    sizes = run.sizes
    columns = ("team-console", *(f"{size:,}" for size in sizes), "last / bare", "growth")
    times = Table("Verbs on many messages: processor time of a process (ms)", columns)
    memory = Table("Verbs on many messages: largest memory of a process (MB)", (*columns[:-2], "last / bare"))
    for verb in VERBS:
        costs = [_best(run.folder / "bulk", verb, size) for size in sizes]
        spent = [cost.milliseconds for cost in costs]
        power = exponent(sizes[-2:], [cost - spent[0] for cost in spent[-2:]])
        times.add(verb.name, *map(number, spent), f"{number(spent[-1] / floor.milliseconds)}x", power)
        used = [cost.megabytes for cost in costs]
        memory.add(verb.name, *map(number, used), f"{number(used[-1] / floor.megabytes)}x")
    times.notes.append(f"A bare Python takes {number(floor.milliseconds)} ms and {number(floor.megabytes)} MB.")
    times.notes.append("Growth: the power of the size with which grows what a verb takes beyond the smallest size.")
    yield times
    yield memory


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> str:
    """With what power of the size the costs grow from the first to the last; a dash where they do not."""
    if min(costs) <= 0:
        return "-"
    return number(math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0]))


def _waiting(toast: Letter, to: str) -> Letter:
    return replace(toast, to=to, type="message", status="pending")


def _best(folder: Path, verb: Verb, size: int) -> Cost:
    return min(_measure(folder, verb, size) for _ in range(_ROUNDS))


def _measure(folder: Path, verb: Verb, size: int) -> Cost:
    """On a team of its own, in the folder it was written to: a copied queue is one that somebody else has replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    start = datetime.now(UTC) - _AGE
    step = _AGE / (2 * size)
    aged = (replace(toast, created=f"{start + step * toast.number:%Y-%m-%dT%H:%M:%S}.000Z") for toast in letters(size))
    write_team(folder, map(verb.make, aged))
    place = () if verb.words[0].startswith("-") else ("-t", str(folder))
    if verb.primed:
        _cost((*command(), *_SEND, *place))
    return _cost((*command(), *verb.words, *place))


def _cost(words: Sequence[str]) -> Cost:
    process = os.posix_spawn(
        words[0],
        list(words),
        environment(),
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)],
    )
    _, status, used = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise RuntimeError(f"{' '.join(words)} ended with status {os.waitstatus_to_exitcode(status)}")
    return Cost((used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss / 1024)
