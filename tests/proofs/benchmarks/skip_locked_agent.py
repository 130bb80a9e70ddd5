"""The floor of the SQL comparison: one agent on a plain PostgreSQL table, claiming rows with SKIP LOCKED.

Nothing is checked, recorded or archived; every commit is synced by the server, as ours are.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import psycopg

_TABLE = """
create table if not exists bench_queue (
    id bigserial primary key,
    recipient text not null,
    body text not null,
    created timestamptz not null default now(),
    read_at timestamptz
);
create index if not exists bench_queue_unread on bench_queue (recipient, id) where read_at is null;
"""
_SEND = "insert into bench_queue (recipient, body) values (%s, %s)"
_RECEIVE = """
update bench_queue set read_at = now() where id in (
    select id from bench_queue where recipient = %s and read_at is null order by id for update skip locked
) returning id, body
"""


def make_table(location: str) -> None:
    """Make the queue of a database, empty."""
    with psycopg.connect(location) as connection:
        connection.execute(_TABLE)


def main(location: str, name: str, neighbour: str, seconds: float, result: Path) -> None:
    """As `sql_agent.main`: work from the end of standard input on; writes what every send took, in seconds."""
    with psycopg.connect(location) as connection:
        print("ready", flush=True)
        sys.stdin.read()
        took: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            begun = time.perf_counter()
            connection.execute(_SEND, (neighbour, "The next step is done now\nLine one.\nLine two."))
            connection.commit()
            took.append(time.perf_counter() - begun)
            connection.execute(_RECEIVE, (name,)).fetchall()
            connection.commit()
    result.write_text(json.dumps({"took": took, "refused": 0}))


if __name__ == "__main__":
    place, me, other, duration, file = sys.argv[1:]
    main(place, me, other, float(duration), Path(file))
