"""A database that others made with seed 003's CREATE TABLE is a team as it is, and stays theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from team_console.store.service.caller import Caller
from team_console.store.service.orchestrator import route
from team_console.store.service.router import deliver

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
