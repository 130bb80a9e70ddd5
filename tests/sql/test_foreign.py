"""A database that others made with seed 003's CREATE TABLE is a team as it is, and stays theirs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.sql.open import open_database
from team_console.store.contract.team import Condition
from team_console.store.model.clock import utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import inbox, sending
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, treat
from team_console.store.service.orchestrator import route
from team_console.store.service.router import deliver

from tests.equipment.statements import ADD, PAYLOAD, SEED, execute, insert, named_rows
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow


@pytest.fixture
def foreign(empty_place: str) -> str:
    """A database as the seed's own program makes it, with one message."""
    execute(empty_place, SEED.format(more=""))
    insert(empty_place, "msg-001")
    return empty_place


def _row(place: str, message_id: str = "msg-001") -> dict[str, Any]:
    (row,) = named_rows(place, "SELECT * FROM agent_message WHERE message_id = :id", id=message_id)
    return row


def _tables(place: str) -> set[str]:
    wanted = "SELECT tablename FROM pg_tables" if "://" in place else "SELECT name FROM sqlite_master"
    return {row[0] for row in execute(place, wanted) if str(row[0]).startswith(("team_console", "agent_"))}


def test_its_messages_are_read_without_changing_anything(foreign: str, opened: Open) -> None:
    (message,) = opened(foreign).snapshot().messages
    assert (message.message_id, message.sender, message.recipients) == ("msg-001", "orchestrator", ("code_developer",))
    assert dict(message.payload) == {"task_id": "TASK-31-1", "spec_id": "SPEC-031", "priority": "high"}
    assert message.created == "2026-02-24T10:30:00.000Z"
    assert _tables(foreign) == {"agent_message"}


def test_a_received_row_keeps_its_payload_to_the_letter(foreign: str, opened: Open) -> None:
    before = _row(foreign)
    got = inbox.receive(Caller(opened(foreign), "code_developer"), agent="code_developer", lease=60)
    assert [message.message_id for message in got.messages] == ["msg-001"]
    after = _row(foreign)
    assert after.pop("status") == "claimed"
    before.pop("status")
    assert after == before
    (again,) = opened(foreign).snapshot().messages
    assert again.envelope("claimed_by") == "code_developer"
    assert "claimed_by" not in again.payload
    assert (execute(foreign, "SELECT CAST(payload AS TEXT) FROM agent_message")[0][0]) == PAYLOAD


def test_a_note_beside_a_row_goes_with_the_row(foreign: str, opened: Open) -> None:
    caller = Caller(opened(foreign), "orchestrator")
    execute(foreign, "UPDATE agent_message SET status = 'failed', retry_count = 3, error_message = 'gone'")
    inbox.receive(Caller(caller.team, "code_developer"), agent="code_developer")
    treat(caller, Remedy.DISCARD, ["msg-001"], reason="old")
    assert execute(foreign, "SELECT * FROM team_console_envelope") == []
    assert [message.message_id for message in opened(foreign).history().messages] == ["msg-001"]


def test_other_columns_and_rows_of_others_are_left_alone(empty_place: str, opened: Open, clock: FakeClock) -> None:
    execute(empty_place, SEED.format(more=",\n tenant TEXT DEFAULT 'acme', weight INTEGER"))
    payload = ":payload" if "://" not in empty_place else "CAST(:payload AS JSON)"
    add = ADD.format(columns=", tenant, weight", values=", 'globex', 7", payload=payload)
    execute(empty_place, add, id="msg-001", at="2026-02-24 10:30:00", payload=PAYLOAD)
    caller = Caller(opened(empty_place, clock=clock), "orchestrator")
    deliver(caller)
    sent = sending.send(caller, to="code_developer", type="spec_ready").messages[0]
    row = _row(empty_place)
    assert (row["tenant"], row["weight"], row["status"]) == ("globex", 7, "delivered")
    assert _row(empty_place, sent.message_id)["tenant"] == "acme"


def test_what_the_router_does_is_in_the_columns_of_the_source(foreign: str, opened: Open, clock: FakeClock) -> None:
    deliver(Caller(opened(foreign, clock=clock), "orchestrator"))
    row = _row(foreign)
    assert (row["status"], row["error_message"]) == ("delivered", None)
    assert str(row["delivered_at"]).replace("T", " ").startswith("2026-02-24 10:30:15.123")
    (pushed,) = execute(foreign, "SELECT agent, message_id FROM team_console_inbox")
    assert tuple(pushed) == ("code_developer", "msg-001")


