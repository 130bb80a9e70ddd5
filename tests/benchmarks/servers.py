"""Servers of tools for MCP clients, ours and agenttakt's: how soon one is there, and how long a question takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from time import perf_counter
from typing import Any

from tests.benchmarks.data import AGENTS, letters, write_team
from tests.benchmarks.peers import FOLDER
from tests.benchmarks.processes import command, environment
from tests.benchmarks.run import Run
from tests.benchmarks.samples import take_turns
from tests.benchmarks.table import Table, ratio, spread

_OURS = "team-console mcp"
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def servers(run: Run) -> Iterator[Table]:
    """From the start of the process to its first answer, and from a question for the list of tools to its answer."""
    folder = run.folder / "servers"
    write_team(folder, letters(100))
    table = Table("Serve tools to an MCP client (ms)", ("server", "start", "ratio", "round trip", "ratio"))
    commands = {_OURS: (*command(), "mcp", "-t", str(folder), "--as", AGENTS[0])} if find_spec("mcp") else {}
    if (program := FOLDER / "bin/agenttakt").exists():
        commands["agenttakt serve"] = (str(program), "serve")
    left_out = [name for name in (_OURS, "agenttakt serve") if name not in commands]
    if left_out:
        table.notes.append(f"LEFT OUT because not installed (extra mcp; peers with --set-up): {', '.join(left_out)}.")
    table.notes.append("LEFT OUT: mcp_agent_mail, which answers over HTTP only and needs thirty packages for it.")
    if _OURS in commands:
        _fill(table, run, commands)
    yield table


def _fill(table: Table, run: Run, commands: Mapping[str, Sequence[str]]) -> None:
    starts = take_turns(
        {name: _start(words) for name, words in commands.items()}, rounds=run.rounds(8), budget=run.budget
    )
    trips = {name: _round_trips(words, run.rounds(100)) for name, words in commands.items()}
    middle = {name: sorted(times)[len(times) // 2] for name, times in trips.items()}
    for name in commands:
        start = starts[name]
        start_ratio, trip_ratio = ratio(start.median, starts[_OURS].median), ratio(middle[name], middle[_OURS])
        table.add(name, spread(start.times(1e3)), start_ratio, f"{middle[name] * 1e3:.1f}", trip_ratio)


def _start(words: Sequence[str]) -> Callable[[], float]:
    def measure() -> float:
        begun = perf_counter()
        with _served(words):
            return perf_counter() - begun

    return measure


def _round_trips(words: Sequence[str], number: int) -> list[float]:
    """Seconds of each, the first of which is not counted."""
    times = []
    with _served(words) as ask:
        for _ in range(number + 1):
            begun = perf_counter()
            ask("tools/list", {})
            times.append(perf_counter() - begun)
    return times[1:]


@contextmanager
def _served(words: Sequence[str]) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """A server that has answered a client's first words; gives what asks it something and waits for the answer."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment()) as server:
        numbers = count(1)

        def say(message: Mapping[str, Any]) -> None:
            assert server.stdin is not None
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()

        def ask(method: str, parameters: Mapping[str, Any]) -> None:
            number = next(numbers)
            say({"id": number, "method": method, "params": parameters})
            assert server.stdout is not None
            for line in server.stdout:
                if json.loads(line).get("id") == number:
                    return
            sys.exit(f"{' '.join(words)} ended without an answer to {method}")

        try:
            ask("initialize", _HELLO)
            say({"method": "notifications/initialized"})
            yield ask
        finally:
            server.kill()
