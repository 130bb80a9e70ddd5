"""Tables that other programs made, with what they ask of a row: all that can be delivered is, the rest is named."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct, convert
from team_console.store.backends.open import create_database
from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.request_row import RequestState
from team_console.store.service import inbox, maintenance
from team_console.store.service.caller import Caller
from team_console.store.service.decision import Decision
from team_console.store.service.deliveries import Remedy, apply_remedy
from team_console.store.service.requests import decide, submit_plan
from team_console.store.service.route_json import route
from team_console.store.service.router import deliver
from team_console.store.service.sending import send

from tests.equipment.cases import constant
from tests.equipment.postgresql import empty_postgresql, server_or_skip
from tests.equipment.statements import execute, named_rows
from tests.equipment.teams import FakeClock
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow

COLUMNS = constant(__file__, "COLUMNS", dict[str, str])
_SEED = ", ".join(f"{name} {text}" for name, text in COLUMNS.items())

TRIGGERS = constant(__file__, "TRIGGERS", dict[str, dict[str, list[str]]])


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


@pytest.fixture(params=FORMS)
def table(request: pytest.FixtureRequest, empty_place: str, clock: FakeClock) -> Table:
    """Each form in each database."""
    form = FORMS[request.param]
    kind = "postgresql" if "://" in empty_place else "sqlite"
    if form.only not in ("", kind):
        pytest.skip(f"a form of {form.only}")
    columns = form.columns if form.name != "agent_message" else {**COLUMNS, **form.columns}
    made = f"CREATE TABLE {form.name} ({', '.join(f'{name} {text}' for name, text in columns.items())})"
    execute(empty_place, *form.before, made, *form.more, *(form.sqlite if kind == "sqlite" else form.postgres))
    return Table(empty_place, request.param, clock)


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
    apply_remedy(caller, Remedy.RETRY, ["broken"])
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


@pytest.fixture
def ceo(empty_place: str, opened: Open, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """The lead of a new team in each database; what no inbox takes goes into files below the folder of the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    create_database(empty_place, SETTINGS)
    return Caller(opened(empty_place, clock=clock), "ceo")


def _hello(caller: Caller, content: str = "Hello", to: str = "architect") -> Message:
    return send(caller, to=to, summary="Five words are in here", content=content).messages[0]


def test_a_read_row_that_something_refers_to_keeps_nobody_from_reading(
    empty_place: str, opened: Open, clock: FakeClock
) -> None:
    """What leaves the queue by itself may stay; whoever reads meant something else."""
    create_database(empty_place, f"{SETTINGS}active_messages_max: 1\n")
    execute(empty_place, _REFERS.format(" ON DELETE RESTRICT"))
    caller = Caller(opened(empty_place, clock=clock), "ceo")
    ids = [_hello(caller, f"Number {n}").message_id for n in range(12)]
    execute(empty_place, "INSERT INTO message_log (mid, line) VALUES (:one, 'x')", one=ids[0])
    for _ in ids:
        inbox.receive(Caller(caller.team, "architect"), agent="architect", limit=1)
        clock.advance(1)
    left = [row[0] for row in execute(empty_place, "SELECT message_id FROM agent_message")]
    assert ids[0] in left
    assert len(left) < len(ids)


def _trigger(does: str, place: str, table: str, column: str = "") -> None:
    """Let a trigger do this to each row that is added to a table."""
    statements = TRIGGERS[does]["server" if "://" in place else "file"]
    execute(place, *(text.format(table=table, column=column) for text in statements))


@pytest.mark.parametrize("policy", ["REPLACE", "IGNORE", "ROLLBACK"])
def test_no_new_message_takes_away_another(tmp_path: Path, opened: Open, clock: FakeClock, policy: str) -> None:
    place = str(tmp_path / "others.db")
    execute(place, f"CREATE TABLE agent_message ({_SEED}, UNIQUE (sender, recipient) ON CONFLICT {policy})")
    caller = Caller(opened(place, clock=clock), "ceo")
    first = _hello(caller)
    with pytest.raises(TeamError) as caught:
        _hello(caller, "Again")
    assert caught.value.code is Code.STORE_FAILED
    assert [message.message_id for message in caller.team.snapshot().messages] == [first.message_id]


def test_what_a_trigger_resolves_stops_no_new_message(tmp_path: Path, opened: Open, clock: FakeClock) -> None:
    """A message that would take another away is refused all the same."""
    place = str(tmp_path / "others.db")
    seen = "INSERT OR IGNORE INTO seen VALUES (NEW.sender); INSERT OR REPLACE INTO seen VALUES (NEW.recipient);"
    execute(
        place,
        f"CREATE TABLE agent_message ({_SEED}, UNIQUE (sender, recipient) ON CONFLICT REPLACE)",
        "CREATE TABLE seen (name TEXT PRIMARY KEY)",
        f"CREATE TRIGGER note AFTER INSERT ON agent_message BEGIN {seen} END",
    )
    caller = Caller(opened(place, clock=clock), "ceo")
    for recipient in ("architect", "task-manager"):
        _hello(caller, to=recipient)
    with pytest.raises(TeamError, match="take another one away"):
        _hello(caller, "Again")
    assert [message.content for message in caller.team.snapshot().messages] == ["Hello", "Hello"]


