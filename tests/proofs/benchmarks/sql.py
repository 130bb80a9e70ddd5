"""When a team should leave its files: one to 32 agents at full speed on YAML, SQLite and PostgreSQL, side by side.

Every agent is a process that sends to its neighbour and receives its own mail through the desk; every commit is synced.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from team_console.store.settings.team_config import Agent, TeamConfig

from tests.proofs.benchmarks.bulk import cost
from tests.proofs.benchmarks.clients import environment
from tests.proofs.benchmarks.peers import ROOT
from tests.proofs.benchmarks.processes import command
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import Samples
from tests.proofs.benchmarks.table import Table, number
from tests.proofs.benchmarks.targets import Targets
from tests.proofs.benchmarks.terminal import Terminal

LEAD = "ceo"
_PATIENCE = 120.0
_FLOOR = "SKIP LOCKED alone"
"""A plain PostgreSQL table that agents claim rows of, with nothing checked, recorded or archived."""
_QUEUED = 1_000
_SHELL = {"YAML": (100.0, 4.0), "SQLite": (200.0, 8.0), "PostgreSQL": (250.0, 10.0)}
"""Kind of team -> milliseconds of processor time a send may take at most, and how many times a bare Python."""


def sql(run: Run) -> Iterator[Table]:
    """Throughput and latency of sends by number of agents; then from a write to the screen of a console."""
    crews = (1, 4) if run.quick else (1, 2, 4, 8, 16, 32)
    seconds = 1.0 if run.quick else 5.0
    with _places(run.folder / "sql") as places:
        yield _throughput(places, crews, seconds, run.folder / "sql")
        yield _shell(places, run.rounds(16))
        yield _screen(places, run.rounds(100), run.folder / "sql")


def _throughput(places: _Places, crews: tuple[int, ...], seconds: float, folder: Path) -> Table:
    kinds = (*places.kinds, *((_FLOOR,) if places.has_server else ()))
    columns = ["agents", *(f"{kind}: {what}" for kind in kinds for what in ("messages/s", "send p50", "p99 ms"))]
    table = Table(f"Agents at full speed, {seconds:g} s each", columns)
    refused: dict[str, int] = {}
    for crew in crews:
        cells = [str(crew)]
        for kind in kinds:
            agent = "skip_locked_agent" if kind == _FLOOR else "sql_agent"
            took, lost = _work(agent, places.fresh(kind, crew), crew, seconds, folder)
            refused[kind] = refused.get(kind, 0) + lost
            cells += [number(len(took.values) / seconds), number(took.median * 1e3), number(took.quantile(99) * 1e3)]
        table.add(*cells)
    table.notes.append(
        "Each message is sent, received, archived and marked read; the agents share the machine's cores."
    )
    table.notes.append("The PostgreSQL server runs on the same machine and syncs its commits, as the other two do.")
    for kind, count in refused.items():
        if count:
            table.notes.append(f"{kind}: {count} times the lock did not come free within 10 s; nothing was lost.")
    return table


def _work(agent: str, location: str, crew: int, seconds: float, folder: Path) -> tuple[Samples, int]:
    """What every send of the crew took, and how often one of them was refused."""
    results = [folder / f"result-{index}.json" for index in range(crew)]
    running = []
    for index, result in enumerate(results):
        words = (location, f"agent-{index}", f"agent-{(index + 1) % max(crew, 2)}", str(seconds), str(result))
        program = [sys.executable, "-P", "-m", f"tests.proofs.benchmarks.{agent}", *words]
        pipe = subprocess.PIPE
        running.append(subprocess.Popen(program, env=environment(folder), cwd=ROOT, stdin=pipe, stdout=pipe))
    try:
        _start_together(running)
        for process in running:
            if process.wait(seconds + _PATIENCE) != 0:
                raise RuntimeError("an agent of the benchmark failed")
    finally:
        for item in running:
            item.kill()
            item.wait()
    told = [json.loads(result.read_text()) for result in results]
    took = tuple(value for message in told for value in message["took"])
    return Samples(took), sum(message["refused"] for message in told)


def _start_together(agents: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait until every agent has opened the team; only then does the clock of the first one start."""
    for agent in agents:
        if agent.stdout is None or agent.stdout.readline() != b"ready\n":
            raise RuntimeError("an agent of the benchmark did not start")
    for process in agents:
        if process.stdin is not None:
            process.stdin.close()


