"""What stands between us and a server, or in its place: poolers, replicas that only read, limits of a role; and what
outlives a session.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from team_console.store.backends.open import create_database
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.snapshot import Condition
from team_console.store.contract.team import WatchHint, WatchState
from team_console.store.model.errors import Code, TeamError

from tests.equipment.pooler import pooler
from tests.equipment.postgresql import Server, empty_postgresql, fresh_database
from tests.equipment.statements import execute
from tests.equipment.teams import ids, make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow


@pytest.fixture
def pooled() -> Iterator[str]:
    """The location of a team behind a pooler."""
    place = empty_postgresql()
    create_database(place, SETTINGS)
    address, _, database = place.rpartition("/")
    host, _, port = address.rpartition(":")
    with pooler(int(port), database) as between:
        yield f"{host}:{between}/{database}"


def _first_hint_after(team: SqlTeam, writer: SqlTeam) -> list[WatchHint]:
    """Return the hint with which a watch begins, and the one that tells of a message."""

    async def story() -> list[WatchHint]:
        hints = team.watch()
        seen = [await anext(hints)]
        await asyncio.to_thread(put, writer, make_message(99))
        seen.append(await asyncio.wait_for(anext(hints), 20))
        await hints.aclose()  # type: ignore[attr-defined]
        return seen

    return asyncio.run(story())


def test_a_team_behind_a_pooler_is_written_read_and_watched(pooled: str, opened: Open) -> None:
    """Each statement is repeated more often than psycopg needs to prepare it."""
    team, other = opened(pooled), opened(pooled)
    for number in range(9):
        put((team, other)[number % 2], make_message(number))
        assert len(ids(other)) == number + 1
    assert {hint.state for hint in _first_hint_after(team, other)} == {WatchState.LIVE}


def test_who_only_looks_through_a_pooler_leaves_no_setting_with_its_sessions(pooled: str, opened: Open) -> None:
    put(opened(pooled), make_message(1))
    watcher = opened(pooled, read_only=True)
    assert len(ids(watcher)) == 1
    _first_hint_after(watcher, opened(pooled))
    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as connection:
        for name, value in (("default_transaction_read_only", "off"), ("lock_timeout", "0")):
            for _ in range(2):  # one after the other, both sessions
                assert connection.execute(f"SHOW {name}").fetchone() == (value,)


def test_who_only_looks_has_a_session_in_which_nothing_can_be_written(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    with opened(postgres, read_only=True).connect() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.change("DELETE FROM agent_message")


def test_a_replica_is_read_and_watched_and_says_that_it_takes_no_writes(own_server: Server, opened: Open) -> None:
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    before = opened(place)
    put(before, make_message(1))
    before.close()
    own_server.stop()
    sign = own_server.folder / "data" / "standby.signal"
    sign.touch()
    try:
        own_server.start()
        team = opened(place)
        assert len(ids(team)) == 1

        async def first() -> WatchHint:
            hints = team.watch()
            found = await anext(hints)
            await hints.aclose()  # type: ignore[attr-defined]
            return found

        assert asyncio.run(first()).state is WatchState.LIVE
        with pytest.raises(TeamError) as caught:
            put(team, make_message(2))
        assert caught.value.code is Code.READ_ONLY
        assert team.snapshot().condition is Condition.OK
        team.close()
    finally:
        own_server.stop()
        sign.unlink()
        own_server.start()


def test_a_limit_on_statements_does_not_end_the_wait_for_the_lock(postgres: str, opened: Open) -> None:
    """It is said to be held, and by whom; the limit goes on to hold for what comes then."""
    create_database(postgres, SETTINGS)
    name = postgres.rpartition("/")[2]
    with psycopg.connect(postgres, autocommit=True) as holder:
        holder.execute(f"ALTER DATABASE {name} SET statement_timeout = '50ms'")
        with holder.transaction():
            holder.execute("LOCK TABLE agent_message IN SHARE ROW EXCLUSIVE MODE")
            with pytest.raises(TeamError) as caught:
                put(opened(postgres), make_message(1), wait=0.3)
    assert caught.value.code is Code.STORE_LOCKED
    with opened(postgres).transaction(actor="ceo", action="x", wait=1.0) as tx:
        assert tx.connection.scalar("SHOW statement_timeout") == "50ms"


def test_a_server_with_no_connection_left_is_told_as_that(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    name = f"full_{secrets.token_hex(4)}"
    execute(postgres, f"CREATE ROLE {name} LOGIN CONNECTION LIMIT 0")
    with pytest.raises(TeamError) as caught:
        put(opened(postgres.replace("postgres@", f"{name}@")), make_message(1))
    assert (caught.value.code, "max_connections" in caught.value.hint) == (Code.STORE_UNREADABLE, True)


def test_columns_that_get_another_type_are_read_by_who_has_the_team_open(postgres: str, opened: Open) -> None:
    """What a session has prepared is refused to its end: a look is not, and a write only once."""
    create_database(postgres, SETTINGS)
    looking, writing = opened(postgres), opened(postgres)
    for number in range(7):
        put(writing, make_message(number))
        looking.snapshot()
    change = "ALTER COLUMN retry_count TYPE bigint, ALTER COLUMN message_id TYPE varchar(80)"
    execute(postgres, f"ALTER TABLE agent_message {change}")
    assert len(ids(looking)) == 7
    with suppress(TeamError):
        put(writing, make_message(7, message_id="MSG-once"))
    put(writing, make_message(8))
    assert make_message(8).message_id in ids(looking)
