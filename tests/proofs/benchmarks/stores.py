"""Send, reload after one change and cold open: our queue against other ways to keep the same messages."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from functools import partial

from tests.proofs.benchmarks.contestant import KINDS, Contestant
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples, take_turns
from tests.proofs.benchmarks.table import Table, ratio, spread
from tests.proofs.benchmarks.targets import Targets

DISCIPLINES = {
    "send": ("Send one message durably, after another writer changed the store", 40),
    "reload": ("See all messages again after one more arrived", 40),
    "cold": ("Open and read everything in a process that has read nothing", 8),
}
_NOTES = [
    "All are durable when `send` returns. team-console syncs ledger, queue and folder; PyYAML does the same three; "
    "Maildir syncs the message and its folder; litequeue and persist-queue run SQLite in WAL mode with "
    "`synchronous = FULL`.",
    "team-console and PyYAML send under a lock after reading what others wrote, and check ids; team-console also "
    "writes an audit line. The others insert blindly.",
    "System calls alone: what journal, rewrite, rename and folder cost with nothing locked, checked or understood. The "
    "collector rests during every measurement, for all of them.",
    "Reload: PyYAML and the two SQL queues read everything, they keep no track of changes; Maildir lists names and "
    "reads new files only.",
]


_FLOOR = next(kind.name for kind in KINDS if kind.module == "floor")
_TIMES_FLOOR = 1.3
_LARGE = 10_000


def stores(run: Run) -> list[Table]:
    """One table per discipline; times in ms, median (10th-90th percentile)."""
    results = {size: _measure(run, size) for size in run.sizes}
    names = list(results[run.sizes[0]]["send"])
    tables = [_table(title, names, {size: results[size][op] for size in run.sizes}) for op, (title, _) in _titles()]
    tables[-1].notes += _NOTES
    missing = [kind.name for kind in KINDS if kind.name not in names]
    if missing:
        tables[-1].notes.append(f"LEFT OUT because not installed (run with --set-up): {', '.join(missing)}.")
    tables.append(_targets(results))
    return tables


def _targets(results: dict[int, dict[str, dict[str, Samples]]]) -> Table:
    """A send beside the system calls it cannot do without."""
    targets = Targets("A send in one process beside the system calls alone")
    for size, result in results.items():
        if size >= _LARGE:
            floor = result["send"][_FLOOR].median
            targets.add(f"send, {size:,} messages", result["send"][KINDS[0].name].median / floor, _TIMES_FLOOR, "x")
    return targets.table


def _titles() -> list[tuple[str, tuple[str, int]]]:
    return list(DISCIPLINES.items())


def _measure(run: Run, size: int) -> dict[str, dict[str, Samples]]:
    folder = run.folder / f"stores-{size}"
    with ExitStack() as stack:
        pythons = {kind: kind.python(run.peers) for kind in KINDS}
        running = [
            stack.enter_context(Contestant(kind, python, folder / kind.module))
            for kind, python in pythons.items()
            if python is not None
        ]
        for item in running:
            item.order("fill", count=size)
        measured = {
            op: take_turns(
                {contestant.name: partial(contestant.order, op) for contestant in running},
                rounds=run.rounds(rounds),
                budget=run.budget,
            )
            for op, (_, rounds) in DISCIPLINES.items()
        }
    shutil.rmtree(folder)
    return measured


def _table(title: str, names: list[str], results: dict[int, dict[str, Samples]]) -> Table:
    columns = [f"{size:,}" for size in results]
    heads = [head for column in columns for head in (f"{column} messages", "ratio")]
    table = Table(f"{title} (ms)", ("store", *heads))
    for name in names:
        cells = []
        for result in results.values():
            ours = result[KINDS[0].name]
            cells += [spread(result[name].times(1e3)), ratio(result[name].median, ours.median)]
        table.add(name, *cells)
    return table
