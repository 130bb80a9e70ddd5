"""The console on a terminal: first rows, keys, live messages, rest, memory, a long plan; beside neomutt and Textual."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from team_console.store.backends.open import open_team
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import read_message
from team_console.store.service.requests import submit_plan
from team_console.store.service.sending import send

from tests.equipment.terminal import Terminal
from tests.proofs.benchmarks.data import AGENTS, LEAD, letters, quiet, write_maildir, write_team
from tests.proofs.benchmarks.measure import (
    Figure,
    Run,
    command,
    environment,
    memory,
    percentile,
    processor_seconds,
    take_turns,
)

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


class TimedTerminal(Terminal):
    """A program on a terminal, whose answers are timed.

    Attributes:
        started: When the program was started.
        came: When something came last.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.started = self.came = perf_counter()
        super().__init__(command, cwd=Path("/"), env=environment)

    def pump(self, seconds: float) -> bool:
        """Take what the program wrote; False when there was nothing.

        Raises:
            RuntimeError: The program ended.
        """
        if super().pump(seconds):
            self.came = perf_counter()
            return True
        if self._ended():
            raise RuntimeError(f"the program on the terminal ended; its last words: {self.text[-600:]}")
        return False

    def seconds_until(self, shows: Callable[[str], bool], since: float) -> float:
        """Seconds from `since` until the screen satisfied `shows`."""
        self.wait_until(lambda: shows(self.text), "what is waited for")
        return self.came - since

    def rest(self, quiet: float, first: float | None = None) -> tuple[float, int]:
        """Wait until nothing comes for `quiet` seconds (`first` for the first byte); when that came, and bytes."""
        start, size = perf_counter(), len(self.output)
        answered = self.pump(first or quiet)
        took = self.came - start
        while answered and self.pump(quiet):
            pass
        return took, len(self.output) - size

    def pressed(self, key: str, times: int) -> tuple[float, float]:
        """Median milliseconds until the first answer to a key, and median bytes until all is drawn."""
        bursts = []
        for _ in range(times):
            self.send(key)
            bursts.append(self.rest(0.15, 2.0))
        return median(took * 1e3 for took, _ in bursts[1:]), median(float(size) for _, size in bursts[1:])

    def watch(self, seconds: float) -> None:
        """Look on for so long."""
        end = perf_counter() + seconds
        while (left := end - perf_counter()) > 0:
            self.pump(left)


class Program(NamedTuple):
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


def _program(run: Run, name: str, messages: Iterable[Message], *, archived: int = 0) -> Program:
    """Make a new team with these messages in its queue and so many archived; the console on it."""
    write_team(run.folder / name, messages, archived=archived)
    return Program((*command(), "-t", str(run.folder / name), "--as", LEAD), run.folder)


def _first_rows(run: Run) -> Iterator[Figure]:
    empty = Program((sys.executable, "-c", _EMPTY), run.folder)
    for size, most in ((1_000, 2.0), (10_000, 4.0)):
        programs = {"ours": _program(run, f"rows-{size}", letters(size)), "empty": empty}
        if shutil.which("neomutt") is not None:
            programs["neomutt"] = _neomutt(run, size)
        took = take_turns({name: program.first_rows for name, program in programs.items()}, run.rounds(8))
        found = {name: 1e3 * seconds for name, seconds in took.items()}
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
    program, took = _program(run, "change", quiet(1_000)), list[float]()
    opened = open_team(str(run.folder / "change"))
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
    program = _program(run, "use", letters(1_000))
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
    program = _program(run, "memory", letters(queued, first=archived), archived=archived)
    with program.start() as terminal:
        terminal.watch(3.0)
        return Figure(f"memory with {queued:,} queued and {archived:,} archived", memory(terminal.pid), 150, "MB")


def _plan(run: Run) -> Figure:
    program = _program(run, "plan", ())
    text = "\n".join(f"{line}. Step {line} of the plan, with what it changes and why it has to." for line in range(192))
    opened = open_team(str(run.folder / "plan"))
    submit_plan(Caller(opened, AGENTS[0]), content=text, summary="job 000000 and a plan of 192 lines")
    opened.close()
    with program.start() as terminal:
        for open_it in "\rf":
            terminal.send(open_it)
            terminal.rest(0.6, 2.0)
        took, _ = terminal.pressed(" ", 5)
    return Figure("page key in a plan of 192 lines", took, 15, "ms")
