"""Changes are noticed at once, by whomever they are made; a lost server is said and found again."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from team_console.store.backends.open import create_database
from team_console.store.backends.sql.row_reader import LARGE
from team_console.store.contract.team import WatchHint, WatchState

from tests.equipment.command_line import clean_environment, needs
from tests.equipment.postgresql import Server, fresh_database
from tests.equipment.statements import SEED, execute
from tests.equipment.teams import make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow

LIMIT = 60.0


async def _next(hints: AsyncIterator[WatchHint]) -> WatchHint:
    return await asyncio.wait_for(anext(hints), LIMIT)


async def _until(hints: AsyncIterator[WatchHint], condition: Callable[[WatchHint], bool]) -> WatchHint:
    async with asyncio.timeout(LIMIT):
        async for hint in hints:
            if condition(hint):
                return hint
    raise AssertionError("the watch ended")


@pytest.mark.parametrize(("read_only", "ahead"), [(False, 0), (True, 0), (False, 3600)])
def test_a_commit_that_is_synced_slowly_is_noticed_when_it_can_be_seen(
    request: pytest.FixtureRequest, tmp_path: Path, opened: Open, read_only: bool, ahead: int
) -> None:
    """The log is written first and seen later: whoever looks at its time alone looks too early and never again.

    A file may be some seconds `ahead` of a clock that was set back.
    """
    needs("strace")
    place = str(tmp_path / "team.db")
    create_database(place, SETTINGS)
    keeper = opened(place)
    keeper.snapshot()
    if ahead:
        os.utime(place, (time.time() + ahead,) * 2)
        staying = sqlite3.connect(place)  # else whoever leaves last writes the log into the file, which is seen
        staying.execute("SELECT count(*) FROM agent_message").close()
        request.addfinalizer(staying.close)
    team = opened(place, read_only=read_only)
    slow = (
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fdatasync",
        "-e",
        "inject=fdatasync:delay_enter=400000",
    )
    script = (
        "import sys; from team_console.store.backends.open import *; "
        "from tests.equipment.teams import make_message, put;"
    )
    command = [*slow, sys.executable, "-c", script + "put(open_database(sys.argv[1]), make_message(1))", place]

    async def story() -> None:
        hints = team.watch()
        await _next(hints)
        writer = await asyncio.create_subprocess_exec(*command, env=clean_environment())
        await _until(hints, lambda hint: len(team.snapshot().messages) == 1)
        assert await writer.wait() == 0
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    """To each process that is still there: the one behind a connection that was just closed may be ending."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def test_a_server_that_answers_no_more_is_said_although_its_connections_stand(own_server: Server, opened: Open) -> None:
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    team = opened(place)

    async def story() -> None:
        hints = team.watch()
        await _next(hints)
        stopped = own_server.pids()
        try:
            _signal(stopped, signal.SIGSTOP)
            lost = await _until(hints, lambda hint: hint.state is WatchState.STALLED)
            assert "no answer within 5 s" in lost.reason
        finally:
            _signal(stopped, signal.SIGCONT)
        await _until(hints, lambda hint: hint.state is WatchState.LIVE)
        await asyncio.to_thread(put, team, make_message(1))
        await _until(hints, lambda hint: len(team.snapshot().messages) == 1)
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())


def test_what_another_program_does_in_a_large_table_is_noticed(postgres: str, opened: Open) -> None:
    """It tells nobody, and only rows that are not over are looked at, and the newest of the others."""
    row = "(message_id, sender, recipient, message_type, payload, status, created_at) SELECT"
    rest = "'orchestrator', 'architect', 'spec_ready', '{}'"
    execute(postgres, SEED.format(more=""))
    many = f"CAST(n AS TEXT), {rest}, 'delivered', TIMESTAMP '2026-02-24 08:00' + n * interval '1 second'"
    execute(postgres, f"INSERT INTO agent_message {row} {many} FROM generate_series(1, {LARGE + 10}) AS numbers(n)")
    steps = (
        f"INSERT INTO agent_message {row} 'new', {rest}, 'pending', TIMESTAMP '2026-02-24 07:00'",
        "UPDATE agent_message SET payload = '{\"spec_id\": \"S-2\"}' WHERE message_id = 'new'",
        "UPDATE agent_message SET status = 'delivered' WHERE message_id = 'new'",
        f"INSERT INTO agent_message {row} 'at once', {rest}, 'delivered', TIMESTAMP '2026-02-25 08:00'",
    )
    team = opened(postgres, read_only=True)

    async def story() -> None:
        hints = team.watch()
        for step in steps:
            await _next(hints)
            await asyncio.to_thread(execute, postgres, step)
        await _next(hints)
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())
