"""The command `python -m tests.proofs.benchmarks`: set up peers, measure, print tables."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path

from tests.proofs.benchmarks.machine import describe, load
from tests.proofs.benchmarks.peers import find_peers, set_up
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.table import Table

BENCHMARKS = {
    "stores": "send, reload and cold open against PyYAML, Maildir, litequeue and persist-queue",
    "processes": "`team-console send` as a process against bare Python and ClawTeam",
    "bulk": "verbs on up to 100,000 messages as processes: processor time, memory and growth, against bare Python",
    "agents": "slices of the lock, 32 waiting agents, a look beside 1 GB of archive: each figure with its limit",
    "hooks": "events of clients that need nothing, and how soon a verdict is printed",
    "verdicts": "a verdict signed by a key in an agent, and ten thousand of them verified",
    "screens": "the console on a terminal against neomutt: first paint, keys, bytes, memory",
    "diffs": "a diff of 5,000 lines from the key to the screen, against `diff -u` in `less`",
    "costs": "the console at rest, under a stream of messages, per change and in bytes, each beside its target",
    "live": "from a change on disk to the screen, over 500 changes",
    "waking": "how soon a waiting program is told of a change, beside inotifywait",
    "servers": "tools served to an MCP client, beside agenttakt: start and round trip",
    "sql": "one to 32 agents on a team in files, in SQLite and in PostgreSQL",
    "growth": "what grows from 100 to 100,000 messages, and memory with a large archive",
}


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; returns an exit status."""
    options = _parser().parse_args(arguments)
    if options.set_up:
        return set_up()
    if options.urgent:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    names = options.only or list(BENCHMARKS)
    print("## Benchmarks" + (" (quick: to see that they work, not to quote)" if options.quick else ""), end="\n\n")
    with tempfile.TemporaryDirectory(prefix="team-console-bench-", dir=options.dir) as folder:
        print(describe(Path(folder)), end="\n\n", flush=True)
        run = Run(Path(folder), find_peers(), options.quick)
        for name in names:
            benchmark: Callable[[Run], Iterable[Table]] = getattr(
                import_module(f"tests.proofs.benchmarks.{name}"), name
            )
            for table in benchmark(run):
                print(table.text(), flush=True)
    print(f"Load at the end: {load()}")
    return 0


def _parser() -> argparse.ArgumentParser:
    lines = [f"  {name:<10} {text}" for name, text in BENCHMARKS.items()]
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.benchmarks",
        description="Measure team-console against peers on this machine.\n\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--set-up", action="store_true", help="install the peers (from PyPI and with apt), then end")
    parser.add_argument("--quick", action="store_true", help="few rounds, small teams: under a minute or two")
    parser.add_argument(
        "--only", action="append", choices=BENCHMARKS, metavar="NAME", help="only this; may be repeated"
    )
    parser.add_argument(
        "--urgent", action="store_true", help="measure with real-time priority (root only): for a machine in use"
    )
    parser.add_argument("--dir", metavar="DIR", help="where to put the temporary teams (default: the system's)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
