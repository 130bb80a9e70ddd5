"""Tables that other programs made, with what they ask of a row: all that can be delivered is, the rest is named."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct, convert
from team_console.store.backends.sql.open import create_database
from team_console.store.contract.team import Snapshot
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.request_row import RequestState
from team_console.store.service import inbox, maintenance
from team_console.store.service.caller import Caller
from team_console.store.service.decision import Decision
from team_console.store.service.deliveries import Remedy, treat
from team_console.store.service.orchestrator import route
from team_console.store.service.requests import decide, submit_plan
from team_console.store.service.router import deliver
from team_console.store.service.sending import send

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import CommandLine
from tests.equipment.postgresql import empty_postgresql, server_or_skip
from tests.equipment.statements import execute, named_rows
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow

COLUMNS = constant(__file__, "COLUMNS", dict[str, str])


class Form(Struct, frozen=True):
    """A table as somebody made it: columns in another form than seed 003 has, and statements after it."""

    columns: Mapping[str, str] = {}
    more: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    postgres: tuple[str, ...] = ()
    sqlite: tuple[str, ...] = ()
    only: str = ""
    name: str = "agent_message"


_REFERS = "CREATE TABLE message_log (mid TEXT REFERENCES agent_message (message_id){0}, line TEXT)"
FORMS = convert(yaml.safe_load(Path(__file__).with_name("forms.yaml").read_text()), dict[str, Form])
REFUSE_ONE = frozenset(name for name in FORMS if name.startswith("a trigger"))
REFERRED = frozenset(name for name in FORMS if name.startswith("a log"))


class Table(Struct):
    """A database in one of the forms; `at` is the present of its router."""

    place: str
    form: str
    clock: FakeClock

    def row(self, message_id: str, to: str = "code_developer", status: str = "pending", *, days: float = 0) -> None:
        """Put a row in as another program does, `days` old."""
        at = self.clock.now - timedelta(days=days)
        moment = (
            int(at.timestamp()) if FORMS[self.form].columns.get("created_at") == "BIGINT" else f"{at:%Y-%m-%d %H:%M:%S}"
        )
        names = ["message_id", "sender", "recipient", "message_type", "payload", "status", "created_at"]
        values = {"id": message_id, "to": to, "status": status, "at": moment}
        given = [":id", "'orchestrator'", ":to", "'task_assignment'", '\'{"task_id": "T-1"}\'', ":status", ":at"]
        if "tries" in FORMS[self.form].columns:
            names += ["error_message", "updated_at", "is_hot", "tries", "retry_count", "max_retries"]
            given += ["''", "'2026-01-01'", "'false'" if "://" in self.place else "0", "1", "0", "3"]
        if status == "delivered":
            names, given = [*names, "delivered_at"], [*given, ":at"]
        execute(self.place, f"INSERT INTO agent_message ({', '.join(names)}) VALUES ({', '.join(given)})", **values)

    def stored(self) -> dict[str, dict[str, Any]]:
        """Every row by its id, by the names of the seed."""
        rows = named_rows(self.place, "SELECT * FROM agent_message ORDER BY message_id")
        lower = [{name.lower(): value for name, value in row.items()} for row in rows]
        return {row["message_id"]: row for row in lower}


def _made(place: str, clock: FakeClock, form: Form | None = None, name: str = "seed") -> Table:
    form = form or FORMS[name]
    columns = form.columns if form.name != "agent_message" else {**COLUMNS, **form.columns}
    made = f"CREATE TABLE {form.name} ({', '.join(f'{name} {text}' for name, text in columns.items())})"
    execute(place, *form.before, made, *form.more, *(form.sqlite if "://" not in place else form.postgres))
    return Table(place, name, clock)


@pytest.fixture(params=FORMS)
def table(request: pytest.FixtureRequest, empty_place: str, clock: FakeClock) -> Table:
    """Each form in each database."""
    form = FORMS[request.param]
    kind = "postgresql" if "://" in empty_place else "sqlite"
    if form.only not in ("", kind):
        pytest.skip(f"a form of {form.only}")
    return _made(empty_place, clock, name=request.param)


def _caller(table: Table, opened: Open, name: str = "orchestrator") -> Caller:
    return Caller(opened(table.place, clock=table.clock), name, wait=2.0)


def _state(snapshot: Snapshot) -> dict[str, str]:
    return {message.message_id: message.status for message in snapshot.messages}


def test_what_can_be_delivered_is_and_one_reply_says_the_rest(table: Table, opened: Open) -> None:
    for name in ("a1", "bad", "b1"):
        table.row(name)
    table.row("old", days=8)
    caller = _caller(table, opened)
    reply = route(caller, {"ACTION": "deliver_all"})
    refuses = table.form in REFUSE_ONE
    assert (reply["success"], reply["messages_delivered"], reply["messages_expired"]) == (True, 3 - refuses, 1)
    rows = table.stored()
    assert [rows[name]["status"] for name in ("a1", "b1")] == ["delivered", "delivered"]
    assert _state(caller.team.snapshot())["old"] == "expired"
    if not refuses:
        assert reply["messages_failed"] == 0
        return
    assert (reply["messages_failed"], reply["messages_refused"]) == (1, 1)
    (left,) = reply["refused"]
    assert (left["message_id"], rows["bad"]["status"], rows["bad"]["retry_count"]) == ("bad", "pending", 0)
    assert "guard" in left["reason"] or "not this one" in left["reason"]
    (finding,) = [problem for problem in caller.team.snapshot().problems if problem.code == "ROW_REFUSED"]
    assert "bad" in finding.place + finding.message
    counts = []
    for seconds in (29, 1, 59, 1, 119, 1):
        table.clock.advance(seconds)
        counts.append(len(deliver(caller).attempts))
    assert counts == [0, 1, 0, 1, 0, 1]
    execute(table.place, f"DROP TRIGGER guard{' ON agent_message' if '://' in table.place else ''}")
    table.clock.advance(120)
    assert [attempt.error for attempt in deliver(caller).attempts] == [None]
    assert table.stored()["bad"]["status"] == "delivered"
    assert not [problem for problem in caller.team.snapshot().problems if problem.code == "ROW_REFUSED"]


def test_a_delivery_that_fails_spends_its_tries_in_every_form(
    table: Table, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    execute(table.place, "CREATE TABLE architect_inbox (message_id TEXT CHECK (message_id = ''), payload TEXT)")
    caller = _caller(table, opened)
    folder = caller.team.inbox_folder  # type: ignore[attr-defined]
    (folder / "architect.jsonl").mkdir(parents=True)
    table.row("broken", "architect")
    table.row("fine")
    assert [len(some) for some in (deliver(caller).delivered, deliver(caller).attempts)] == [1, 0]
    for seconds, status in ((30, "retry"), (60, "retry"), (120, "failed")):
        table.clock.advance(seconds)
        (attempt,) = deliver(caller).attempts
        assert attempt.message.status == status
        assert _state(caller.team.snapshot())["broken"] == status
    row = table.stored()["broken"]
    assert (row["status"], row["retry_count"]) == ("failed", 3)
    assert "architect_inbox" in row["error_message"]
    treat(caller, Remedy.RETRY, ["broken"])
    assert _state(caller.team.snapshot())["broken"] == "pending"
    assert table.stored()["broken"]["status"] == "pending"


def test_mail_is_taken_held_and_given_back_in_every_form(table: Table, opened: Open) -> None:
    for name in ("a1", "bad", "b1"):
        table.row(name)
    developer = _caller(table, opened, "code_developer")
    refuses = table.form in REFUSE_ONE and "ends the transaction" not in table.form
    if "ends the transaction" in table.form:
        with pytest.raises(TeamError, match="not this one"):
            inbox.receive(developer, agent="code_developer")
        return
    held = inbox.receive(developer, agent="code_developer", lease=60)
    assert {message.message_id for message in held.messages} == {"a1", "b1"} | (set() if refuses else {"bad"})
    assert ["bad" in notice.message for notice in held.notices] == [True] * refuses
    again = inbox.receive(_caller(table, opened, "code_developer"), agent="code_developer")
    assert again.messages == ()
    assert ["bad stays" in notice.message for notice in again.notices] == [True] * refuses
    assert again.may_change_by_itself
    table.clock.advance(61)
    inbox.receive(developer, agent="code_developer")
    state = _state(developer.team.snapshot())
    assert [state[name] for name in ("a1", "b1")] == ["read", "read"]
    assert inbox.receive(_caller(table, opened, "code_developer"), agent="code_developer").messages == ()


def test_a_message_of_ours_fits_into_every_form_and_comes_back_as_it_was_sent(table: Table, opened: Open) -> None:
    caller = _caller(table, opened)
    sent = send(caller, to="code_developer", summary="Five words are in here", content="Hello").messages[0]
    silent = send(caller, to="code_developer", type="spec_ready", payload={}).messages[0]
    found = {message.message_id: message for message in caller.team.snapshot().messages}
    for message in (sent, silent):
        assert dict(found[message.message_id].record) == dict(message.record)
    assert not [p for p in caller.team.snapshot().problems if p.code not in ("NUMERIC_TIMES",)]
    asked = submit_plan(_caller(table, opened, "code_developer"), content="1. Do it", summary="Five words are in here")
    decide(_caller(table, opened, "user"), Decision(asked.request_id or "", True))
    maintenance.clear(caller, older_than_days=0)
    team = caller.team
    history, seen = team.history().messages, team.snapshot()
    rows = {row.request_id: row for row in judge(history, seen.config, seen.recorded, table.clock.now).values()}
    decided = rows[asked.request_id or ""]
    assert (decided.state, decided.altered) == (RequestState.APPROVED, ())


def test_what_is_old_leaves_but_for_the_rows_that_must_stay(table: Table, opened: Open) -> None:
    for number in range(30):
        table.row(f"o{number:02}", status="delivered", days=9)
    table.row("bad", status="delivered", days=9)
    if table.form in REFERRED:
        execute(table.place, "INSERT INTO message_log (mid, line) VALUES ('o07', 'read')")
    caller = _caller(table, opened)
    reply = route(caller, {"ACTION": "clear_old", "OLDER_THAN_DAYS": 7})
    stays = {"o07"} if table.form in REFERRED else set()
    assert (reply["success"], reply["messages_deleted"]) == (True, 31 - len(stays))
    assert table.stored().keys() == stays
    for left in reply.get("refused", []):
        assert (left["message_id"], "message_log" in left["reason"]) == ("o07", True)
    assert len(reply.get("refused", [])) == len(stays)
    if stays:
        (finding,) = [p for p in caller.team.snapshot().problems if p.code == "ROW_REFUSED"]
        assert "o07" in finding.place + finding.message
        execute(table.place, "DELETE FROM message_log")
        assert maintenance.clear(caller).deleted == 1


def test_a_read_row_that_something_refers_to_keeps_nobody_from_reading(
    empty_place: str, opened: Open, clock: FakeClock
) -> None:
    """What leaves the queue by itself may stay; whoever reads meant something else."""
    create_database(empty_place, "team: t\nlead: ceo\nactive_messages_max: 1\nagents: [ceo, architect]\n")
    execute(empty_place, _REFERS.format(" ON DELETE RESTRICT"))
    caller = Caller(opened(empty_place, clock=clock), "ceo")
    ids = [
        send(caller, to="architect", summary="Five words are in here", content=f"Number {n}").messages[0].message_id
        for n in range(12)
    ]
    execute(empty_place, "INSERT INTO message_log (mid, line) VALUES (:one, 'x')", one=ids[0])
    for _ in ids:
        inbox.receive(Caller(caller.team, "architect"), agent="architect", limit=1)
        clock.advance(1)
    left = [row[0] for row in execute(empty_place, "SELECT message_id FROM agent_message")]
    assert ids[0] in left
    assert len(left) < len(ids)


@pytest.mark.parametrize("face", ["status", "init", "route"])
@cases
def test_what_cannot_work_is_refused_with_the_statement_that_mends_it_and_left_alone(
    empty_place: str, elsewhere: CommandLine, face: str, statements: tuple[str, ...], mends: str
) -> None:
    if ("AGENT_MESSAGE" in mends or "INHERIT" in mends) and "://" not in empty_place:
        pytest.skip("SQLite tells no capitals apart and has no tables that inherit")
    columns = ", ".join(f"{name} {text}" for name, text in COLUMNS.items())
    execute(empty_place, *(statement.format(columns) for statement in statements))
    words = {
        "status": ("-t", empty_place, "status", "--json"),
        "init": ("init", empty_place, "--name", "t", "--lead", "ceo", "--json"),
        "route": ("-t", empty_place, "route", "--json"),
    }[face]
    done = elsewhere(*words, stdin='{"ACTION": "deliver_all"}' if face == "route" else "")
    assert mends in json.dumps(done.json).replace('\\"', '"')
    tables = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'team_console%'"
    if "://" not in empty_place:
        tables = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'team_console%'"
    assert execute(empty_place, tables) == [(0,)]


def test_an_error_says_what_was_done_before_it(tmp_path: Path, opened: Open, clock: FakeClock) -> None:
    """A pass is several writes: "nothing was changed" is true of the last one alone."""
    place = str(tmp_path / "team.db")
    table = _made(place, clock)
    for number in range(150):
        table.row(f"m{number:03}")
    caller = _caller(table, opened)
    send(caller, to="code_developer", summary="Five words are in here", content="Tables.")
    execute(
        place,
        "CREATE TRIGGER broken AFTER INSERT ON team_console_inbox WHEN NEW.message_id = 'm120' "
        "BEGIN SELECT raise(ABORT, 'no room'); END",
    )
    with pytest.raises(TeamError) as caught:
        deliver(caller)
    error = caught.value
    assert (error.code, error.facts["messages_delivered"]) == (Code.STORE_FAILED, 100)
    assert "100 messages delivered in the same pass" in error.message
    assert "nothing was" not in f"{error.message} {error.hint}".lower()
    assert [row["retry_count"] for row in table.stored().values()].count(0) >= 150


def test_an_error_of_the_database_spends_no_try_and_blames_no_row(
    empty_place: str, opened: Open, clock: FakeClock
) -> None:
    """A trigger that can work for no row at all says nothing of any of them."""
    table = _made(empty_place, clock)
    table.row("m1")
    caller = _caller(table, opened)
    deliver(caller)
    table.row("m2")
    body = "BEGIN INSERT INTO gone VALUES (1); END"
    if "://" in empty_place:
        function = f"CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ {body[:-3]} RETURN NEW; END $$"
        on = "CREATE TRIGGER broken AFTER UPDATE ON agent_message FOR EACH ROW EXECUTE FUNCTION broken()"
        execute(empty_place, function, on)
    else:
        execute(empty_place, f"CREATE TRIGGER broken AFTER UPDATE ON agent_message {body}")
    with pytest.raises(TeamError, match="gone"):
        deliver(caller)
    row = table.stored()["m2"]
    assert (row["status"], row["retry_count"], row["error_message"]) == ("pending", 0, None)
    assert [problem.code for problem in caller.team.snapshot().problems] == []


def _swallow(place: str, table: str) -> None:
    """Let a trigger take away each row that is added to a table, without an error."""
    if "://" in place:
        execute(
            place,
            "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
            f"CREATE TRIGGER swallow BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION swallow()",
        )
    else:
        execute(place, f"CREATE TRIGGER swallow BEFORE INSERT ON {table} BEGIN SELECT raise(IGNORE); END")


_MEDDLE = "UPDATE agent_message SET {0} WHERE message_id = NEW.message_id"


@pytest.mark.parametrize("by", ["trigger", "rule"])
@cases
def test_what_the_table_changes_at_once_is_not_told_as_sent(
    empty_place: str, opened: Open, clock: FakeClock, change: str, part: str, by: str
) -> None:
    """Nobody would get it, or as something else, and the sender was told that it was written."""
    create_database(empty_place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    then = _MEDDLE.format(change)
    if by == "rule" and "://" not in empty_place:
        pytest.skip("SQLite has no rules")
    if by == "rule":
        execute(empty_place, f"CREATE RULE meddle AS ON INSERT TO agent_message DO ALSO {then}")
    elif "://" in empty_place:
        body = f"BEGIN {then}; RETURN NULL; END"
        execute(
            empty_place,
            f"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$",
            "CREATE TRIGGER meddle AFTER INSERT ON agent_message FOR EACH ROW EXECUTE FUNCTION meddle()",
        )
    else:
        execute(empty_place, f"CREATE TRIGGER meddle AFTER INSERT ON agent_message BEGIN {then}; END")
    caller = Caller(opened(empty_place, clock=clock), "ceo")
    with pytest.raises(TeamError, match=rf'{by} "meddle" changed its .*{part}.*; nothing was changed') as caught:
        send(caller, to="architect", summary="Five words are in here", content="Hello")
    assert caught.value.code is Code.STORE_FAILED
    assert execute(empty_place, "SELECT count(*) FROM agent_message") == [(0,)]


def test_a_rule_that_swallows_changes_is_named(postgres: str, opened: Open, clock: FakeClock) -> None:
    create_database(postgres, "team: t\nlead: ceo\nagents: [ceo, architect, helper]\n")
    caller = Caller(opened(postgres, clock=clock), "ceo")
    (sent,) = send(caller, to="architect", summary="Five words are in here", content="Hello").messages
    execute(postgres, "CREATE RULE keep AS ON UPDATE TO agent_message DO INSTEAD NOTHING")
    with pytest.raises(TeamError, match='DROP RULE "keep" ON agent_message;'):
        treat(caller, Remedy.RECALL, [sent.message_id])


@pytest.mark.parametrize("old", ["recipient", "status"])
def test_a_redirected_message_whose_row_stays_as_it_was_is_not_told_as_redirected(
    postgres: str, opened: Open, clock: FakeClock, old: str
) -> None:
    create_database(postgres, "team: t\nlead: ceo\nagents: [ceo, architect, helper]\n")
    caller = Caller(opened(postgres, clock=clock), "ceo")
    (sent,) = send(caller, to="architect", summary="Five words are in here", content="Hello").messages
    execute(
        postgres,
        "UPDATE agent_message SET status = 'failed'",
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN NEW.{old} := OLD.{old}; RETURN NEW; END $$",
        "CREATE TRIGGER keep BEFORE UPDATE ON agent_message FOR EACH ROW EXECUTE FUNCTION keep()",
    )
    with pytest.raises(TeamError, match='DROP TRIGGER "keep" ON agent_message;'):
        treat(caller, Remedy.REDIRECT, [sent.message_id], to="helper")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("face", ["send", "plan", "route"])
def test_what_the_table_takes_away_again_is_not_told_as_sent(
    empty_place: str, opened: Open, clock: FakeClock, face: str, when: str
) -> None:
    table = Table(empty_place, "seed", clock)
    create_database(empty_place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    if when == "before":
        _swallow(empty_place, "agent_message")
    elif "://" in empty_place:
        pytest.skip("a trigger in two statements: one of SQLite is enough")
    else:
        away = "DELETE FROM agent_message WHERE message_id = NEW.message_id"
        execute(empty_place, f"CREATE TRIGGER swallow AFTER INSERT ON agent_message BEGIN {away}; END")
    team = opened(empty_place, clock=clock)
    with pytest.raises(TeamError, match=r"swallow.* took it away; nothing was changed") as caught:
        if face == "send":
            send(Caller(team, "ceo"), to="architect", summary="Five words are in here", content="Hello")
        elif face == "plan":
            submit_plan(Caller(team, "architect"), content="1. Do it", summary="Five words are in here")
        else:
            fields = {"ACTION": "send", "SENDER": "ceo", "RECIPIENT": "architect", "MESSAGE_TYPE": "notify"}
            route(Caller(team, "ceo"), {**fields, "PAYLOAD": {"message": "Hello", "priority": "low"}})
    assert caught.value.code is Code.STORE_FAILED
    assert table.stored() == {}


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_an_inbox_takes_away_again_goes_into_the_file(
    empty_place: str, opened: Open, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    create_database(empty_place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    execute(empty_place, "CREATE TABLE architect_inbox (message_id TEXT, payload TEXT)")
    if when == "before":
        _swallow(empty_place, "architect_inbox")
    elif "://" in empty_place:
        pytest.skip("a trigger in two statements: one of SQLite is enough")
    else:
        execute(
            empty_place, "CREATE TRIGGER away AFTER INSERT ON architect_inbox BEGIN DELETE FROM architect_inbox; END"
        )
    caller = Caller(opened(empty_place, clock=clock), "ceo")
    sent = send(caller, to="architect", summary="Five words are in here", content="Hello").messages[0]
    assert deliver(caller).delivered
    folder = caller.team.inbox_folder  # type: ignore[attr-defined]
    assert sent.message_id in (folder / "architect.jsonl").read_text()


def test_what_a_trigger_calls_delivered_is_read_all_the_same(tmp_path: Path, opened: Open, clock: FakeClock) -> None:
    """Its sender and the roster would count it as unread for ever."""
    place = str(tmp_path / "team.db")
    create_database(place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    then = _MEDDLE.format("status = 'delivered'")
    execute(place, f"CREATE TRIGGER t AFTER UPDATE ON agent_message WHEN NEW.status = 'read' BEGIN {then}; END")
    caller = Caller(opened(place, clock=clock), "architect")
    send(Caller(caller.team, "ceo"), to="architect", summary="Five words are in here", content="Hello")
    assert len(inbox.receive(caller, agent="architect").messages) == 1
    assert [message.status for message in caller.team.snapshot().messages] == ["read"]
    assert inbox.receive(caller, agent="architect", delivered=True).messages == ()


@pytest.mark.parametrize("column", ["arrivals", "audit_seq"])
def test_numbers_that_were_put_back_stop_no_write(
    empty_place: str, opened: Open, clock: FakeClock, column: str
) -> None:
    """Each number was given a second time, which the tables refuse: nobody could write any more."""
    create_database(empty_place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    caller = Caller(opened(empty_place, clock=clock), "architect")
    send(Caller(caller.team, "ceo"), to="architect", summary="Five words are in here", content="one")
    inbox.receive(caller, agent="architect")
    send(Caller(caller.team, "ceo"), to="architect", summary="Five words are in here", content="two")
    execute(empty_place, f"UPDATE team_console_state SET {column} = 0")
    found = opened(empty_place, clock=clock)
    assert [problem.code for problem in found.snapshot().problems] == ["NUMBERS_BEHIND"]
    send(Caller(found, "ceo"), to="architect", summary="Five words are in here", content="three")
    got = inbox.receive(Caller(found, "architect"), agent="architect")
    assert [message.content for message in got.messages] == ["two", "three"]
    assert found.snapshot().problems == ()
    assert all(line.intact for line in found.audit())


def test_numbers_that_are_gone_are_told(empty_place: str, opened: Open, clock: FakeClock) -> None:
    create_database(empty_place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    execute(empty_place, "DELETE FROM team_console_state")
    caller = Caller(opened(empty_place, clock=clock), "ceo")
    assert [problem.code for problem in caller.team.snapshot().problems] == ["NUMBERS_LOST"]
    with pytest.raises(TeamError, match="holds no numbers; nothing was changed"):
        send(caller, to="architect", summary="Five words are in here", content="one")


def test_mail_whose_archive_takes_nothing_stays_unread(empty_place: str, opened: Open, clock: FakeClock) -> None:
    """It would leave the queue one day, and be nowhere."""
    create_database(empty_place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    _swallow(empty_place, "team_console_archive")
    caller = Caller(opened(empty_place, clock=clock), "architect")
    send(Caller(caller.team, "ceo"), to="architect", summary="Five words are in here", content="Hello")
    with pytest.raises(TeamError, match="did not take what was to be archived; nothing was changed"):
        inbox.receive(caller, agent="architect")
    assert [message.status for message in caller.team.snapshot().messages] == ["pending"]


def test_a_row_whose_id_no_other_place_holds_is_named_and_stops_no_mail(
    tmp_path: Path, opened: Open, clock: FakeClock
) -> None:
    """It was read once; put back, it kept everything of its agent from being received."""
    place = str(tmp_path / "team.db")
    create_database(place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    names = "INSERT INTO agent_message (message_id, sender, recipient, message_type, status) "
    execute(place, f"{names} VALUES ('a' || char(0) || 'b', 'ceo', 'architect', 'message', 'pending')")
    caller = Caller(opened(place, clock=clock), "architect")
    (sent,) = send(Caller(caller.team, "ceo"), to="architect", summary="Five words are in here", content="Hi").messages
    for _ in range(2):
        (problem,) = caller.team.snapshot().problems
        assert (problem.code, problem.severity) == ("DAMAGED_ENTRY", "error")
        assert "message_id with a NUL" in problem.message
        assert [one.message_id for one in inbox.receive(caller, agent="architect").messages] == [sent.message_id]
        execute(place, "UPDATE agent_message SET status = 'pending'")


@pytest.mark.parametrize("column", ["message_type", "payload", "recipient", "message_id"])
@pytest.mark.parametrize("kind", ["VARCHAR(8)", "CHAR(8)"])
def test_no_column_of_a_message_is_cut(postgres: str, opened: Open, clock: FakeClock, column: str, kind: str) -> None:
    """A cast to a type with a length cuts without an error: a plan became a message of no kind."""
    form = {**COLUMNS, column: f"{kind} PRIMARY KEY" if column == "message_id" else kind}
    execute(postgres, f"CREATE TABLE agent_message ({', '.join(f'{name} {text}' for name, text in form.items())})")
    table = Table(postgres, "seed", clock)
    team = opened(postgres, clock=clock)
    with pytest.raises(TeamError, match=r"too long.*nothing was changed"):
        send(Caller(team, "ceo"), to="code_developer", type="spec_ready", payload={"spec_id": "SPEC-031 of today"})
    assert table.stored() == {}


def test_a_database_in_another_encoding_takes_what_it_can_and_says_so(opened: Open, clock: FakeClock) -> None:
    server = server_or_skip()
    place = empty_postgresql().rpartition("/")[0] + f"/latin_{secrets.token_hex(4)}"
    name = place.rpartition("/")[2]
    server.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    create_database(place, "team: t\nlead: ceo\nagents: [ceo, architect]\n")
    caller = Caller(opened(place, clock=clock), "ceo")
    send(caller, to="architect", summary="Five words are in here", content="caf\u00e9")
    with pytest.raises(TeamError, match="nothing was changed") as caught:
        send(caller, to="architect", summary="Five words are in here", content="\u2713")
    assert caught.value.code is Code.STORE_FAILED
    (got,) = inbox.receive(Caller(caller.team, "architect"), agent="architect").messages
    assert got.content == "caf\u00e9"


def test_a_row_that_is_not_utf8_stops_no_other(opened: Open, clock: FakeClock) -> None:
    server = server_or_skip()
    place = empty_postgresql().rpartition("/")[0] + f"/ascii_{secrets.token_hex(4)}"
    name = place.rpartition("/")[2]
    server.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    execute(place, f"CREATE TABLE agent_message ({', '.join(f'{name} {text}' for name, text in COLUMNS.items())})")
    table = Table(place, "seed", clock)
    table.row("a1")
    table.row("bad")
    execute(place, "UPDATE agent_message SET payload = NULL, error_message = E'caf\\xe9' WHERE message_id = 'bad'")
    got = inbox.receive(Caller(opened(place, clock=clock), "code_developer"), agent="code_developer")
    assert {message.message_id for message in got.messages} == {"a1", "bad"}


def test_another_row_under_the_id_of_an_archived_message_is_archived_beside_it(
    empty_place: str, opened: Open, clock: FakeClock
) -> None:
    """The archive of the first counted for the second, which `clear` took out of its only place."""
    table = _made(empty_place, clock)
    developer = _caller(table, opened, "code_developer")
    sent = send(developer, to="user", summary="Five words are in here", content="Hello").messages[0]
    inbox.receive(_caller(table, opened, "user"), agent="user")
    clock.advance(1)
    maintenance.clear(_caller(table, opened, "user"), older_than_days=0)
    assert table.stored() == {}
    table.row(sent.message_id)
    table.row("other")
    got = inbox.receive(developer, agent="code_developer")
    assert {message.message_id for message in got.messages} == {sent.message_id, "other"}
    assert [(notice.code, notice.place) for notice in got.notices] == [("DUPLICATE_ID", sent.message_id)]
    for _ in range(2):
        history = {message.message_id: message.sender for message in developer.team.history().messages}
        assert history == {
            sent.message_id: "code_developer",
            f"{sent.message_id}-2": "orchestrator",
            "other": "orchestrator",
        }
        clock.advance(1)
        maintenance.clear(developer, older_than_days=0)
    assert table.stored() == {}
