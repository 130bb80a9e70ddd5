"""The store: a send as a process, a cold read, SQLite with a thousand and a million rows."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.sending import send

from tests.proofs.benchmarks.data import AGENTS, LEAD, letters, write_team
from tests.proofs.benchmarks.measure import PEERS, Figure, Run, bare, command, environment, run_once, take_turns

_SENDS = {100: 5.0, 1_000: 5.5, 10_000: 9.0}
"""Size of the queue -> how many bare Python starts a send may take."""
_READS = {1_000: 60.0, 10_000: 600.0}
_OURS = """
import sys, time
from team_console.store.backends.open import open_team
start = time.perf_counter()
seen = open_team(sys.argv[1], read_only=True).snapshot()
print(time.perf_counter() - start, len(seen.messages))
"""
_PYYAML = """
import sys, time, yaml
start = time.perf_counter()
with open(sys.argv[1] + "/message-queue.yaml", "rb") as file:
    seen = yaml.load(file, yaml.CSafeLoader)
print(time.perf_counter() - start, len(seen["messages"]))
"""
_ROWS = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
INSERT INTO agent_message (message_id, sender, recipient, message_type, payload, status, created_at)
SELECT 'old-' || n, 'architect', 'story-creator', 'message', '{"content":"x","summary":"y"}', 'read',
       strftime('%Y-%m-%dT%H:%M:%fZ', 1771900000 + n, 'unixepoch') FROM numbers
"""


def store(run: Run) -> Iterator[Figure]:
    """The rows."""
    yield from _sends(run)
    yield from _cold_reads(run)
    yield from _sqlite(run)


def _sends(run: Run) -> Iterator[Figure]:
    contestants: dict[str, Callable[[], float]] = {"bare": bare(run.folder)}
    for size in _SENDS:
        team = run.folder / f"send-{size}"
        write_team(team, letters(size))
        contestants[str(size)] = _sender(team, run.folder)
    if (clawteam := PEERS / "bin/clawteam").exists():
        contestants["clawteam"] = _clawteam(clawteam, run.folder)
    took = take_turns(contestants, run.rounds(24))
    floor, beside = took["bare"], ""
    if "clawteam" in took:
        beside = f"clawteam inbox send, which syncs nothing, {took['clawteam'] / floor:.1f}"
    for size, most in _SENDS.items():
        yield Figure(f"send as a process into {size:,}", took[str(size)] / floor, most, "x bare Python", beside)
        beside = ""


def _sender(team: Path, home: Path) -> Callable[[], float]:
    words = ("send", "--to", AGENTS[3], "--summary", "Five words are in here", "--content", "Hello", "--as", LEAD)
    return lambda: run_once((*command(), "-t", str(team), *words), environment(home))


def _clawteam(program: Path, home: Path) -> Callable[[], float]:
    words = (program, "--data-dir", home / "clawteam")
    sender, recipient = AGENTS[:2]
    named = {"CLAWTEAM_AGENT_NAME": sender, "CLAWTEAM_AGENT_ID": sender, "CLAWTEAM_AGENT_TYPE": "leader"}
    run_once((*words, "team", "spawn-team", "bench", "--agent-name", sender), environment(home, **named))
    text = (*words, "inbox", "send", "bench", recipient, "Hello", "--from", sender)
    return lambda: run_once(text, environment(home, **named))


def _cold_reads(run: Run) -> Iterator[Figure]:
    for size, most in _READS.items():
        team = run.folder / f"read-{size}"
        write_team(team, letters(size))
        ours, theirs = (_reader(code, team, size) for code in (_OURS, _PYYAML))
        took = take_turns({"ours": ours, "theirs": theirs}, run.rounds(8))
        beside = f"PyYAML's C loader {took['theirs'] * 1e3:,.0f} ms"
        yield Figure(f"cold read of {size:,} messages", took["ours"] * 1e3, most, "ms", beside)


def _reader(code: str, team: Path, size: int) -> Callable[[], float]:
    def read() -> float:
        done = subprocess.run((sys.executable, "-c", code, team), capture_output=True, text=True, check=True)
        seconds, seen = done.stdout.split()
        assert int(seen) == size, f"{seen} of {size} messages were seen"
        return float(seconds)

    return read


def _sqlite(run: Run) -> Iterator[Figure]:
    few, many = (500, 20_000) if run.is_quick else (1_000, 1_000_000)
    took = {rows: _send_and_receive(run, rows) for rows in (few, many)}
    for place, verb in enumerate(("send", "receive")):
        ratio = took[many][place] / took[few][place]
        beside = f"{took[few][place] * 1e3:.1f} and {took[many][place] * 1e3:.1f} ms"
        yield Figure(f"SQLite, {verb} beside {many:,} rows", ratio, 1.3, f"x beside {few:,}", beside)


def _send_and_receive(run: Run, rows: int) -> Sequence[float]:
    path = run.folder / f"rows-{rows}.db"
    run_once((*command(), "init", str(path), "--lead", LEAD, "--agent", AGENTS[0]), environment(run.folder))
    with closing(sqlite3.connect(path)) as base:
        base.execute(_ROWS, {"count": rows})
        base.commit()
    team = open_team(str(path))
    sent, received = list[float](), list[float]()
    for turn in count():
        start = perf_counter()
        send(Caller(team, LEAD), to=AGENTS[0], summary=f"Word {turn}", content="Hello")
        middle = perf_counter()
        receive(Caller(team, AGENTS[0]), agent=AGENTS[0])
        sent.append(middle - start)
        received.append(perf_counter() - middle)
        if turn > run.rounds(40):
            break
    team.close()
    return median(sent[2:]), median(received[2:])
