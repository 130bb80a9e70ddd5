"""Connections and rows of a database that others use, too: replaced, deleted, limited."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.backends.open import create_database, open_team
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.team import Presence
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.maintenance import clear
from team_console.store.views.projection import Projection

from tests.equipment.command_line import CommandLine
from tests.equipment.postgresql import Server, fresh_database
from tests.equipment.statements import SEED, execute, insert
from tests.equipment.teams import FakeClock, ids, make_message, put
from tests.sql.conftest import SETTINGS, Open


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


def _session(team: SqlTeam) -> int:
    """Which session on the server the team has, 0 without a server."""
    with team.transaction(actor="ceo", action="look", wait=5.0) as tx:
        return int(tx.connection.scalar("SELECT pg_backend_pid()")) if "://" in team.location else 0


def test_a_team_works_on_both_sides_of_a_fork(place: str, opened: Open) -> None:
    team = opened(place)
    put(team, make_message(1))
    assert len(ids(team)) == 1
    session = _session(team)

    def work() -> bool:
        if session and _session(team) == session:  # both would read from one line
            return False
        put(team, make_message(2))
        seen = ids(team)
        team.close()
        return len(seen) == 2

    assert _child(work)
    assert len(ids(team)) == 2
    put(team, make_message(3))
    assert len(ids(team)) == 3


def test_a_team_that_is_used_once_it_was_closed_keeps_no_connection_open(place: str, opened: Open) -> None:
    team = opened(place)
    session = _session(team)
    assert _session(team) == session
    team.close()
    assert not session or len({session, _session(team), _session(team)}) == 3


def test_a_database_is_the_same_by_a_link_and_without_its_trail_and_its_second_name_is_told(
    tmp_path: Path, opened: Open
) -> None:
    """Somebody else has it open, so that what was written last stands in the log beside it."""
    place, link, second = tmp_path / "data" / "team.db", tmp_path / "link.db", tmp_path / "second.db"
    place.parent.mkdir()
    create_database(str(place), SETTINGS)
    with closing(sqlite3.connect(place)) as staying:
        staying.execute("SELECT count(*) FROM agent_message").close()
        put(opened(str(place)), make_message(1))
        link.symlink_to(place)
        watcher, writer = opened(str(link), read_only=True), opened(str(link))
        assert len(ids(watcher)) == len(ids(writer)) == 1
        with opened(str(place)).announce(Presence.CONSOLE, "0" * 24):
            assert writer.attendance(Presence.CONSOLE).names
        assert watcher.snapshot().doubt is None
        execute(str(place), "DELETE FROM agent_message", "DELETE FROM team_console_audit")
        assert watcher.snapshot().missing
        second.hardlink_to(place)
        assert "another name" in str(opened(str(second), read_only=True).snapshot().doubt)
        assert "another name" in str(watcher.snapshot().doubt)


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


WAIT = 10.0


def _plan(team: SqlTeam, agent: str) -> str:
    receipt = requests.submit_plan(Caller(team, agent, WAIT), content="1. Split it", summary="Split the loader")
    assert receipt.request_id is not None
    return receipt.request_id


def test_what_left_the_table_through_the_archive_is_not_missing(place: str, opened: Open, clock: FakeClock) -> None:
    team = opened(place, clock=clock)
    request_id = _plan(team, "architect")
    board = Projection("ceo")
    board.update(team.snapshot(), clock())
    writer = opened(place, clock=clock)
    requests.approve(Caller(writer, "ceo", WAIT), request_id=request_id)
    receive(Caller(writer, "architect", WAIT), agent="architect")
    board.update(team.snapshot(), clock())
    clock.advance(30 * 86400)
    clear(Caller(writer, "ceo", WAIT))
    seen = team.snapshot()
    assert (len(seen.messages), seen.missing) == (0, frozenset())
    (row,) = board.update(seen, clock()).requests
    assert (row.request_id, row.state) == (request_id, "approved")


def test_nobody_folds_the_log_into_the_file_under_a_look(tmp_path: Path) -> None:
    """A watcher beside agents on the command line saw a malformed database, or a log without its index."""
    place = tmp_path / "team.db"
    here = CommandLine(tmp_path)
    here.ok("init", str(place), "--name", "sprint-42", "--lead", "ceo", "--agent", "bob")
    send = ("-t", str(place), "--as", "ceo", "send", "--to", "bob", "--summary", "five words are in here", "--content")
    here.ok(*send, "one")
    before = place.read_bytes()
    seen: list[bytes] = []

    def meanwhile(_read: int, _all: int) -> bool:
        here.ok(*send, "two")
        seen.append(place.read_bytes())
        return True

    watcher = open_team(str(place), read_only=True)
    assert [message.content for message in watcher.snapshot(progress=meanwhile).messages] == ["one"]
    assert seen == [before]
    assert [message.content for message in watcher.snapshot().messages] == ["one", "two"]
    here.ok(*send, "three")
    assert [message.content for message in watcher.snapshot().messages] == ["one", "two", "three"]


_CUT_SHORT = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for pragma in ("journal_mode = DELETE", "cache_size = 2"):
    connection.execute(f"PRAGMA {pragma}")
connection.execute("BEGIN")
row = "INSERT INTO agent_message (message_id, sender, recipient, payload, status) VALUES (?, 'a', 'b', ?, 'pending')"
connection.executemany(row, [(f"never-{number}", "x" * 900) for number in range(400)])
os._exit(0)
"""


def test_a_look_needs_no_locks_that_a_system_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(fcntl, "F_OFD_SETLK")  # as on macOS
    place = str(tmp_path / "team.db")
    create_database(place, SETTINGS)
    put(open_team(place), make_message(1))
    assert ids(open_team(place, read_only=True)) == ids(open_team(place)) != []


def test_what_a_program_that_died_had_not_committed_is_never_shown(tmp_path: Path) -> None:
    """Read-only, its hundreds of rows were messages: half a write, which the next writer undoes."""
    place = tmp_path / "team.db"
    execute(str(place), SEED.format(more=""))
    insert(str(place), "msg-001")
    subprocess.run([sys.executable, "-c", _CUT_SHORT, str(place)], check=True)
    seen = open_team(str(place), read_only=True).snapshot()
    assert (seen.messages, seen.is_known) == ((), False)
    assert "a write that was cut short" in seen.problems[0].message
    assert ids(open_team(str(place))) == ["msg-001"]
    assert ids(open_team(str(place), read_only=True)) == ["msg-001"]
