"""Rows and columns of other programs: what nobody touched stays as it was to the byte, nothing of theirs is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from team_console.store.service import inbox, sending
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, treat
from team_console.store.service.maintenance import clear
from team_console.store.service.router import deliver

from tests.equipment.statements import SEED, execute, named_rows
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow

EXTRA = ",\n tenant TEXT DEFAULT 'acme', weight REAL, stamp BLOB"
COLUMNS = "message_id, sender, recipient, message_type, payload, status, created_at, error_message, tenant, weight"
OLD = "2025-10-26 10:30:00"
BAD_PAYLOAD, LIST_PAYLOAD = '{"half":', '[1, 2.50, "x"]'


def _values(*rows: tuple[object, ...]) -> str:
    """SQL for rows of texts, numbers and NULL."""
    words = [", ".join("NULL" if item is None else f"'{item}'" for item in row) for row in rows]
    return ", ".join(f"({row})" for row in words)


@pytest.fixture
def foreign(empty_place: str) -> str:
    """A table with columns of its owner, and rows of every odd kind that this database lets in."""
    strict = "://" in empty_place
    execute(empty_place, SEED.format(more=EXTRA.replace("BLOB", "BYTEA") if strict else EXTRA))
    rows: list[tuple[object, ...]] = [
        ("m-1", "orchestrator", "architect", "spec_ready", '{"a":  1}', "pending", OLD, None, "globex", "7.25"),
        ("m-2", "orchestrator", "architect", "x", LIST_PAYLOAD, "pending", OLD, None, None, None),
        ("m-3", "orchestrator", "tester", None, None, "SENT", None, None, "acme", None),
        ("m-4", "orchestrator", "tester", "x", "{}", "failed", OLD, "disk full", "initech", "-1"),
        ("m-5", "orchestrator", "tester", "x", "{}", "delivered", OLD, None, "umbrella", "0.1"),
        ("m-6", "orchestrator", "tester", "x", '"just text"', "failed", OLD, "no", "hooli", None),
    ]
    if not strict:
        rows += [
            ("m-7", "orchestrator", "tester", "x", BAD_PAYLOAD, "queued", "yesterday", None, None, None),
            (None, "orchestrator", "tester", "x", "{}", "pending", OLD, None, "nobody", "1"),
            (None, "orchestrator", "tester", "x", "{}", "pending", OLD, None, "nobody", "2"),
        ]
    execute(empty_place, f"INSERT INTO agent_message ({COLUMNS}) VALUES {_values(*rows)}")
    stamp = "'\\x00ff22'::bytea" if strict else "x'00ff22'"
    execute(empty_place, f"UPDATE agent_message SET stamp = {stamp}")
    return empty_place


def _dump(place: str, *but: str) -> list[tuple[Any, ...]]:
    """Every row but those named, every value with its type."""
    rows = named_rows(place, "SELECT * FROM agent_message")
    if "://" not in place:
        types = ", ".join(f"typeof({name}) || quote({name})" for name in rows[0])
        exact = [tuple(item) for item in execute(place, f"SELECT {types} FROM agent_message")]
    else:
        words = execute(place, "SELECT agent_message::text FROM agent_message")
        exact = [tuple(word) for word in words]
    return sorted(item for item, row in zip(exact, rows, strict=True) if row["message_id"] not in but)


def test_a_day_of_work_leaves_the_rows_of_others_as_they_were_to_the_byte(
    foreign: str, opened: Open, clock: FakeClock
) -> None:
    team = opened(foreign, clock=clock)
    before = _dump(foreign, "m-1", "m-4")
    lead, architect = Caller(team, "user"), Caller(team, "architect")
    (taken,) = inbox.receive(architect, agent="architect", type="spec_ready", lease=60).messages
    inbox.acknowledge(architect, ids=[taken.message_id])
    sent = sending.send(lead, to="writer", type="spec_ready", message_id="ours").messages[0]
    deliver(lead, only=["writer"])
    treat(lead, Remedy.REDIRECT, ["m-4"], to="writer")
    inbox.receive(Caller(team, "writer"), agent="writer")
    assert _dump(foreign, "m-1", "m-4", sent.message_id) == before
    assert execute(foreign, "SELECT tenant FROM agent_message WHERE message_id IN ('m-1', 'm-4') ORDER BY 1") == [
        ("globex",),
        ("initech",),
    ]


def test_a_row_of_others_that_was_read_long_ago_is_not_taken_out_by_itself(
    foreign: str, opened: Open, clock: FakeClock
) -> None:
    team = opened(foreign, clock=clock)
    architect = Caller(team, "architect")
    sending.send(Caller(team, "user"), to="architect", type="spec_ready", message_id="ours-0")
    assert inbox.receive(architect, agent="architect").as_json()["count"] == 3
    clock.advance(30 * 86400)
    sending.send(Caller(team, "user"), to="architect", type="spec_ready", message_id="ours-1")
    inbox.read_message(architect, agent="architect", message_id="ours-1")
    there = {row[0] for row in execute(foreign, "SELECT message_id FROM agent_message")}
    assert {"m-1", "m-2"} <= there
    assert "ours-0" not in there, "our own read messages do leave"


def test_what_a_row_that_goes_on_demand_had_beyond_a_message_is_kept(
    foreign: str, opened: Open, clock: FakeClock
) -> None:
    team = opened(foreign, clock=clock)
    lead = Caller(team, "user")
    treat(lead, Remedy.DISCARD, ["m-4"], reason="old")
    clear(lead)
    there = {row[0] for row in execute(foreign, "SELECT message_id FROM agent_message")}
    assert there.isdisjoint({"m-4", "m-5", "m-6"})
    kept = {line.facts["ids"][0]: line.facts["columns"] for line in team.audit() if line.action == "columns"}
    assert {name: item["tenant"] for name, item in kept.items()} == {
        "m-4": "initech",
        "m-5": "umbrella",
        "m-6": "hooli",
    }
    assert float(kept["m-5"]["weight"]) == 0.1
    assert "00" in str(kept["m-5"]["stamp"])
    archived = {message.message_id for message in team.history(agent="tester").messages}
    assert archived == {"m-4", "m-5", "m-6"}


@pytest.mark.parametrize("payload", ["TEXT", "JSON"])
def test_an_inbox_table_made_after_the_router_started_gets_each_message_once(
    foreign: str, opened: Open, clock: FakeClock, payload: str
) -> None:
    team = opened(foreign, clock=clock)
    lead = Caller(team, "user")
    sending.send(lead, to="writer", type="spec_ready", payload={"n": 1}, message_id="one")
    deliver(lead, only=["writer"])
    execute(foreign, f"CREATE TABLE writer_inbox (message_id TEXT PRIMARY KEY, payload {payload})")
    sending.send(lead, to="writer", type="spec_ready", payload={"n": 2}, message_id="two")
    deliver(lead, only=["writer"])
    execute(foreign, "UPDATE agent_message SET status = 'failed', retry_count = 3 WHERE message_id = 'two'")
    execute(foreign, "UPDATE agent_message SET status = 'pending', retry_count = 0 WHERE message_id = 'two'")
    again = deliver(lead, only=["writer"])
    assert [attempt.error for attempt in again.attempts] == [None]
    ((message_id, stored),) = execute(foreign, "SELECT message_id, CAST(payload AS TEXT) FROM writer_inbox")
    assert (message_id, json.loads(stored)["n"]) == ("two", 2)
    assert [tuple(item) for item in execute(foreign, "SELECT message_id FROM team_console_inbox")] == [("one",)]


def test_a_request_id_with_half_a_character_keeps_nobodys_mail_back(empty_place: str, opened: Open) -> None:
    execute(empty_place, SEED.format(more=""))
    half, empty = (json.dumps({"content": "x", "request_id": text}) for text in ("R-\ud83d", "R-\0"))
    rows: list[tuple[object, ...]] = [
        ("m-1", "dev", "user", "plan_approval_request", half, "pending", OLD),
        ("m-2", "dev", "user", "plan_approval_request", empty, "pending", OLD),
        ("m-3", "dev", "user", "message", '{"content": "y"}', "pending", OLD),
    ]
    columns = "message_id, sender, recipient, message_type, payload, status, created_at"
    execute(empty_place, f"INSERT INTO agent_message ({columns}) VALUES {_values(*rows)}")
    team = opened(empty_place)
    assert len(inbox.receive(Caller(team, "user"), agent="user").messages) == len(rows)
    assert [message.request_id for message in team.archived("R-\ud83d")] == ["R-\ud83d"]
    with team.transaction(actor="user", action="edit", wait=5) as tx:
        found = [message.message_id for text in ("R-\ud83d", "R-\0") for message in tx.archived_thread(text)]
    assert found == ["m-1", "m-2"]


def test_who_asks_under_an_id_that_is_hidden_in_an_escape_is_found(empty_place: str, opened: Open) -> None:
    execute(empty_place, SEED.format(more=""))
    hidden, plain = '{"request_id": "plan\\u002d1"}', '{"request_id": "plan-2", "content": "not plan"}'
    rows: list[tuple[object, ...]] = [
        ("m-1", "dev", "user", "plan_approval_request", hidden, "pending", OLD),
        ("m-2", "dev", "user", "plan_approval_request", plain, "pending", OLD),
    ]
    columns = "message_id, sender, recipient, message_type, payload, status, created_at"
    execute(empty_place, f"INSERT INTO agent_message ({columns}) VALUES {_values(*rows)}")
    with opened(empty_place).transaction(actor="user", action="look", wait=5) as tx:
        assert [message.message_id for message in tx.naming("plan-1")] == ["m-1"]
