"""The console on a terminal: first rows, keys, live messages, rest, memory, a long plan; beside neomutt and Textual."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import read_message
from team_console.store.service.requests import submit_plan
from team_console.store.service.sending import send

from tests.proofs.benchmarks.data import AGENTS, LEAD, letters, quiet, write_maildir, write_team
from tests.proofs.benchmarks.measure import Figure, Run, command, environment, memory, percentile, processor_seconds
from tests.proofs.benchmarks.terminal import TimedTerminal

DOWN, HISTORY = "\x1b[B", "3"
_EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("job 000000")
Empty().run()
"""
_NEOMUTT = """\
set folder = "{home}"
set sort = date
set index_format = "%4C %Z %{{%b %d %H:%M}} %-15.15L %s"
unset header_cache
"""
"""The whole folder is read at every start, as the console reads the whole queue."""


@dataclass(frozen=True, slots=True)
class Program:
    """Something that shows a list of messages on a terminal."""

    command: Sequence[str]
    home: Path

    def start(self, *, wait: bool = True) -> TimedTerminal:
        """Run it, and wait until its list is there and rests."""
        terminal = TimedTerminal(self.command, environment(self.home))
        if wait:
            terminal.wait_until(lambda: _shows_list(terminal.text), "list")
            terminal.rest(0.6)
        return terminal

    def first_rows(self) -> float:
        """Seconds from the start of the process until the first rows are on the screen."""
        with self.start(wait=False) as terminal:
            return terminal.seconds_until(_shows_list, terminal.started)


def _shows_list(text: str) -> bool:
    return re.search(r"job \d{6}", text) is not None and "◔ reading" not in text


def console(run: Run) -> Iterator[Figure]:
    """The rows."""
    yield from _first_rows(run)
    yield from _change(run)
    yield from _use(run)
    yield _memory(run)
    yield _plan(run)


def _program(run: Run, name: str, size: int, *, archived: int = 0) -> Program:
    """The console on a new team of `size` queued and `archived` archived messages."""
    team = run.folder / name
    write_team(team, letters(size, first=archived), archived=archived)
    return Program((*command(), "-t", str(team), "--as", LEAD), run.folder)


def _first_rows(run: Run) -> Iterator[Figure]:
    empty = Program((sys.executable, "-c", _EMPTY), run.folder)
    for size, most in ((1_000, 2.0), (10_000, 4.0)):
        programs = {"ours": _program(run, f"rows-{size}", size), "empty": empty}
        if shutil.which("neomutt") is not None:
            programs["neomutt"] = _neomutt(run, size)
        took: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(run.rounds(8)):
            for name, program in programs.items():
                took[name].append(program.first_rows() * 1e3)
        found = {name: median(some) for name, some in took.items()}
        beside = f"{found['ours']:.0f} ms, an empty app {found['empty']:.0f} ms"
        beside += f", neomutt {found['neomutt']:.0f} ms" if "neomutt" in found else ""
        yield Figure(f"first rows at {size:,} messages", found["ours"] / found["empty"], most, "x empty app", beside)


def _neomutt(run: Run, size: int) -> Program:
    box, settings = run.folder / f"Maildir-{size}", run.folder / "neomuttrc"
    write_maildir(box, letters(size))
    settings.write_text(_NEOMUTT.format(home=run.folder), encoding="utf-8")
    return Program(("neomutt", "-n", "-F", str(settings), "-f", str(box)), run.folder)


def _change(run: Run) -> Iterator[Figure]:
    """Another process writes a message for the human, which another reads."""
    team, took = run.folder / "change", list[float]()
    write_team(team, quiet(1_000))
    program, opened = Program((*command(), "-t", str(team), "--as", LEAD), run.folder), open_team(str(team))
    with program.start(wait=False) as terminal:
        terminal.rest(1.5, 60.0)
        for turn in range(run.rounds(160)):
            words = f"live {turn:06}"
            done = send(Caller(opened, AGENTS[0]), to=LEAD, summary=words, content="Look.", priority="critical")
            took.append(terminal.seconds_until(lambda text, words=words: words in text, perf_counter()) * 1e3)  # type: ignore[misc]
            terminal.rest(0.15)
            read_message(Caller(opened, LEAD), agent=LEAD, message_id=done.messages[0].message_id)
            terminal.rest(0.15, 5.0)
    opened.close()
    for name, value, most in (("p50", median(took[1:]), 60), ("p99", percentile(took[1:], 99), 200)):
        yield Figure(f"change on disk until it is on the screen at 1,000, {name}", value, most, "ms")


def _use(run: Run) -> Iterator[Figure]:
    program = _program(run, "use", 1_000)
    opened, numbers = open_team(str(run.folder / "use")), count()
    with program.start() as terminal:
        used, start, seconds = processor_seconds(terminal.pid), len(terminal.output), 4.0 if run.is_quick else 30.0
        terminal.watch(seconds)
        yield Figure("idle", len(terminal.output) - start, 0, "bytes")
        yield Figure("idle", 100 * (processor_seconds(terminal.pid) - used) / seconds, 0.5, "% of a core")
        terminal.send(HISTORY)
        terminal.rest(0.6, 2.0)
        took, sizes = terminal.pressed(DOWN, 21)
        yield Figure("arrow key in a list with its message", took, 10, "ms")
        yield Figure("arrow key in a list with its message, 120x40", sizes, 1_600, "bytes")
        arrived = list[float]()
        for _ in range(4):
            send(Caller(opened, AGENTS[0]), to=AGENTS[1], summary=f"Word {next(numbers)}", content="Hello")
            arrived.append(float(terminal.rest(1.2, 8.0)[1]))
        yield Figure("a live message", median(arrived[1:]), 500, "bytes")
    opened.close()


def _memory(run: Run) -> Figure:
    queued, archived = (1_000, 5_000) if run.is_quick else (10_000, 100_000)
    program = _program(run, "memory", queued, archived=archived)
    with program.start() as terminal:
        terminal.watch(3.0)
        return Figure(f"memory with {queued:,} queued and {archived:,} archived", memory(terminal.pid), 150, "MB")


def _plan(run: Run) -> Figure:
    team = run.folder / "plan"
    write_team(team, ())
    text = "\n".join(f"{line}. Step {line} of the plan, with what it changes and why it has to." for line in range(192))
    opened = open_team(str(team))
    submit_plan(Caller(opened, AGENTS[0]), content=text, summary="job 000000 and a plan of 192 lines")
    opened.close()
    program = Program((*command(), "-t", str(team), "--as", LEAD), run.folder)
    with program.start() as terminal:
        for open_it in "\rf":
            terminal.send(open_it)
            terminal.rest(0.6, 2.0)
        took, _ = terminal.pressed(" ", 5)
    return Figure("page key in a plan of 192 lines", took, 15, "ms")
