"""What grows with the number of messages, and what a large archive costs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial

from tests.proofs.benchmarks.clients import console
from tests.proofs.benchmarks.contestant import KINDS, Contestant
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples, take_turns
from tests.proofs.benchmarks.screens import Results, watch_start, watch_use
from tests.proofs.benchmarks.table import Table, number, ratio

_STORE = {"send": "send, ms", "reload": "reload, ms", "cold": "cold open, ms"}


def growth(run: Run) -> Iterator[Table]:
    """Medians per size with their ratio to the smallest size, then the console on a large archive."""
    found = {size: _store(run, size) | _screen(run, size, archived=0) for size in run.sizes}
    queued, archived = (1_000, 5_000) if run.quick else (10_000, 100_000)
    yield _growth_table(found)
    yield _archive_table(_screen(run, queued, archived=archived), queued, archived)


def _store(run: Run, size: int) -> Results:
    folder = run.folder / f"growth-{size}"
    kind = KINDS[0]
    python = kind.python(run.peers)
    assert python is not None
    with Contestant(kind, python, folder) as contestant:
        contestant.order("fill", count=size)
        found = {
            name: take_turns({op: partial(contestant.order, op)}, rounds=run.rounds(20), budget=run.budget / 4)[op]
            for op, name in _STORE.items()
        }
    shutil.rmtree(folder)
    return {name: list(some.times(1e3).values) for name, some in found.items()}


def _screen(run: Run, size: int, *, archived: int) -> Results:
    folder = run.folder / f"screen-{size}-{archived}"
    client = console(folder, size, archived=archived)
    watch_start(client)
    found = watch_start(client) | watch_use(client, idle=2.0 if run.quick else 5.0)
    shutil.rmtree(folder)
    return found


def _growth_table(found: dict[int, Results]) -> Table:
    sizes = list(found)
    table = Table(
        f"Growth from {sizes[0]:,} to {sizes[-1]:,} messages",
        ("team-console", *(f"{size:,}" for size in sizes), "last / first"),
    )
    for discipline in found[sizes[0]]:
        medians = [_median(found[size].get(discipline, [])) for size in sizes]
        first, last = medians[0], medians[-1]
        growth = ratio(last, first) if first and last is not None else "-"
        table.add(discipline, *("-" if median is None else number(median) for median in medians), growth)
    return table


def _archive_table(found: Results, queued: int, archived: int) -> Table:
    table = Table(f"Console with {queued:,} queued and {archived:,} archived messages", ("team-console", "median"))
    for discipline, values in found.items():
        median = _median(values)
        table.add(discipline, "-" if median is None else number(median))
    return table


def _median(values: list[float]) -> float | None:
    return Samples(tuple(values)).median if values else None
