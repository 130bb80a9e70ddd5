"""The console on a terminal against neomutt on a Maildir of the same messages."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from time import perf_counter

from tests.proofs.benchmarks.clients import Client, console, empty_textual, neomutt
from tests.proofs.benchmarks.process import memory, processor_seconds
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples
from tests.proofs.benchmarks.table import Table, number, ratio, spread
from tests.proofs.benchmarks.terminal import Terminal

Results = dict[str, list[float]]
"""Discipline -> values; the discipline's name ends with its unit."""
FIRST_ROWS = "first rows on the screen, ms"
PRESSES = 20


def screens(run: Run) -> Iterator[Table]:
    """One table per size: medians of both programs and their ratio."""
    for size in run.screen_sizes:
        yield _compare(run, size)


def _compare(run: Run, size: int) -> Table:
    folder = run.folder / f"screens-{size}"
    clients = [console(folder, size)]
    if run.peers.neomutt is not None:
        clients.append(neomutt(folder, run.peers.neomutt, size))
    starters = [*clients, empty_textual(folder)]
    results: dict[str, Results] = {client.name: defaultdict(list) for client in starters}
    for client in starters:
        watch_start(client)
    for _ in range(run.rounds(8 if size < 100_000 else 3)):
        for client in starters:
            merge(results[client.name], watch_start(client))
    for client in clients:
        merge(results[client.name], watch_use(client, idle=2.0 if run.quick else 10.0))
    shutil.rmtree(folder)
    return _table(size, results, left_out=run.peers.neomutt is None)


def merge(into: Results, more: Results) -> None:
    """Add values of the same disciplines."""
    for name, values in more.items():
        into[name] += values


def watch_start(client: Client) -> Results:
    """Start the program and wait until its screen rests."""
    with client.start() as terminal:
        arrive(client, terminal)
        seen = terminal.first_seen(client.shows_list)
        rested = terminal.chunks[-1][0] - terminal.started
        size = sum(len(data) for _, data in terminal.chunks)
    return {
        FIRST_ROWS: [] if seen is None else [seen * 1e3],
        "screen at rest after start, ms": [rested * 1e3],
        "bytes of the start": [float(size)],
    }


def arrive(client: Client, terminal: Terminal) -> None:
    """Wait until everything was read and nothing moves any more."""
    deadline = perf_counter() + 120
    while not client.is_ready(terminal.text()):
        if perf_counter() > deadline:
            raise TimeoutError(f"{client.name} shows no message:\n{terminal.text()}")
        terminal.settle(quiet=0.3, limit=10.0)
    terminal.settle(quiet=0.6, first=0.6)


def watch_use(client: Client, *, idle: float) -> Results:
    """Keys, switching, one message arriving, idling and memory of one running program."""
    with client.start() as terminal:
        arrive(client, terminal)
        found = _at_rest(terminal, idle)
        for key in client.to_list:
            terminal.press(key)
            terminal.settle(quiet=0.5, first=2.0)
        found |= _presses(terminal, client)
        for name, there, back in client.switch:
            found |= _switch(terminal, name, there, back)
        found |= _live(terminal, client.deliver)
        resident, shared = memory(terminal.pid)
        return found | {"memory (RSS), MB": [resident], "memory (PSS), MB": [shared]}


def _presses(terminal: Terminal, client: Client) -> Results:
    bursts = []
    for _ in range(PRESSES + 1):
        terminal.press(client.down)
        bursts.append(terminal.settle(quiet=0.15, first=2.0))
    counted = bursts[1:]
    return {
        "arrow key until the cursor moved, ms": [burst.first * 1e3 for burst in counted],
        "arrow key until the cursor moved, bytes": [float(burst.answer) for burst in counted],
        "arrow key until all is drawn, ms": [burst.seconds * 1e3 for burst in counted],
        "arrow key until all is drawn, bytes": [float(burst.size) for burst in counted],
    }


def _switch(terminal: Terminal, name: str, there: bytes, back: bytes) -> Results:
    bursts = []
    for key in (there, back) * 4:
        terminal.press(key)
        bursts.append(terminal.settle(quiet=0.3, first=2.0))
    counted = bursts[2:]
    return {
        f"{name}, ms": [burst.seconds * 1e3 for burst in counted],
        f"{name}, bytes": [float(burst.size) for burst in counted],
    }


def _live(terminal: Terminal, deliver: Callable[[], None]) -> Results:
    deliver()
    terminal.settle(quiet=1.2, first=8.0)
    sizes = []
    for _ in range(3):
        deliver()
        sizes.append(float(terminal.settle(quiet=1.2, first=8.0).size))
    return {"one message arrives, bytes": sizes}


def _at_rest(terminal: Terminal, seconds: float) -> Results:
    before, size = processor_seconds(terminal.pid), 0
    deadline = perf_counter() + seconds
    while perf_counter() < deadline:
        size += len(terminal.read(deadline - perf_counter()))
    used = processor_seconds(terminal.pid) - before
    return {f"idle {seconds:.0f} s, bytes": [float(size)], "idle, % of a core": [100 * used / seconds]}


def _table(size: int, results: dict[str, Results], *, left_out: bool) -> Table:
    names = list(results)
    table = Table(
        f"On a terminal of 120x40, {size:,} messages", ("", *names, *(f"{name} / {names[0]}" for name in names[1:]))
    )
    for discipline in dict.fromkeys(name for found in results.values() for name in found):
        values = [results[name].get(discipline, []) for name in names]
        found = [Samples(tuple(some)) if some else None for some in values]
        ours = found[0].median if found[0] else 0.0
        table.add(
            discipline,
            *("-" if some is None else spread(some) for some in found),
            *("-" if some is None else ratio(some.median, ours) for some in found[1:]),
        )
    table.notes.append(
        f"Starts take turns; {PRESSES} arrow keys each; neomutt without header cache. {number(size)} messages in both."
    )
    if left_out:
        table.notes.append("LEFT OUT because not installed (run with --set-up): neomutt.")
    return table
