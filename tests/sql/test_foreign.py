"""A database that others made with seed 003's CREATE TABLE is a team as it is, and stays theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from team_console.store.contract.team import Condition
from team_console.store.model.errors import Code
from team_console.store.service import inbox, sending
from team_console.store.service.caller import Caller
from team_console.store.service.orchestrator import route
from team_console.store.service.router import deliver

from tests.equipment.asking import refusal
from tests.equipment.statements import PAYLOAD, SEED, execute, insert
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow


@pytest.fixture
def foreign(empty_place: str) -> str:
    """A database as the seed's own program makes it, with one message."""
    execute(empty_place, SEED.format(more=""))
    insert(empty_place, "msg-001")
    return empty_place


def _tables(place: str) -> set[str]:
    wanted = "SELECT tablename FROM pg_tables" if "://" in place else "SELECT name FROM sqlite_master"
    return {row[0] for row in execute(place, wanted) if str(row[0]).startswith(("team_console", "agent_"))}


def test_what_an_inbox_table_does_not_take_goes_into_a_file_once(
    foreign: str, opened: Open, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    execute(foreign, "CREATE TABLE code_developer_inbox (message_id TEXT CHECK (message_id = ''), payload TEXT)")
    caller = Caller(opened(foreign, clock=clock), "orchestrator")
    done = deliver(caller)
    execute(foreign, "UPDATE agent_message SET status = 'pending'")
    assert len(done.delivered) == len(deliver(caller).delivered) == 1
    (line,) = next(tmp_path.rglob("code_developer.jsonl")).read_text().splitlines()
    assert (json.loads(line)["message_id"], json.loads(line)["payload"]) == ("msg-001", json.loads(PAYLOAD))
    assert [fact.facts["ids"] for fact in caller.team.audit() if fact.action == "inbox_file"] == [["msg-001"]] * 2


def test_a_database_without_the_table_is_refused_and_left_alone(empty_place: str, opened: Open) -> None:
    execute(empty_place, "CREATE TABLE customers (name TEXT)")
    team = opened(empty_place)
    snapshot = team.snapshot()
    assert snapshot.condition is Condition.UNREADABLE
    assert "agent_message" in snapshot.problems[0].message
    caught = refusal(sending.send, Caller(team, "user"), to="a", type="spec_ready")
    assert caught.code is Code.STORE_UNREADABLE
    assert _tables(empty_place) == set()


_CAME = ["z", "a", "m", "b", "y", "c"]


@pytest.mark.parametrize("older", [0, 2500], ids=["small", "large"])
def test_rows_of_one_second_are_handed_out_as_they_came(
    empty_place: str, opened: Open, clock: FakeClock, older: int
) -> None:
    execute(empty_place, SEED.format(more=""))
    names = "INSERT INTO agent_message (message_id, sender, recipient, message_type, status, created_at)"
    read = "'x', 'x', 'message', 'read', '2026-02-01 00:00:00'"
    if older:
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {older})"
        execute(empty_place, f"{names} {numbers} SELECT 'old-' || i, {read} FROM n")
    for name in _CAME:
        execute(empty_place, f"{names} VALUES ('{name}', 'a', 'b', 'message', 'pending', '2026-02-24 10:30:00')")
    caller = Caller(opened(empty_place, clock=clock), "b")
    for _ in range(2):  # at first without indexes of ours
        shown = caller.team.snapshot().messages
        assert [one.message_id for one in shown if one.recipients == ("b",)] == _CAME
        poll = route(caller, {"ACTION": "poll", "RECIPIENT": "b"})
        assert [one["message_id"] for one in poll["messages"]] == _CAME
        assert [one.message_id for one in inbox.receive(caller, agent="b", mark_read=False).messages] == _CAME
        send = {
            "ACTION": "send",
            "SENDER": "a",
            "RECIPIENT": "c",
            "MESSAGE_TYPE": "notify",
            "PAYLOAD": {"message": "m"},
        }
        route(caller, send)
    assert [one.message_id for one in inbox.receive(caller, agent="b").messages] == _CAME


