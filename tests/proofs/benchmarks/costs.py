"""What the console costs on a terminal beside what it may: at rest, under a stream, per change, in bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import count
from statistics import median
from time import perf_counter
from typing import NamedTuple

from tests.proofs.benchmarks.clients import Client, console, courier, empty_textual, environment, neomutt
from tests.proofs.benchmarks.data import AGENTS, buried, letter
from tests.proofs.benchmarks.live import measure
from tests.proofs.benchmarks.peers import ROOT
from tests.proofs.benchmarks.process import memory, processor_seconds, wake_ups
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.screens import FIRST_ROWS, arrive, watch_start
from tests.proofs.benchmarks.steady_writer import RATE
from tests.proofs.benchmarks.table import Table
from tests.proofs.benchmarks.targets import Targets
from tests.proofs.benchmarks.terminal import Terminal

SIZES = {(80, 24): 194.0, (120, 40): 234.0, (200, 55): 314.0}
"""Columns and lines of terminals -> bytes of neomutt's arrow key on them, for where it is not installed."""
DOWN, HISTORY = b"\x1b[B", b"6"
MODES = dict(
    zip(
        (b"2", b"3", b"4", b"5", HISTORY, b"7", b"8"),
        ("inboxes", "requests", "deliveries", "sprint", "history", "health", "decisions"),
        strict=True,
    )
)
"""Key -> the mode it goes to from the first one."""
_KEYS = 10
_HELD, _REPEAT = 12, 0.035
"""Keys a held key sends on a screen of 24 lines without scrolling, and seconds between two, as most systems have it."""
_CURSOR = "▌"


def costs(run: Run) -> Iterator[Table]:
    """Tables of targets: time and memory first, then bytes."""
    sizes = (1_000,) if run.quick else (10_000, 100_000)
    yield _table("The console at rest and at work", _work(run, sizes))
    slow_line = _table("The console on a slow line", _bytes(run))
    if run.peers.neomutt is None:
        slow_line.notes.append("neomutt is not installed (run with --set-up); its bytes are those of an earlier run.")
    yield slow_line


class Figure(NamedTuple):
    """Something measured, and the most it may be."""

    what: str
    value: float
    most: float
    unit: str


def _table(title: str, figures: Iterable[Figure]) -> Table:
    targets = Targets(title)
    for figure in figures:
        targets.add(*figure)
    return targets.table


def _work(run: Run, sizes: tuple[int, ...]) -> Iterator[Figure]:
    yield from _rest(run)
    changes = 10 if run.quick else 100
    shown, _ = measure(run.folder / "targets-live", size=1_000, changes=changes)
    yield Figure("change on disk to screen, p50", shown.median, 45, "ms")
    yield from _stream(run, sizes[0])
    for size, change in zip(sizes, (5, 20), strict=False):
        yield from _change(run, size, change)
    for size, factor in zip(sizes, (2, 3), strict=False):
        yield from _first_rows(run, size, factor)


def _rest(run: Run) -> Iterator[Figure]:
    """Nothing happens for a while."""
    seconds = 5.0 if run.quick else 60.0
    client = console(run.folder / "rest", 1_000)
    with client.start() as terminal:
        arrive(client, terminal)
        drain(terminal, 2.0)
        used, woken = processor_seconds(terminal.pid), wake_ups(terminal.pid)
        drain(terminal, seconds)
        used, woken = processor_seconds(terminal.pid) - used, wake_ups(terminal.pid) - woken
    yield Figure("idle", 100 * used / seconds, 0.2, "% of a core")
    yield Figure("idle, wake-ups", woken / seconds, 10, "a second")


