"""Changes are noticed at once, by whomever they are made; a lost server is said and found again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from team_console.store.backends.sql.open import create_database
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.team import WatchHint, WatchState

from tests.equipment.command_line import clean_environment, needs
from tests.equipment.postgresql import Server, fresh_database
from tests.equipment.statements import execute, insert
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


def test_every_change_of_a_burst_is_on_the_next_snapshot(team: SqlTeam, place: str, opened: Open) -> None:
    async def story() -> None:
        hints = team.watch()
        await _next(hints)
        other = opened(place)
        for number in range(1, 31):
            await asyncio.to_thread(put, other, make_message(number))
        await _until(hints, lambda hint: len(team.snapshot().messages) == 30)
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())


def test_what_a_program_without_team_console_writes_is_noticed(team: SqlTeam, place: str) -> None:
    async def story() -> None:
        hints = team.watch()
        await _next(hints)
        await asyncio.to_thread(insert, place, "msg-009")
        await _until(hints, lambda hint: len(team.snapshot().messages) == 1)
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())


@pytest.mark.parametrize("read_only", [False, True])
def test_a_commit_that_is_synced_slowly_is_noticed_when_it_can_be_seen(
    tmp_path: Path, opened: Open, read_only: bool
) -> None:
    """The log is written first and seen later: whoever looks at its time alone looks too early and never again."""
    needs("strace")
    place = str(tmp_path / "team.db")
    create_database(place, SETTINGS)
    keeper = opened(place)
    keeper.snapshot()
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
        "import sys; from team_console.store.backends.sql.open import *; "
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


def test_a_database_file_that_vanishes_and_returns_is_noticed(tmp_path: Path, opened: Open) -> None:
    path = tmp_path / "team.db"
    create_database(str(path), SETTINGS)
    team = opened(str(path))

    async def story() -> None:
        hints = team.watch()
        await _next(hints)
        team.close()
        path.rename(tmp_path / "away.db")
        await _next(hints)
        (tmp_path / "away.db").rename(path)
        await _until(hints, lambda hint: team.snapshot().condition == "empty")
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


def test_a_watch_that_may_not_read_says_so_and_not_that_the_server_is_gone(postgres: str, opened: Open) -> None:
    execute(postgres, "CREATE ROLE nobody_here LOGIN")

    async def story() -> None:
        hints = opened(postgres.replace("//postgres@", "//nobody_here@")).watch()
        refused = await _next(hints)
        assert refused.state is WatchState.STALLED
        assert refused.reason.startswith("the server refuses: ")
        await hints.aclose()  # type: ignore[attr-defined]

    try:
        create_database(postgres, SETTINGS)
        asyncio.run(story())
    finally:
        execute(postgres, "DROP ROLE nobody_here")


def test_a_server_that_is_not_there_or_goes_or_cuts_is_said_with_the_reason_and_found_again(
    own_server: Server, opened: Open
) -> None:
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    team = opened(place)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()"
    losses = ((own_server.kill, own_server.start), (lambda: own_server.execute(cut), lambda: None))

    async def story() -> None:
        own_server.stop()
        hints = team.watch()
        assert (await _next(hints)).state is WatchState.STALLED
        await asyncio.to_thread(own_server.start)
        await _until(hints, lambda hint: hint.state is WatchState.LIVE)
        for number, (lose, find) in enumerate(losses, start=1):
            await asyncio.to_thread(put, team, make_message(number))
            await _until(hints, lambda hint: len(team.snapshot().messages) == number)  # noqa: B023 - at once
            await asyncio.to_thread(lose)
            lost = await _until(hints, lambda hint: hint.state is WatchState.STALLED)
            assert "no connection to the server" in lost.reason
            await asyncio.to_thread(find)
            await _until(hints, lambda hint: hint.state is WatchState.LIVE)
        assert len(team.snapshot().messages) == len(losses)
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())
