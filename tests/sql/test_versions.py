"""Databases from another time: tables of a later team-console, and a server that came back from a copy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from team_console.store.backends.sql.schema import VERSION
from team_console.store.backends.sql.team import SqlTeam, create_database
from team_console.store.contract.team import Condition
from team_console.store.model.errors import Code, TeamError

from tests.conftest import CommandLine
from tests.sql.conftest import SETTINGS, Open
from tests.sql.server import Server, find_programs, private_server
from tests.sql.test_foreign import execute
from tests.store.contract import make_message, put

pytestmark = pytest.mark.slow


def _later(place: str) -> None:
    execute(place, f"UPDATE team_console_config SET value = '{VERSION + 1}' WHERE key = 'version'")


def test_tables_of_a_later_version_are_refused_and_left_alone(
    place: str, team: SqlTeam, opened: Open, elsewhere: CommandLine
) -> None:
    put(team, make_message(1))
    _later(place)
    for item in (team, opened(place), opened(place, read_only=True)):
        snapshot = item.snapshot()
        assert snapshot.condition is Condition.UNREADABLE
        assert f"version {VERSION + 1}" in snapshot.problems[0].message
        assert "Update team-console" in snapshot.problems[0].hint
    for each in (team, opened(place)):
        with pytest.raises(TeamError) as caught:
            put(each, make_message(2))
        assert caught.value.code is Code.STORE_UNREADABLE
    refused = elsewhere("-t", place, "status", "--json")
    assert (refused.status, refused.json["condition"]) == (4, "unreadable")
    assert execute(place, "SELECT count(*) FROM agent_message")[0][0] == 1
    assert execute(place, "SELECT count(*) FROM team_console_audit")[0][0] == 1


def test_tables_from_before_versions_were_written_are_of_the_first(place: str, team: SqlTeam, opened: Open) -> None:
    execute(place, "DELETE FROM team_console_config WHERE key = 'version'")
    put(team, make_message(1))
    assert opened(place).snapshot().condition is Condition.OK
    assert opened(place).config().lead == "ceo"


@pytest.fixture
def copied() -> Iterator[Server]:
    """A server whose cluster the test may copy and put back."""
    pytest.importorskip("psycopg")
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    with private_server(programs) as server:
        yield server


def test_a_server_put_back_from_a_copy_is_shown_as_it_is_now(copied: Server, opened: Open) -> None:
    """No row of the copy was written after the last look, so that asking for changes alone shows none."""
    copied.execute("CREATE DATABASE team")
    place = copied.url("team")
    create_database(place, SETTINGS)
    team = opened(place)
    put(team, make_message(1), make_message(2))
    copied.stop()
    data, copy = copied.folder / "data", copied.folder / "copy"
    shutil.copytree(data, copy, symlinks=True)
    copied.start()
    with team.transaction(actor="ceo", action="read", wait=5.0) as tx:
        for item in tx.everything():
            tx.replace(item, item.with_changes(status="read"))
        tx.record("read")
    assert [message.status for message in team.snapshot().messages] == ["read", "read"]
    copied.stop()
    owner = data.stat()
    shutil.rmtree(data)
    copy.rename(data)
    for path in (data, *data.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    copied.start()
    assert [message.status for message in team.snapshot().messages] == ["pending", "pending"]
