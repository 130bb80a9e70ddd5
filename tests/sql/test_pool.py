"""Connections that wait to be used again: shared out one by one, thrown away when broken, left alone after a fork."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from team_console.store.backends.sql.engines import pool as pool_module
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.pool import Pool
from team_console.store.backends.sql.engines.sqlite_connection import SqliteConnection
from team_console.store.backends.sql.open_database import create_database
from team_console.store.model.errors import Code, TeamError

from tests.sql.conftest import SETTINGS, Open
from tests.sql.server import Server, fresh_database
from tests.store.contract import ids, make_message, put


class Opener:
    """Opens databases in memory and remembers them."""

    def __init__(self) -> None:
        self.opened: list[Connection] = []

    def __call__(self) -> Connection:
        driver = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.opened.append(SqliteConnection(driver))
        return self.opened[-1]

    def is_open(self, index: int) -> bool:
        """Whether the connection of this number still takes statements."""
        try:
            return bool(self.opened[index].scalar("SELECT 1"))
        except sqlite3.ProgrammingError:
            return False


@pytest.fixture
def opener() -> Iterator[Opener]:
    made = Opener()
    yield made
    for connection in made.opened:
        connection.close()


def test_the_latest_is_used_again_and_no_more_are_kept_than_agreed(opener: Opener) -> None:
    pool = Pool(opener, kept=1)
    with pool.connection() as first, pool.connection() as second:
        assert first is not second
    assert [opener.is_open(0), opener.is_open(1)] == [False, True]
    with pool.connection() as again:
        assert again is second
    with Pool(opener, kept=0).connection():
        pass
    assert not opener.is_open(2)


def test_one_in_a_transaction_is_not_given_to_the_next(opener: Opener) -> None:
    pool = Pool(opener, kept=5)
    with pool.connection() as connection:
        connection.run("BEGIN")
    assert not opener.is_open(0)


def test_one_that_does_not_answer_is_replaced(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(opener, kept=5)
    with pool.connection() as broken:
        monkeypatch.setattr(broken, "answers", lambda: False)
    with pool.connection() as other:
        assert other is not broken
    assert not opener.is_open(0)


def test_nobody_gets_more_than_there_may_be(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_MOST", 1)
    monkeypatch.setattr(pool_module, "_PATIENCE_SECONDS", 0.0)
    pool = Pool(opener, kept=5)
    with pool.connection(), pytest.raises(TeamError) as caught, pool.connection():
        pass
    assert caught.value.code is Code.STORE_FAILED
    with pool.connection():
        assert len(opener.opened) == 1


def test_threads_never_share_one(opener: Opener) -> None:
    pool, used, together = Pool(opener, kept=5), [], threading.Barrier(8, timeout=30)

    def work() -> None:
        with pool.connection() as connection:
            used.append(connection)
            together.wait()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, used))) == 8
    assert sum(opener.is_open(index) for index in range(8)) == 5


def _child(work: Callable[[], bool]) -> bool:
    """What `work` gives in a forked process."""
    child = os.fork()
    if not child:
        done = False
        try:
            done = work()
        finally:
            os._exit(0 if done else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_leaves_the_connections_of_its_parent_alone(opener: Opener) -> None:
    """On a server both would read from one line; in a file the child's end would end the parent's locks."""
    pool = Pool(opener, kept=5)
    with pool.connection() as parents:
        pass

    def work() -> bool:
        pool.close()
        with pool.connection() as other:
            return other is not parents and opener.is_open(0)

    assert _child(work)


def test_a_team_works_on_both_sides_of_a_fork(place: str, opened: Open) -> None:
    team = opened(place)
    put(team, make_message(1))
    assert len(ids(team)) == 1

    def work() -> bool:
        put(team, make_message(2))
        seen = ids(team)
        team.close()
        return len(seen) == 2

    assert _child(work)
    assert len(ids(team)) == 2
    put(team, make_message(3))
    assert len(ids(team)) == 3


@pytest.mark.slow
def test_connections_to_a_server_that_was_started_again_are_replaced(own_server: Server, opened: Open) -> None:
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    team = opened(place)
    put(team, make_message(1))
    own_server.kill()
    own_server.start()
    put(team, make_message(2))
    assert len(ids(team)) == 2


def test_what_is_read_is_closed_with_the_team(tmp_path: Path, opened: Open) -> None:
    place = tmp_path / "team.db"
    create_database(str(place), SETTINGS)
    team = opened(str(place))
    put(team, make_message(1))
    team.snapshot()
    team.close()
    held = [os.readlink(entry) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink() and entry.exists()]
    assert not [path for path in held if path.startswith(str(place))]
