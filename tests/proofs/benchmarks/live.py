"""How long a change on disk takes to the screen of a running console."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.proofs.benchmarks.clients import console_command, environment
from tests.proofs.benchmarks.data import AGENTS, LEAD, quiet, write_team
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples
from tests.proofs.benchmarks.table import Table, number
from tests.proofs.benchmarks.terminal import Terminal

_SIZE = 1_000


def live(run: Run) -> list[Table]:
    """Median, 90th, 99th percentile and worst of many messages that appear and are read again."""
    changes = 20 if run.quick else 500
    appear, vanish = measure(run.folder / "live", size=_SIZE, changes=changes)
    columns = ("from the end of the write to the terminal, ms", "p50", "p90", "p99", "worst")
    table = Table(f"Change on disk to screen, {changes} changes in a queue of {_SIZE:,}", columns)
    for name, some in (("a message appears", appear), ("it goes when it was read", vanish)):
        figures = (some.median, some.quantile(90), some.quantile(99), max(some.values))
        table.add(name, *(number(figure) for figure in figures))
    table.notes.append(
        "The writer is another process. It appears: the screen shows its subject. It goes: the first output."
    )
    return [table]


def measure(folder: Path, *, size: int, changes: int) -> tuple[Samples, Samples]:
    """Milliseconds until each of `changes` messages was on the screen, and until its end was."""
    team = folder / "team"
    write_team(team, quiet(size))
    send, read = _writers(team)
    appear, vanish = [], []
    with Terminal(console_command(team), environment(folder)) as terminal:
        terminal.settle(quiet=1.5)
        for turn in range(changes + 1):
            message_id = send(f"live {turn:06} is here")
            appear.append(terminal.wait_for(f"live {turn:06}", limit=20.0) * 1e3)
            terminal.settle(quiet=0.15, first=0.15)
            read(message_id)
            vanish.append(terminal.settle(quiet=0.15, first=5.0).first * 1e3)
    return Samples(tuple(appear[1:])), Samples(tuple(vanish[1:]))


def _writers(team: Path) -> tuple[Callable[[str], str], Callable[[str], None]]:
    from team_console.store.backends.open import open_team
    from team_console.store.service.caller import Caller
    from team_console.store.service.inbox import read_message
    from team_console.store.service.sending import send

    opened = open_team(str(team))

    def write(summary: str) -> str:
        caller = Caller(opened, AGENTS[0])
        return send(caller, to=LEAD, summary=summary, content="Look.", priority="critical").messages[0].message_id

    def read(message_id: str) -> None:
        read_message(Caller(opened, LEAD), agent=LEAD, message_id=message_id)

    return write, read
