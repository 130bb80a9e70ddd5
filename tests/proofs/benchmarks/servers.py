"""Servers of tools for MCP clients, ours and those of peers: how soon one is there, how long a question takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.proofs.benchmarks.data import AGENTS, letters, write_team
from tests.proofs.benchmarks.peers import AGENT_MAIL, FOLDER
from tests.proofs.benchmarks.processes import command, environment
from tests.proofs.benchmarks.run import Run
from tests.proofs.benchmarks.samples import take_turns
from tests.proofs.benchmarks.table import Table, ratio, spread

_OURS, _AGENTTAKT, _AGENT_MAIL = "team-console mcp", "agenttakt serve", "mcp_agent_mail"
_ON_STDIO = "from mcp_agent_mail.app import build_mcp_server as build; build().run(show_banner=False)"
"""Its own command serves HTTP only; FastMCP, with which it is written, serves the same tools on pipes as ours do."""
Ask = Callable[[str, Mapping[str, Any]], None]
Serve = Callable[[], AbstractContextManager[Ask]]
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
    programs = {
        _OURS: (*command(), "mcp", "-t", str(folder), "--as", AGENTS[0]) if find_spec("mcp") else (),
        _AGENTTAKT: (str(FOLDER / "bin/agenttakt"), "serve"),
        _AGENT_MAIL: (str(AGENT_MAIL / "bin/python"), "-c", _ON_STDIO),
    }
    commands = {name: words for name, words in programs.items() if words and Path(words[0]).exists()}
    left_out = [name for name in programs if name not in commands]
    if left_out:
        table.notes.append(f"LEFT OUT because not installed (extra mcp; peers with --set-up): {', '.join(left_out)}.")
    if _OURS in commands:
        _fill(table, run, {name: partial(_served, words, folder) for name, words in commands.items()})
    yield table


def _fill(table: Table, run: Run, contestants: Mapping[str, Serve]) -> None:
    starts = take_turns(
        {name: _start(serve) for name, serve in contestants.items()}, rounds=run.rounds(8), budget=run.budget
    )
    trips = {name: _round_trips(serve, run.rounds(100)) for name, serve in contestants.items()}
    middle = {name: sorted(times)[len(times) // 2] for name, times in trips.items()}
    for name in contestants:
        start = starts[name]
        start_ratio, trip_ratio = ratio(start.median, starts[_OURS].median), ratio(middle[name], middle[_OURS])
        table.add(name, spread(start.times(1e3)), start_ratio, f"{middle[name] * 1e3:.1f}", trip_ratio)


def _start(serve: Serve) -> Callable[[], float]:
    def measure() -> float:
        begun = perf_counter()
        with serve():
            return perf_counter() - begun

    return measure


def _round_trips(serve: Serve, number: int) -> list[float]:
    """Seconds of each, the first of which is not counted."""
    times = []
    with serve() as ask:
        for _ in range(number + 1):
            begun = perf_counter()
            ask("tools/list", {})
            times.append(perf_counter() - begun)
    return times[1:]


@contextmanager
def _served(words: Sequence[str], folder: Path) -> Iterator[Ask]:
    """A server that has answered a client's first words; gives what asks it something and waits for the answer.

    Args:
        folder: Where mcp_agent_mail keeps what it keeps; its language model's prices are not fetched from the network.
    """
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    mail = {"STORAGE_ROOT": f"{folder}/mail", "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/mail.sqlite3"}
    variables = {**environment(), **mail, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=null, env=variables) as server:
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