def test_an_agents_own_inbox_table_is_used_when_there_is_one(foreign: str, opened: Open, clock: FakeClock) -> None:
    execute(foreign, "CREATE TABLE code_developer_inbox (message_id TEXT, payload TEXT)")
    deliver(Caller(opened(foreign, clock=clock), "orchestrator"))
    (pushed,) = execute(foreign, "SELECT message_id FROM code_developer_inbox")
    assert pushed[0] == "msg-001"
    assert execute(foreign, "SELECT * FROM team_console_inbox") == []


@pytest.mark.parametrize("is_link", [False, True])
def test_what_an_inbox_table_does_not_take_goes_into_a_file_once(
    foreign: str, opened: Open, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    execute(foreign, "CREATE TABLE code_developer_inbox (message_id TEXT CHECK (message_id = ''), payload TEXT)")
    caller = Caller(opened(foreign, clock=clock), "orchestrator")
    if is_link:
        folder = caller.team.inbox_folder  # type: ignore[attr-defined]
        folder.mkdir(parents=True)
        (folder / "code_developer.jsonl").symlink_to(tmp_path / "elsewhere")
    done = deliver(caller)
    if is_link:
        assert ["code_developer.jsonl" in str(attempt.error) for attempt in done.attempts] == [True]
        return
    execute(foreign, "UPDATE agent_message SET status = 'pending'")
    assert len(done.delivered) == len(deliver(caller).delivered) == 1
    (line,) = next(tmp_path.rglob("code_developer.jsonl")).read_text().splitlines()
    assert (json.loads(line)["message_id"], json.loads(line)["payload"]) == ("msg-001", json.loads(PAYLOAD))
    assert [fact.facts["ids"] for fact in caller.team.audit() if fact.action == "inbox_file"] == [["msg-001"]] * 2


def test_what_another_program_changes_is_seen(foreign: str, opened: Open) -> None:
    team = opened(foreign)
    sending.send(Caller(team, "orchestrator"), to="code_developer", type="spec_ready", message_id="ours")
    first = team.snapshot()
    insert(foreign, "msg-002", "2026-02-24 10:32:00")
    execute(foreign, "UPDATE agent_message SET status = 'delivered', delivered_at = CURRENT_TIMESTAMP")
    second = team.snapshot()
    assert {message.message_id: message.status for message in second.messages} == dict.fromkeys(
        ("msg-001", "msg-002", "ours"), "delivered"
    )
    assert second.revision != first.revision
    execute(foreign, "DELETE FROM agent_message WHERE message_id = 'msg-001'")
    assert [message.message_id for message in team.snapshot().messages] == ["msg-002", "ours"]


def test_rows_of_others_stand_between_ours_by_age(foreign: str, opened: Open, clock: FakeClock) -> None:
    team = opened(foreign, clock=clock)
    for number in (1, 2):
        sending.send(Caller(team, "orchestrator"), to="code_developer", type="spec_ready", message_id=f"ours-{number}")
        clock.advance(3600)
    insert(foreign, "msg-002", "2026-02-24 11:00:00")
    for reader in (team, opened(foreign)):
        assert [one.message_id for one in reader.snapshot().messages] == ["msg-001", "ours-1", "msg-002", "ours-2"]


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Kolkata"])
def test_times_of_a_server_in_another_time_zone_are_read_and_written_in_it(
    postgres: str, opened: Open, zone: str
) -> None:
    execute(postgres, f"ALTER DATABASE {postgres.rsplit('/', 1)[1]} SET timezone TO '{zone}'", SEED.format(more=""))
    six_days = "CURRENT_TIMESTAMP - interval '6 days 20 hours'"
    execute(postgres, _ROW.format("'m'").replace("status)", "status, created_at)").replace("g')", f"g', {six_days})"))
    caller = Caller(opened(postgres), "orchestrator")
    (message,) = caller.team.snapshot().messages
    assert message.created_at is not None
    assert abs(utc_now() - message.created_at - timedelta(days=6, hours=20)) < timedelta(hours=1)
    sending.send(caller, to="b", type="spec_ready", message_id="ours")
    done = deliver(caller)
    assert (len(done.delivered), done.expired) == (2, [])
    off = "CURRENT_TIMESTAMP::timestamp - created_at < interval '1 hour'"
    assert execute(postgres, f"SELECT {off} FROM agent_message WHERE message_id = 'ours'") == [(True,)]
    off = "abs(extract(epoch FROM CURRENT_TIMESTAMP::timestamp - delivered_at)) < 3600"
    assert execute(postgres, f"SELECT DISTINCT {off} FROM agent_message") == [(True,)]
    assert opened(postgres).snapshot().problems == ()


def test_rows_that_0_5_0_wrote_in_utc_keep_their_age_in_another_time_zone(postgres: str, opened: Open) -> None:
    execute(postgres, f"ALTER DATABASE {postgres.rsplit('/', 1)[1]} SET timezone TO 'Asia/Tokyo'", SEED.format(more=""))
    insert(postgres, "ours", payload='{"content": "x", "_envelope": {"#": 1, "priority": "low"}}')
    insert(postgres, "theirs")
    assert {message.message_id: message.created for message in opened(postgres).snapshot().messages} == {
        "ours": "2026-02-24T10:30:00.000Z",
        "theirs": "2026-02-24T01:30:00.000Z",
    }


@pytest.mark.parametrize(
    ("stored", "polled"),
    [
        (1795533905, "2026-11-24T15:25:05Z"),
        (1795533905123, "2026-11-24T15:25:05.123Z"),
        ("yesterday", None),
        (None, None),
    ],
)
def test_a_poll_says_times_in_iso_8601_or_not_at_all(
    tmp_path: Path, opened: Open, stored: object, polled: str | None
) -> None:
    place = str(tmp_path / "odd.db")
    execute(place, SEED.format(more=""), _ROW.format("'m'"))
    execute(place, "UPDATE agent_message SET created_at = :at", at=stored)
    team = opened(place)
    reply = route(Caller(team, "orchestrator"), {"ACTION": "poll", "RECIPIENT": "b"})
    assert [message["created_at"] for message in reply["messages"]] == [polled]
    expected = ["UNREADABLE_DATE"] if stored == "yesterday" else []
    assert [problem.code for problem in team.snapshot().problems] == expected


def test_the_sources_own_poll_finds_what_we_sent(foreign: str, opened: Open) -> None:
    sending.send(Caller(opened(foreign), "orchestrator"), to="code_developer", type="spec_ready", message_id="ours")
    poll = """
        SELECT message_id, sender, recipient, message_type, payload, retry_count FROM agent_message
        WHERE recipient = 'code_developer' AND status IN ('pending', 'retry') ORDER BY created_at ASC LIMIT 10"""
    assert [row[0] for row in execute(foreign, poll)] == ["msg-001", "ours"]


def test_rows_that_are_no_messages_are_problems_and_stop_nothing(tmp_path: Path, opened: Open) -> None:
    place = str(tmp_path / "odd.db")
    execute(place, SEED.format(more=""))
    insert(place, "good")
    insert(place, "bad-json", payload="{")
    execute(
        place,
        "INSERT INTO agent_message (sender, recipient, status) VALUES ('a', 'b', 'pending')",
        "INSERT INTO agent_message (sender, recipient, status) VALUES ('a', 'b', 'pending')",
        "INSERT INTO agent_message (message_id, sender, recipient, status) VALUES ('odd', 'a', 'b', 'SENT')",
        "INSERT INTO agent_message (message_id, sender, recipient, status) VALUES ('nobody', 'a', '', 'pending')",
        "INSERT INTO agent_message (message_id, sender, recipient, status, payload)"
        " VALUES ('latin', 'a', 'b', 'pending', CAST(x'22e922' AS TEXT))",
    )
    snapshot = opened(place).snapshot()
    assert snapshot.condition is Condition.OK
    assert {message.message_id for message in snapshot.messages} == {"good", "bad-json", "odd", "latin"}
    places = sorted((problem.code, problem.place) for problem in snapshot.problems)
    assert [place for place in places if place[0] == "UNKNOWN_STATUS"] == [("UNKNOWN_STATUS", "odd")]
    assert len([place for place in places if place[0] == "DAMAGED_ENTRY"]) == 4
    caller = Caller(opened(place), "orchestrator")
    sending.send(caller, to="code_developer", type="spec_ready", message_id="ours")
    assert len(execute(place, "SELECT * FROM agent_message WHERE message_id IS NULL")) == 2
    got = inbox.receive(Caller(opened(place), "b"), agent="b")
    assert [message.message_id for message in got.messages] == ["latin"]


def test_a_settings_file_beside_the_database_counts(tmp_path: Path, opened: Open) -> None:
    place = tmp_path / "orchestrator.db"
    execute(str(place), SEED.format(more=""))
    team = opened(str(place))
    assert team.config().lead == "user"
    (tmp_path / "messenger-config.yaml").write_text("lead: orchestrator\nagents: [orchestrator, code_developer]\n")
    assert team.config().lead == "orchestrator"
    assert team.snapshot().config.declared
    (tmp_path / "messenger-config.yaml").write_text("lead: [\n")
    snapshot = team.snapshot()
    assert snapshot.config.lead == "orchestrator"
    assert "SETTINGS_UNREADABLE" in [problem.code for problem in snapshot.problems]
    assert "messenger-config.yaml:2: this is not YAML" in team.config().lost
    assert team.config().declared
    fresh = opened(str(place)).snapshot()  # nothing was in force that it could know
    assert (fresh.config.lost, [problem.code for problem in fresh.problems]) == ("", ["SETTINGS_UNREADABLE"])


def test_a_database_without_the_table_is_refused_and_left_alone(empty_place: str, opened: Open) -> None:
    execute(empty_place, "CREATE TABLE customers (name TEXT)")
    team = opened(empty_place)
    snapshot = team.snapshot()
    assert snapshot.condition is Condition.UNREADABLE
    assert "agent_message" in snapshot.problems[0].message
    with pytest.raises(TeamError) as caught:
        sending.send(Caller(team, "user"), to="a", type="spec_ready")
    assert caught.value.code is Code.STORE_UNREADABLE
    assert _tables(empty_place) == set()


def test_a_table_of_the_same_name_that_is_another_is_refused(empty_place: str, opened: Open) -> None:
    execute(empty_place, "CREATE TABLE agent_message (id INTEGER, body TEXT)")
    snapshot = opened(empty_place).snapshot()
    assert snapshot.condition is Condition.UNREADABLE
    assert "no column message_id; it has id, body" in snapshot.problems[0].message
    assert "a later form: the one that is read has message_id, sender, recipient, status" in snapshot.problems[0].hint


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


@pytest.mark.parametrize("kind", ["INTEGER", "BIGINT", "VARCHAR(9)"])
def test_ids_that_are_numbers_are_understood_as_their_texts(empty_place: str, opened: Open, kind: str) -> None:
    execute(empty_place, SEED.format(more="").replace("message_id TEXT", f"message_id {kind}"))
    for number in range(1, 9):
        execute(empty_place, _ROW.format(number))
    bob = Caller(opened(empty_place), "b")
    taken = [message.message_id for message in inbox.receive(bob, agent="b", limit=3, lease=60).messages]
    inbox.acknowledge(bob, ids=taken[:2])
    assert len(inbox.receive(bob, agent="b").messages) == 5
    found = dict(execute(empty_place, "SELECT CAST(message_id AS TEXT), status FROM agent_message"))
    assert found == {str(number): "claimed" if str(number) == taken[2] else "read" for number in range(1, 9)}


_ROW = "INSERT INTO agent_message (message_id, sender, recipient, status) VALUES ({}, 'a', 'b', 'pending')"


def test_a_row_whose_id_is_bytes_is_a_finding_and_stops_nobody(tmp_path: Path, opened: Open) -> None:
    place = str(tmp_path / "odd.db")
    execute(place, SEED.format(more=""))
    for number in range(8):
        execute(place, _ROW.format(f"'m{number}'"))
    execute(place, _ROW.format("x'ff00'"))
    team = opened(place)
    assert len(inbox.receive(Caller(team, "b"), agent="b").messages) == 8
    assert [problem.code for problem in team.snapshot().problems] == ["DAMAGED_ENTRY"]


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


def test_what_we_send_has_its_payload_alone_and_is_handed_on_so(foreign: str, opened: Open) -> None:
    execute(foreign, "CREATE TABLE architect_inbox (message_id TEXT, payload TEXT)")
    caller = Caller(opened(foreign), "orchestrator")
    given = {"task_id": "T", "spec_id": "S", "priority": "high"}
    asked = {"ACTION": "send", "RECIPIENT": "architect", "MESSAGE_TYPE": "spec_ready", "PAYLOAD": given}
    message_id = route(caller, asked)["message_id"]
    select = "SELECT CAST(payload AS TEXT) FROM agent_message WHERE message_id = :id"
    (row,) = execute(foreign, select, id=message_id)
    assert json.loads(row[0]) == given
    deliver(caller, only=["architect"])
    assert json.loads(execute(foreign, "SELECT payload FROM architect_inbox")[0][0]) == given
    (ours,) = (message for message in opened(foreign).snapshot().messages if message.message_id == message_id)
    assert (ours.status, ours.priority, dict(ours.payload)) == ("delivered", "high", given)


def test_places_that_are_no_database_are_refused_by_name(tmp_path: Path) -> None:
    for location in (str(tmp_path / "none.db"), "mysql://host/x", "sqlite://", "x://"):
        with pytest.raises(TeamError) as caught:
            open_database(location)
        assert caught.value.code is Code.TEAM_NOT_FOUND