def _shell(places: _Places, rounds: int) -> Table:
    """A send as a process beside a bare Python, the least of all rounds; on a server half of it is the driver."""
    from team_console.store.backends.open import open_team
    from team_console.store.service.caller import Caller
    from team_console.store.service.sending import send

    bare = _least((sys.executable, "-I", "-c", "pass"), rounds)
    targets = Targets(f"A send from a shell into {_QUEUED:,} messages, processor time", bare)
    words = ("send", "--to", "agent-1", "--summary", "Five words are in here", "--content", "Hello", "--as", "agent-0")
    for kind in places.kinds:
        location = places.fresh(kind, 2)
        team = open_team(location)
        for _ in range(_QUEUED):
            send(Caller(team, "agent-0"), to="agent-1", summary="One of many", content="Line one.\nLine two.")
        team.close()
        took, (most, times) = _least((*command(), "-t", location, *words), rounds), _SHELL[kind]
        targets.add(kind, took, most, "ms")
        targets.add(f"{kind}, beside a bare Python of {number(bare)} ms", took / bare, times, "x")
    if not places.has_server:
        targets.table.notes.append("LEFT OUT because no server is installed: PostgreSQL.")
    return targets.table


def _least(words: Sequence[str], rounds: int) -> float:
    """Milliseconds of processor time."""
    return min(cost(words).milliseconds for _ in range(rounds))


def _screen(places: _Places, changes: int, folder: Path) -> Table:
    columns = ("from the end of a write to the terminal, ms", "p50", "p90", "p99", "worst")
    table = Table(f"Change to screen, {changes} messages one by one", columns)
    for kind in places.kinds:
        took = _until_shown(places.fresh(kind, 2), changes, folder)
        table.add(
            kind, *(number(value) for value in (took.median, took.quantile(90), took.quantile(99), max(took.values)))
        )
    return table


def _until_shown(location: str, changes: int, folder: Path) -> Samples:
    from team_console.store.backends.open import open_team
    from team_console.store.service.caller import Caller
    from team_console.store.service.inbox import read_message
    from team_console.store.service.sending import send

    team = open_team(location)
    values = []
    with Terminal((*command(), "-t", location, "--as", LEAD), environment(folder)) as terminal:
        terminal.settle(quiet=1.5)
        for turn in range(changes + 1):
            caller, title = Caller(team, "agent-0"), f"live {turn:06} is here"
            sent = send(caller, to=LEAD, summary=title, content="Look.", priority="critical")
            values.append(terminal.wait_for(f"live {turn:06}", limit=20.0) * 1e3)
            read_message(Caller(team, LEAD), agent=LEAD, message_id=sent.messages[0].message_id)
            terminal.settle(quiet=0.15, first=5.0)
    team.close()
    return Samples(tuple(values[1:]))


class _Places:
    """Makes new teams, each in a place of its own."""

    def __init__(self, folder: Path, server: object | None) -> None:
        self._folder = folder
        self._server = server
        self._count = 0
        self.kinds = ("YAML", "SQLite") if server is None else ("YAML", "SQLite", "PostgreSQL")
        self.has_server = server is not None

    def fresh(self, kind: str, crew: int) -> str:
        """The location of a new team with a lead and at least two agents."""
        from team_console.store.service.migration import open_target

        self._count += 1
        location = str(self._folder / f"team-{self._count}{'.db' if kind == 'SQLite' else ''}")
        if kind in ("PostgreSQL", _FLOOR):
            from tests.sql.server import Server, fresh_database

            assert isinstance(self._server, Server)
            location = fresh_database(self._server)
        if kind == _FLOOR:
            from tests.proofs.benchmarks.skip_locked_agent import make_table

            make_table(location)
            return location
        names = [LEAD, *(f"agent-{index}" for index in range(max(crew, 2)))]
        agents = {name: Agent(name, role="master" if name == LEAD else "member") for name in names}
        config = TeamConfig(name="bench", lead=LEAD, agents=MappingProxyType(agents), declared=True)
        open_target(location, config).close()
        return location


@contextmanager
def _places(folder: Path) -> Iterator[_Places]:
    """With a private PostgreSQL server where one is installed."""
    from tests.sql.server import Server, find_programs

    folder.mkdir(parents=True, exist_ok=True)
    programs = find_programs()
    if programs is None:
        yield _Places(folder, None)
        return
    server = Server(folder / "server", programs)
    server.create(durable=True)
    server.start()
    try:
        yield _Places(folder, server)
    finally:
        server.stop()


if __name__ == "__main__":
    from tests.proofs.benchmarks.__main__ import main

    sys.exit(main(["--only", "sql", *sys.argv[1:]]))
