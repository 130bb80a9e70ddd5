"""What every row of the benchmark is made of: a figure with its limit, and processes that are timed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import IO, NamedTuple

ROOT = Path(__file__).parents[3]
PEERS = ROOT / "build" / "benchmark-peers"
"""A virtual environment of its own: what a peer depends on never meets what we depend on."""
_BY_SCHEDULER = 2
"""The kernel's number for the time a process ran as the scheduler counts it; that in `/proc` ticks every 10 ms."""


class Figure(NamedTuple):
    """One row: what was measured, the most it may be, and what others take."""

    what: str
    value: float
    most: float
    unit: str
    beside: str = ""

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        met = "yes" if self.value <= self.most else "NO"
        return (self.what, f"{number(self.value)} {self.unit}", f"{number(self.most)} {self.unit}", met, self.beside)


class Run(NamedTuple):
    """Where to measure, and whether only to see that it works."""

    folder: Path
    is_quick: bool = False

    def rounds(self, count: int) -> int:
        """`count` rounds, fewer when quick."""
        return max(3, count // 8) if self.is_quick else count


def number(value: float) -> str:
    """Three figures at most: `0.84`, `6.3`, `145`, `11,000`."""
    return f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that `percent` of 100 do not exceed, interpolated."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def command() -> tuple[str, ...]:
    """How to start team-console: the installed command where there is one, else the package."""
    script = Path(sys.executable).with_name("team-console")
    return (str(script),) if script.exists() else (sys.executable, "-m", "team_console.console")


def environment(home: Path, **more: str) -> dict[str, str]:
    """Variables of a modern terminal, with everything personal below `home`."""
    state = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    kept = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return {**kept, **state, **more}


def run_once(words: Sequence[str | Path], surroundings: Mapping[str, str], data: bytes = b"") -> float:
    """Seconds from the start to the end of a process.

    Raises:
        RuntimeError: It failed.
    """
    start = perf_counter()
    done = subprocess.run(words, input=data, capture_output=True, env=surroundings)
    seconds = perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{words} failed: {done.stderr.decode(errors='replace').strip()}")
    return seconds


@contextmanager
def talking(words: Sequence[str | Path], surroundings: Mapping[str, str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Start a process, and give what it reads and what it writes."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, env=surroundings) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdin, process.stdout


def take_turns(contestants: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each, called in turns so that a busy moment hits all of them; the first round does not count."""
    values: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds + 1):
        for name, measure in contestants.items():
            values[name].append(measure())
    return {name: median(some[1:]) for name, some in values.items()}


def bare(home: Path) -> Callable[[], float]:
    """Starts a Python that does nothing."""
    return lambda: run_once((sys.executable, "-I", "-c", "pass"), environment(home))


def processor_seconds(pid: int) -> float:
    """Time that all threads of a process ran so far, to the nanosecond."""
    return time.clock_gettime(~pid << 3 | _BY_SCHEDULER)  # as clock_getcpuclockid makes it, which Python does not offer


def memory(pid: int) -> float:
    """Resident megabytes of a process."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Rss:"))


def set_up() -> int:
    """Install what is compared with: ClawTeam into an environment of its own, neomutt by apt; an exit status."""
    python = PEERS / "bin/python"
    steps: list[Sequence[str | Path]] = [
        (sys.executable, "-m", "venv", PEERS),
        (python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1"),
        (python, "-m", "pip", "install", "--quiet", "--group", f"{ROOT / 'pyproject.toml'}:bench"),
    ]
    if shutil.which("neomutt") is None:
        steps.append(("apt-get", "install", "-qq", "--no-install-recommends", "neomutt"))
    failed = [step for step in steps if subprocess.run(step).returncode]
    for step in failed:
        print(f"'{' '.join(map(str, step))}' failed; what it installs is left out", file=sys.stderr)
    return 1 if failed else 0
