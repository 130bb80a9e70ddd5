"""Long jobs of the router beside programs that write at the same time: nobody is held up until the job is over."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.statements import SEED, execute
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open
from tests.sql.test_what_is_over_costs_nothing import fill

pytestmark = pytest.mark.slow

ROWS = 1_500
PATIENCE = 3
"""Seconds that the other program waits, many times what a piece takes and less than the whole job."""


def _insert(place: str, number: int) -> None:
    """What another program does while the routers run; it gives up after `PATIENCE`."""
    add = f"INSERT INTO agent_message (message_id, sender, recipient, status) VALUES ('n-{number}', 'a', 'b', 'seen')"
    if "://" in place:
        execute(place, f"SET lock_timeout = '{PATIENCE}s'", add)
        return
    with closing(sqlite3.connect(place, timeout=PATIENCE)) as connection, connection:
        connection.execute(add)


def test_another_program_writes_while_two_routers_share_the_work(
    empty_place: str, clock: FakeClock, opened: Open, elsewhere: CommandLine
) -> None:
    execute(empty_place, SEED.format(more=""))
    fill(empty_place, ROWS, clock, status="pending")
    execute(empty_place, "UPDATE agent_message SET created_at = CURRENT_TIMESTAMP, delivered_at = NULL")
    written = 0
    command = ("-t", empty_place, "--as", "orchestrator", "deliver")
    with elsewhere.running(*command) as first, elsewhere.running(*command) as second:
        while first.poll() is None or second.poll() is None:
            _insert(empty_place, written)
            written += 1
            for router in (first, second):  # what they print must not fill a pipe
                if router.poll() is None and router.stdout is not None:
                    router.stdout.read1(1 << 16)  # type: ignore[attr-defined]
        assert (first.returncode, second.returncode) == (0, 0)
    assert written > 1
    lines = opened(empty_place).audit(limit=100_000)
    told = Counter(message_id for line in lines if line.action == "deliver" for message_id in line.facts["ids"])
    assert (len(told), {*told.values()}) == (ROWS, {1})
    assert execute(empty_place, "SELECT count(*) FROM agent_message WHERE status = 'delivered'") == [(ROWS,)]
