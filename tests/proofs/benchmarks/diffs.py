"""Diffs of 5,000 lines: from the key to the screen, and page by page, against `diff -u` in `less`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from team_console.store.backends.open import open_team
from team_console.store.service.asking import ask_permission
from team_console.store.service.caller import Caller
from team_console.store.service.requests import reject, submit_plan

from tests.proofs.benchmarks.clients import console_command, environment
from tests.proofs.benchmarks.data import AGENTS, LEAD, write_team
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples
from tests.proofs.benchmarks.table import Table, spread
from tests.proofs.benchmarks.terminal import Terminal

_LINES = 5_000
_ALLOWED = 100
"""Milliseconds."""
_NEW = re.compile(r"[-−] *\d+\. step \d+ of (\d+) as it was before")
"""A line of a diff that tells what is gone, with the number of its request."""
_PAGES = 12
_PAGE_DOWN = b"\x1b[6~"


@dataclass
class _Times:
    first: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)


def diffs(run: Run) -> Iterator[Table]:
    """One table: what shows a diff, until it is there, and a page further."""
    table = Table(f"A diff of {_LINES:,} lines on a terminal of 120x40 (ms)", ("", "on the screen", "a page further"))
    number = min(len(AGENTS), run.rounds(10))
    for name, times in (
        ("a plan against its rejected version", _in_console(run, "plans", number)),
        ("a change of a file that waits for permission", _in_console(run, "changes", number)),
        ("`diff -u` in `less`, with its start", _in_less(run, number)),
    ):
        table.add(name, *(spread(Samples(tuple(some))) if some else "-" for some in (times.first, times.pages)))
    table.notes.append(
        f"At most {_ALLOWED} ms are allowed; each diff is new to the console, which read it with its list."
    )
    if shutil.which("less") is None:
        table.notes.append("LEFT OUT because not installed: less.")
    yield table


def _versions(number: int) -> tuple[str, str]:
    """Two texts without a line in common, as a rejected plan and its next version might be at worst."""
    half = range(_LINES // 2)
    old = "".join(f"{line}. step {line} of {number} as it was before, in some words\n" for line in half)
    return old, "".join(f"{line}. step {line} of {number} is another now, in other words\n" for line in half)


def _in_console(run: Run, what: str, number: int) -> _Times:
    folder = run.folder / f"diffs-{what}"
    write_team(folder, ())
    _ask(folder, what, number)
    times, shown = _Times(), set[str]()
    with Terminal(console_command(folder), environment(run.folder)) as terminal:
        terminal.wait_for("step")
        terminal.settle(quiet=1.0, first=2.0)
        terminal.press(b"3")
        terminal.settle(quiet=1.0, first=2.0)
        shown |= set(_NEW.findall(terminal.text()))
        while len(shown) < number:
            start = perf_counter()
            terminal.press(b"j")
            times.first.append((_until_new(terminal, shown) - start) * 1e3)
            terminal.settle(quiet=0.3, first=0.3)
        terminal.press(b"\r")
        terminal.settle(quiet=0.3, first=1.0)
        times.pages += _pages(terminal)
    return times


def _until_new(terminal: Terminal, shown: set[str], limit: float = 30.0) -> float:
    """The moment at which a diff was there that was not shown before."""
    deadline = perf_counter() + limit
    while perf_counter() < deadline:
        terminal.read(deadline - perf_counter())
        fresh = set(_NEW.findall(terminal.text())) - shown
        if fresh:
            shown |= fresh
            return terminal.chunks[-1][0]
    raise TimeoutError(f"no new diff came:\n{terminal.text()}")


def _pages(terminal: Terminal) -> list[float]:
    taken = []
    for _ in range(_PAGES):
        terminal.press(_PAGE_DOWN)
        taken.append(terminal.settle(quiet=0.15, first=2.0).seconds * 1e3)
    return taken[1:]


def _ask(folder: Path, what: str, number: int) -> None:
    team = open_team(str(folder))
    lead = Caller(team, LEAD)
    for place, name in enumerate(AGENTS[:number]):
        old, new = _versions(place)
        agent = Caller(team, name)
        if what == "plans":
            first = submit_plan(agent, content=old, summary="The steps as they were at first").request_id or ""
            reject(lead, request_id=first, reason="Say it in other words")
            submit_plan(agent, content=new, summary="The steps in other words")
        else:
            given = {"file_path": f"/home/you/steps-{place}.md", "old_string": old, "new_string": new}
            ask_permission(agent, tool="Edit", input=given)
    team.close()


def _in_less(run: Run, number: int) -> _Times:
    times = _Times()
    if shutil.which("less") is None:
        return times
    for place in range(number):
        paths = [run.folder / f"{name}-{place}" for name in ("old", "new")]
        for path, text in zip(paths, _versions(place), strict=True):
            path.write_text(text)
        with Terminal(_less(paths), environment(run.folder)) as terminal:
            while "as it was before" not in terminal.text():
                terminal.read(30.0)
            times.first.append((terminal.chunks[-1][0] - terminal.started) * 1e3)
            terminal.settle(quiet=0.2, first=0.2)
            times.pages += _pages(terminal) if place == 0 else []
    return times


def _less(paths: Sequence[Path]) -> tuple[str, ...]:
    return "sh", "-c", 'diff -u "$0" "$1" | less', *map(str, paths)