@pytest.mark.parametrize("more", [" WITHOUT ROWID", " WITHOUT /* */ ROWID"])
def test_a_table_without_numbers_of_rows_is_read(tmp_path: Path, opened: Open, clock: FakeClock, more: str) -> None:
    place = str(tmp_path / "team.db")
    execute(place, f"{SEED.format(more='').rstrip().rstrip(';')}{more}")
    insert(place, "msg-001")
    assert [one.message_id for one in opened(place, clock=clock).snapshot().messages] == ["msg-001"]


def test_a_column_that_only_has_the_name_of_a_number_is_none(tmp_path: Path, opened: Open, clock: FakeClock) -> None:
    place = str(tmp_path / "team.db")
    execute(place, SEED.format(more=", RowId TEXT DEFAULT 'x'"))
    insert(place, "msg-001")
    insert(place, "msg-002")
    assert len(opened(place, clock=clock).snapshot().messages) == 2


_FEWER = "CREATE TABLE agent_message (message_id TEXT PRIMARY KEY, sender TEXT, recipient TEXT, status TEXT)"


def test_an_older_table_with_fewer_columns_works(empty_place: str, opened: Open, clock: FakeClock) -> None:
    execute(empty_place, _FEWER)
    execute(empty_place, "INSERT INTO agent_message VALUES ('old', 'a', 'b', 'pending')")
    team = opened(empty_place, clock=clock)
    got = inbox.receive(Caller(team, "b"), agent="b", lease=5)
    assert [message.message_id for message in got.messages] == ["old"]


def test_a_table_whose_ids_need_not_be_unique_is_refused_with_what_mends_it(empty_place: str, opened: Open) -> None:
    execute(empty_place, _FEWER.replace(" PRIMARY KEY", ""))
    execute(empty_place, "INSERT INTO agent_message VALUES ('old', 'a', 'b', 'pending')")
    (problem,) = opened(empty_place).snapshot().problems
    assert "several rows have one message_id" in problem.message
    execute(empty_place, problem.hint.partition(": ")[2])
    assert [message.message_id for message in opened(empty_place).snapshot().messages] == ["old"]


_ROW = "INSERT INTO agent_message (message_id, sender, recipient, status) VALUES ({}, 'a', 'b', 'pending')"


@pytest.mark.parametrize(
    ("kind", "stored", "polled"),
    [
        ("JSON", PAYLOAD, json.loads(PAYLOAD)),
        ("JSON", "[1,  2.50]", [1, 2.5]),
        ("JSON", '"text"', "text"),
        ("TEXT", "plain words", "plain words"),
        ("TEXT", None, None),
        ("BYTEA", b'{"task_id":  "A"}', {"task_id": "A"}),
        ("BYTEA", b"\xff\x00", "\ufffd\x00"),
    ],
)
def test_a_payload_is_handed_on_as_it_came(empty_place: str, opened: Open, kind: str, stored: Any, polled: Any) -> None:
    execute(empty_place, SEED.format(more="").replace("payload JSON", f"payload {kind}"))
    execute(empty_place, f"CREATE TABLE b_inbox (message_id TEXT, payload {kind})")
    add = _ROW.format("'m'").replace("status)", "status, payload)").replace("'pending'", "'pending', :payload")
    execute(empty_place, add, payload=stored)
    caller = Caller(opened(empty_place), "orchestrator")
    reply = route(caller, {"ACTION": "poll", "RECIPIENT": "b"})
    assert [message["payload"] for message in reply["messages"]] == [polled]
    deliver(caller)
    given = "CAST(payload AS TEXT)" if kind == "JSON" else "payload"
    assert execute(empty_place, f"SELECT {given} FROM b_inbox") == [(stored,)]