@pytest.mark.parametrize("what", ["changes", "swallows", "takes away again", "refuses at the commit"])
def test_what_an_inbox_does_not_keep_goes_into_the_file(ceo: Caller, empty_place: str, what: str) -> None:
    """What it keeps stays there, and nobody else's delivery waits for it."""
    known = '"the ""known"" ones"'
    refers = f"REFERENCES {known} DEFERRABLE INITIALLY DEFERRED" if what == "refuses at the commit" else ""
    execute(
        empty_place,
        f"CREATE TABLE {known} (message_id TEXT PRIMARY KEY)",
        f"CREATE TABLE architect_inbox (message_id TEXT {refers}, payload TEXT)",
    )
    kept, sent, _ = _hello(ceo), _hello(ceo), _hello(ceo, to="code_developer")
    if what == "changes":
        _trigger("reword", empty_place, "architect_inbox", "payload")
    elif what == "swallows":
        _trigger("swallow", empty_place, "architect_inbox")
    elif refers:
        execute(empty_place, f"INSERT INTO {known} VALUES (:kept)", kept=kept.message_id)
    elif "://" in empty_place:
        pytest.skip("a trigger in two statements: one of SQLite is enough")
    else:
        gone = "DELETE FROM architect_inbox"
        execute(empty_place, f"CREATE TRIGGER away AFTER INSERT ON architect_inbox BEGIN {gone}; END")
    assert len(deliver(ceo).delivered) == 3
    assert execute(empty_place, "SELECT message_id FROM architect_inbox") == [(kept.message_id,)] * bool(refers)
    lines = (ceo.team.inbox_folder / "architect.jsonl").read_text().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == (1 if refers else 2)
    assert sent.message_id in lines[-1]


@pytest.mark.parametrize(
    ("table", "column", "content"),
    [("team_console_attachment", "data", "x" * 70_000), ("team_console_audit", "", "Hello")],
)
def test_what_no_table_of_ours_keeps_is_not_sent(
    ceo: Caller, empty_place: str, table: str, column: str, content: str
) -> None:
    if column:
        _trigger("reword", empty_place, table, column)
    else:
        _trigger("swallow", empty_place, table)
    with pytest.raises(TeamError, match="did not keep") as caught:
        _hello(ceo, content)
    assert caught.value.code is Code.STORE_FAILED
    assert ceo.team.snapshot().messages == ()


def test_mail_that_an_archive_changes_stays_unread(ceo: Caller, empty_place: str) -> None:
    _hello(ceo)
    _trigger("reword", empty_place, "team_console_archive", "record")
    with pytest.raises(TeamError, match="did not keep"):
        inbox.receive(Caller(ceo.team, "architect"), agent="architect")
    assert [message.status for message in ceo.team.snapshot().messages] == ["pending"]


def test_a_push_that_our_inbox_changes_is_tried_again(ceo: Caller, empty_place: str) -> None:
    _hello(ceo)
    _trigger("reword", empty_place, "team_console_inbox", "record")
    assert not deliver(ceo).delivered
    (message,) = ceo.team.snapshot().messages
    assert message.status == "retry"
    assert "does not keep it" in str(message.envelope("error_message"))


def _encoded(name: str) -> str:
    """The location of a new database in another encoding."""
    place = f"{empty_postgresql().rpartition('/')[0]}/{name.lower()}_{secrets.token_hex(4)}"
    made = f"CREATE DATABASE {place.rpartition('/')[2]} ENCODING '{name}' LC_COLLATE 'C' LC_CTYPE 'C'"
    server_or_skip().execute(f"{made} TEMPLATE template0")
    return place


def test_a_database_in_another_encoding_takes_what_it_can_and_says_so(opened: Open, clock: FakeClock) -> None:
    place = _encoded("LATIN1")
    create_database(place, SETTINGS)
    caller = Caller(opened(place, clock=clock), "ceo")
    _hello(caller, "caf\u00e9")
    with pytest.raises(TeamError, match="nothing was changed") as caught:
        _hello(caller, "\u2713")
    assert caught.value.code is Code.STORE_FAILED
    (got,) = inbox.receive(Caller(caller.team, "architect"), agent="architect").messages
    assert got.content == "caf\u00e9"


def test_a_row_that_is_not_utf8_stops_no_other(opened: Open, clock: FakeClock) -> None:
    place = _encoded("SQL_ASCII")
    execute(place, f"CREATE TABLE agent_message ({_SEED})")
    table = Table(place, "seed", clock)
    table.row("a1")
    table.row("bad")
    execute(place, "UPDATE agent_message SET payload = NULL, error_message = E'caf\\xe9' WHERE message_id = 'bad'")
    got = inbox.receive(Caller(opened(place, clock=clock), "code_developer"), agent="code_developer")
    assert {message.message_id for message in got.messages} == {"a1", "bad"}
