"""The command `python -m tests.proofs.benchmarks`: every promise of speed, measured beside its limit and its peers."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.proofs.benchmarks.agents import agents
from tests.proofs.benchmarks.clients import clients
from tests.proofs.benchmarks.console import console
from tests.proofs.benchmarks.measure import ROOT, Figure, Run, set_up
from tests.proofs.benchmarks.store import store
from tests.proofs.clients import network, packages

PARTS: dict[str, Callable[[Run], Iterator[Figure]]] = {
    "store": store,
    "agents": agents,
    "clients": clients,
    "console": console,
}
_HEADS = ("what", "measured", "at most", "met", "beside it")


def main(arguments: Sequence[str]) -> int:
    """Measure what was asked for and print one Markdown table; an exit status, 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks", description=__doc__)
    parser.add_argument("--set-up", action="store_true", help="install the peers (PyPI and apt), then end")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it works, not to quote")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # a network of its own
    options = parser.parse_args(arguments)
    if options.set_up:
        return set_up()
    if options.inside:
        network.lift_loopback()
    elif "clients" in (options.only or PARTS) and packages.claude() is not None:
        print(f"real clients are left out: {network.enter(['tests.proofs.benchmarks', '--inside', *arguments])}")
    print(f"{_machine()}\n", flush=True)
    print(_row(_HEADS), _row(["---", "---:", "---:", "---", "---"]), sep="\n", flush=True)
    kept = True
    with tempfile.TemporaryDirectory(prefix="team-console-bench-") as folder:
        for name in options.only or PARTS:
            for figure in PARTS[name](Run(Path(folder), options.quick)):
                print(_row(figure.cells()), flush=True)
                kept = kept and figure.value <= figure.most
    print("\nGrowth from 1,000 to 100,000 is counted work: pytest tests/store/test_counted_growth.py")
    print(f"Load of the machine at the end: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    return 0 if kept else 1


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _machine() -> str:
    cpu = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    commit = subprocess.run(("git", "-C", ROOT, "log", "-1", "--format=%h"), capture_output=True, text=True).stdout
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit.strip() or 'unknown'}, {os.cpu_count()} cores"
        f" {cpu.partition(':')[2].strip()}, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}, Textual {version('textual')}, load {os.getloadavg()[0]:.2f} at the start"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