def _stream(run: Run, size: int) -> Iterator[Figure]:
    """Agents write to each other as fast as `RATE` while the human moves through the list of what needs it."""
    seconds = 3 if run.quick else 15
    client = console(run.folder / "stream", size)
    team = str(run.folder / "stream" / "team")
    with client.start() as terminal:
        arrive(client, terminal)
        command = (sys.executable, "-m", "tests.proofs.benchmarks.steady_writer", team, str(size), str(seconds))
        with subprocess.Popen(command, cwd=ROOT, env=environment(run.folder), stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # its first message is written
            used, start = processor_seconds(terminal.pid), perf_counter()
            took = [_until_moved(terminal, key) for key in (DOWN, b"\x1b[A") * (seconds * _KEYS // 5 // 2)]
            share = (processor_seconds(terminal.pid) - used) / (perf_counter() - start)
    shutil.rmtree(run.folder / "stream")
    yield Figure(f"{RATE} messages a second at {size:,}: key until the cursor moved, p50", median(took), 10, "ms")
    yield Figure(f"{RATE} messages a second at {size:,}", 100 * share, 30, "% of a core")


def _until_moved(terminal: Terminal, key: bytes) -> float:
    """Milliseconds from a key to the cursor on another line; the next key follows 0.2 s after it."""
    before, start = _cursor_line(terminal), perf_counter()
    terminal.press(key)
    while terminal.read(1.0) and _cursor_line(terminal) == before:
        pass
    took = terminal.chunks[-1][0] - start
    drain(terminal, 0.4 - took)
    return took * 1e3


def _cursor_line(terminal: Terminal) -> int:
    lines = terminal.text().splitlines()
    return next((number for number, line in enumerate(lines) if line.startswith(_CURSOR)), -1)


def _change(run: Run, size: int, most: float) -> Iterator[Figure]:
    """Processor time of one message between two agents beyond that of a rest as long, and memory after all of them."""
    rounds = 5 if run.quick else 30
    client = console(run.folder / "change", size)
    send, numbers = courier(run.folder / "change" / "team"), count(size)
    with client.start() as terminal:
        arrive(client, terminal)
        for _ in range(2):  # the first changes make the console read archives, which is done once
            send(letter(next(numbers), to=AGENTS[0], kind="message"))
            drain(terminal, 3.0)
        start = processor_seconds(terminal.pid)
        drain(terminal, 0.6 * rounds)
        before = processor_seconds(terminal.pid)
        for _ in range(rounds):
            send(letter(next(numbers), to=AGENTS[0], kind="message"))
            drain(terminal, 0.6)
        at_rest = before - start  # as long; a rest has a row of its own
        used = processor_seconds(terminal.pid) - before - at_rest
        resident, _ = memory(terminal.pid)
    shutil.rmtree(run.folder / "change")
    yield Figure(f"one change in mode 1 at {size:,}, beyond a rest", used / rounds * 1e3, most, "ms of processor")
    if size == max(run.screen_sizes):
        yield Figure(f"memory at {size:,}", resident, 250, "MB")


def _first_rows(run: Run, size: int, factor: float) -> Iterator[Figure]:
    """On messages of which many are for the human, and on those of which only the oldest are."""
    empty = empty_textual(run.folder)
    clients = {
        "first rows": console(run.folder / "rows", size),
        "first rows, all for the human old": console(run.folder / "buried", size, messages=buried(size)),
    }
    for client in (empty, *clients.values()):
        watch_start(client)
    took: dict[str, list[float]] = {name: [] for name in ("empty", *clients)}
    for _ in range(run.rounds(8)):
        for name, client in (("empty", empty), *clients.items()):
            took[name] += watch_start(client)[FIRST_ROWS]
    floor = median(took["empty"])
    for name in clients:
        yield Figure(f"{name}, at {size:,}", median(took[name]) / floor, factor, "x an empty app")
    for folder in ("rows", "buried"):
        shutil.rmtree(run.folder / folder)


def _bytes(run: Run) -> Iterator[Figure]:
    ours = console(run.folder / "bytes", 500)
    peer = neomutt(run.folder / "bytes-peer", run.peers.neomutt, 500) if run.peers.neomutt is not None else None
    for size, known in SIZES.items():
        theirs = _held_arrow(peer, size) if peer is not None else known
        name = f"arrow key held in History, {size[0]}x{size[1]} (1.3 times neomutt's index)"
        yield Figure(name, _held_arrow(ours, size, to=HISTORY), 1.3 * theirs, "bytes")
    if peer is not None:
        for size, mode in (((120, 40), b""), ((200, 55), HISTORY)):  # where the message stands beside the list
            together = _arrow_keys(ours, size, to=mode)
            pager = _arrow_keys(peer, size, to=b"\r", settings=True)
            name = f"arrow key in a list with its message, {size[0]}x{size[1]} (neomutt: pager with index)"
            yield Figure(name, together, pager, "bytes")
    yield Figure("a live message in mode 6, 120x40", _live_in_history(run, ours), 300, "bytes")
    yield Figure("opening a form, 80x24", _answer(ours, (80, 24), b"b", b"\x1b"), 4_000, "bytes")
    for mode, word in MODES.items():
        yield Figure(f"mode switch to {word}, 80x24", _answer(ours, (80, 24), mode, b"1"), 2_000, "bytes")


def _held_arrow(client: Client, size: tuple[int, int], *, to: bytes = b"") -> float:
    """Bytes of each of the arrow keys that a held key sends, with what is drawn once it rests."""
    with client.start(size) as terminal:
        arrive(client, terminal)
        if to:
            terminal.press(to)
            terminal.settle(quiet=0.6, first=2.0)
        terminal.press(client.down)
        terminal.settle(quiet=0.6, first=2.0)
        before = terminal.received
        for _ in range(_HELD):
            terminal.press(client.down)
            drain(terminal, _REPEAT)
        terminal.settle(quiet=0.6, first=2.0)
        return (terminal.received - before) / _HELD


def _arrow_keys(client: Client, size: tuple[int, int], *, to: bytes = b"", settings: bool = False) -> float:
    """Bytes of an arrow key until all it changed is drawn."""
    with client.start(size) as terminal:
        arrive(client, terminal)
        for key in (b":set pager_index_lines=18\r",) * settings + ((to,) if to else ()):
            terminal.press(key)
            terminal.settle(quiet=0.6, first=2.0)
        down = b"J" if settings else client.down
        sizes = []
        for _ in range(6):
            terminal.press(down)
            sizes.append(float(terminal.settle(quiet=0.3, first=2.0).size))
    return median(sizes[1:])


def _live_in_history(run: Run, client: Client) -> float:
    """Bytes of one message between two agents, which is a new line on top of the list."""
    send = courier(run.folder / "bytes" / "team")
    with client.start() as terminal:
        arrive(client, terminal)
        terminal.press(HISTORY)
        terminal.settle(quiet=1.0, first=2.0)
        sizes: list[float] = []
        for _ in range(4):
            send(letter(900 + len(sizes), to=AGENTS[0], kind="message"))
            sizes.append(float(terminal.settle(quiet=1.2, first=8.0).size))
    return median(sizes[1:])


def _answer(client: Client, size: tuple[int, int], there: bytes, back: bytes) -> float:
    """Bytes of a key that opens something, the second time it does."""
    with client.start(size) as terminal:
        arrive(client, terminal)
        sizes = []
        for key in (there, back) * 3:
            terminal.press(key)
            sizes.append(float(terminal.settle(quiet=0.5, first=2.0).size))
    return median(sizes[2::2])


def drain(terminal: Terminal, seconds: float) -> None:
    """Read whatever comes for so long."""
    deadline = perf_counter() + seconds
    while (left := deadline - perf_counter()) > 0:
        terminal.read(left)
