"""The store: a send as a process, a cold read, SQLite with a thousand and a million rows."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.route_json import route
from team_console.store.service.router import deliver
from team_console.store.service.sending import send
from team_console.store.views.status import view_of_team

from tests.equipment.growing_verbs import aged, waiting
from tests.proofs.benchmarks.data import AGENTS, LEAD, letters, write_team
from tests.proofs.benchmarks.measure import PEERS, Figure, Run, bare, command, environment, run_once, take_turns

_SENDS = {100: 9.0, 1_000: 10.0, 10_000: 22.0}
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
_WRITER = """
import sys, time
from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
caller = Caller(open_team(sys.argv[1]), sys.argv[2])
while True:
    start = time.perf_counter()
    with caller.transaction("wait"):
        print(time.perf_counter() - start, flush=True)
    time.sleep(0.02)
"""
"""Another writer: how long it waits each time until it may write."""
_NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)"
_OVER = """
INSERT INTO agent_message (message_id, sender, recipient, message_type, payload, status, created_at, delivered_at)
SELECT 'old-' || n, 'orchestrator', CASE n % 2 WHEN 0 THEN :agent ELSE 'story-creator' END, 'task_assignment',
       '{"task_id":"TASK-' || n || '","spec_id":"SPEC-1","priority":"high"}', :status,
       datetime('now', '-6 days', '+' || (n * 500000 / :count) || ' seconds'), datetime('now') FROM numbers
"""
_SEED = """
CREATE TABLE agent_message (
    message_id TEXT PRIMARY KEY, sender TEXT NOT NULL, recipient TEXT NOT NULL, message_type TEXT, payload JSON,
    status TEXT, created_at TIMESTAMP, delivered_at TIMESTAMP, retry_count INTEGER DEFAULT 0,
    max_retries INTEGER DEFAULT 3, error_message TEXT
)
"""
_FORMS = {"a team's read rows": "read", "delivered rows of another program": "delivered"}
"""What lies there -> its status; the second in a table that another program made, in which nobody is declared."""
_BY_INDEX = 5.0
"""What `status` may take, which counts by an index."""
_VERBS: Mapping[str, Callable[[Caller], object]] = {
    "send": lambda caller: send(caller, to=AGENTS[0], summary="Five words are in here", content="Hello"),
    "send to all": lambda caller: send(caller, to="all", summary="Five words are in here", content="Hello"),
    "receive": lambda caller: receive(Caller(caller.team, AGENTS[0]), agent=AGENTS[0]),
    "receive that finds nothing": lambda caller: receive(Caller(caller.team, AGENTS[0]), agent=AGENTS[0]),
    "poll": lambda caller: route(caller, {"ACTION": "poll", "RECIPIENT": AGENTS[0]}),
    "deliver": deliver,
    "requests": lambda caller: view_of_team(caller.team, caller.team.snapshot(), me=LEAD, counted=False),
    "status": lambda caller: view_of_team(caller.team, caller.team.snapshot(), me=LEAD),
}


def store(run: Run) -> Iterator[Figure]:
    """The rows."""
    yield from _sends(run)
    yield from _cold_reads(run)
    yield from _sqlite(run)
    yield from _long_jobs(run)


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
    for form, status in _FORMS.items():
        took = {rows: _verbs_beside(run, rows, status) for rows in (few, many)}
        for verb in _VERBS:
            before, after = took[few][verb], took[many][verb]
            beside = f"{before * 1e3:.1f} and {after * 1e3:.1f} ms"
            most = _BY_INDEX if verb == "status" else 1.3
            yield Figure(f"SQLite, {verb} beside {many:,} {form}", after / before, most, f"x beside {few:,}", beside)


def _verbs_beside(run: Run, rows: int, status: str) -> dict[str, float]:
    """Seconds of each verb, in the state that a process finds which has just started."""
    path = run.folder / f"{status}-{rows}.db"
    if status == "read":
        run_once((*command(), "init", str(path), "--lead", LEAD, "--agent", AGENTS[0]), environment(run.folder))
    with closing(sqlite3.connect(path)) as base:
        if status != "read":
            base.execute(_SEED)
        base.execute(f"{_NUMBERS} {_OVER}", {"count": rows, "status": status, "agent": AGENTS[0]})
        base.commit()
    took: dict[str, list[float]] = {verb: [] for verb in _VERBS}
    for _ in range(run.rounds(24) + 2):
        for verb, action in _VERBS.items():
            team = open_team(str(path))
            start = perf_counter()
            action(Caller(team, LEAD))
            took[verb].append(perf_counter() - start)
            team.close()
    return {verb: median(values[2:]) for verb, values in took.items()}


def _long_jobs(run: Run) -> Iterator[Figure]:
    count = 1_000 if run.is_quick else 10_000
    files, base = run.folder / "long-job", run.folder / "long-job.db"
    write_team(files, (waiting(old, AGENTS[number % len(AGENTS)]) for number, old in enumerate(aged(count))))
    run_once((*command(), "init", str(base), "--lead", LEAD, "--agent", AGENTS[0]), environment(run.folder))
    with closing(sqlite3.connect(base)) as table:
        table.execute(f"{_NUMBERS} {_OVER}", {"count": count, "status": "pending", "agent": AGENTS[0]})
        table.commit()
    for kind, place in (("files", files), ("SQLite", base)):
        with subprocess.Popen((sys.executable, "-c", _WRITER, place, LEAD), stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            deliver(Caller(open_team(str(place)), LEAD))
            writer.terminate()
            longest = max(map(float, writer.stdout.read().split()))
        yield Figure(f"{kind}, another writer beside deliver_all of {count:,}", longest, 0.5, "s waited at most")
