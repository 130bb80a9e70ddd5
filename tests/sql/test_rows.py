"""Rows and messages: whatever a record holds comes back, and what other programs wrote is left alone."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_console.console.cli.main import run
from team_console.store.api import join_team
from team_console.store.backends.open import create_database, open_team
from team_console.store.backends.sql.rows import NOTE_KEY, Row, RowEntry, new_row, read_row
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME

from tests.equipment.asking import refusal
from tests.equipment.cases import cases, constant
from tests.equipment.command_line import CommandLine
from tests.equipment.samples import rotated, sampled
from tests.sql.conftest import SETTINGS

pytestmark = pytest.mark.slow


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_NAMES = st.sampled_from(["ceo", "architect", "all", "a,b", "x y"])
_TIMES = st.sampled_from(["2026-02-24T10:30:15.123Z", "2026-02-24T10:30:15Z", "2026-02-24 10:30", "soon", ""])
_EXTRAS = {
    **{"priority": _TEXTS, "status": _TEXTS, "delivered_at": _TIMES, "attempts": _JSON, "retry_count": _JSON},
    **{"max_retries": _JSON, "error_message": _JSON, "read_by": st.dictionaries(_NAMES, _TIMES), "token": _TEXTS},
    **{"to_agents": st.lists(_NAMES, min_size=1), "recipient": _NAMES, "sender": _NAMES, "created_at": _TIMES},
    **{"payload": _JSON, "unknown": _JSON, NOTE_KEY: _JSON, "#": _JSON, "-": _JSON, "+": _JSON},
}
_IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
_RECORDS = st.fixed_dictionaries(
    {"message_id": _IDS, "type": _TEXTS.filter(bool), "from": _NAMES, "to": _NAMES, "created": _TIMES},
    optional=_EXTRAS,
)


def _stored(message: Message, arrival: int = 1) -> RowEntry:
    columns, note = new_row(message, arrival=arrival)
    return read_row(Row(**columns, note=note), place="row 1")


def _same(value: Any, other: Any) -> bool:
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(_RECORDS)
def test_a_record_comes_back_as_it_was_whatever_it_holds(record: dict[str, Any]) -> None:
    back = _stored(from_record(record), arrival=7)
    assert back.message is not None
    assert _same(back.message.record, record)
    assert back.arrival == 7


@pytest.mark.parametrize("key", ["read_by", "delivered_to", "handed_to"])
@cases
def test_a_note_whose_times_are_none_is_a_problem_and_no_message(key: str, time: Any) -> None:
    for note in ({key: {"bob": time}}, {"+": {key: {"bob": time}}}):
        payload = json.dumps({"content": "x", NOTE_KEY: {"#": 1, **note}})
        entry = read_row(Row("m", "a", "bob", "message", payload, "pending", *[None] * 5), place="row 1")
        assert entry.message is None
        assert [(problem.code, key in problem.message) for problem in entry.problems] == [("DAMAGED_ENTRY", True)]


@pytest.mark.parametrize("payload", ["{", "[" * 100_000, "NaN", '{"a": 1e999999, "b": Infinity}', "1" * 10_000])
def test_a_payload_that_is_no_json_is_shown_as_text_with_a_problem(payload: str) -> None:
    entry = read_row(Row("m", "a", "b", "message", payload, "pending", *[None] * 5), place="row 1")
    assert entry.message is not None
    assert entry.message.content == payload
    assert [problem.code for problem in entry.problems] == ["DAMAGED_ENTRY"]


VALUES = (b"\x00\xff", "xyz", 7, None)
MESSAGE = ("--summary", "one two three four five", "--content", "c")
LOOKS = (("check",), ("show", "BIG"), ("receive", "--agent", "a1", "--peek"))
WRITES = (("send", "--to", "a2", *MESSAGE), ("receive", "--agent", "a1"), ("check", "--heal"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something in every table."""
    folder = tmp_path_factory.mktemp("mixed")
    for line in constant(__file__, "MADE", list[str]):
        CommandLine(folder).ok(line, stdin="It goes on and on. " * 5_000)
    with closing(sqlite3.connect(folder / "team.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder / "team.db"


def _harmed(made: Path, table: str, copy: Path) -> Iterator[str]:
    """A copy of the database for each column with a value that can be put there; says which it is."""
    with closing(sqlite3.connect(made)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    for column, value in rotated(columns, VALUES):
        for path in copy.parent.glob("copy.db*"):
            path.unlink()
        shutil.copy(made, copy)
        with closing(sqlite3.connect(copy)) as connection:
            last = f"rowid = (SELECT max(rowid) FROM {table})"
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {last}", (value,))
            except sqlite3.Error:
                continue
            connection.commit()
        yield f"{table}.{column} = {value!r}"


@pytest.mark.slow
@cases
def test_a_value_of_another_type_is_never_a_defect(
    made: Path, tmp_path: Path, table: str, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    for harm in _harmed(made, table, copy):
        for words in (*LOOKS, *WRITES):
            status = run(["-t", str(copy), *words])
            printed = capfd.readouterr()
            assert status in (0, 1, 4), (harm, words, printed)
            assert "defect" not in printed.err, (harm, words, printed.err)


HOSTILE = {
    "nul": "a\0b",
    "its picture": "a\N{SYMBOL FOR NULL}b",
    "half a character": "a\ud800b",
    "its escape": "a\\ud800b",
    "long": "x" * 5000,
    "language": "'; DROP TABLE agent_message; --",
    "pattern": "%_!/\\",
    "parameter": ":id_0 %(id)s %s",
    "lines": "a\nb\x1b[31m",
}
NOTE = "one two three four five"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / CONFIG_NAME).write_text(SETTINGS)
    (tmp_path / QUEUE_NAME).write_text("messages: []\n")
    return str(tmp_path)


def _outcomes(location: str, text: str) -> Iterator[tuple[str, str]]:
    """What each verb said of the text as an id, its error code or `done`."""
    with join_team(location, "architect") as agent, join_team(location, "ceo") as lead:
        calls = {
            "send": lambda: agent.send("ceo", "text", summary=NOTE, message_id=text),
            "request id": lambda: agent.send("ceo", "text", summary=NOTE, payload={"request_id": text}),
            "key": lambda: agent.send("ceo", "text", summary=NOTE, payload={text: {text: text}}),
            "reply": lambda: agent.send("ceo", "text", summary=NOTE, in_reply_to=text),
            "acknowledge": lambda: agent.acknowledge(text),
            "look": lambda: agent.request(text).look(),
            "withdraw": lambda: agent.withdraw(text, reason="not needed any more"),
            "approve": lambda: lead.approve(text),
            "reject": lambda: lead.reject(text, reason="not like this"),
            "answer": lambda: lead.answer(text, {"yes": "yes"}),
            "kind": lambda: lead.peek(type=text),
            "receive": lambda: lead.receive(limit=50),
        }
        for verb, call in calls.items():
            yield verb, _outcome(call)
        yield "requests", str([row.request_id for row in lead.requests()])


def _outcome(call: object) -> str:
    try:
        call()  # type: ignore[operator]
    except TeamError as error:
        return str(error.code)
    return "done"


@pytest.mark.parametrize("text", sampled(HOSTILE.values(), 6))
def test_every_kind_of_team_says_the_same(empty_place: str, folder: str, text: str) -> None:
    create_database(empty_place, SETTINGS)
    assert dict(_outcomes(empty_place, text)) == dict(_outcomes(folder, text))


def test_one_that_is_stored_as_another_is_not_taken_for_it(empty_place: str) -> None:
    create_database(empty_place, SETTINGS)
    with join_team(empty_place, "architect") as agent, join_team(empty_place, "ceo") as lead:
        for request_id in (HOSTILE["nul"], HOSTILE["its picture"]):
            agent.send(
                "ceo", request_id.encode("unicode_escape").decode(), summary=NOTE, payload={"request_id": request_id}
            )
        lead.receive()
        with closing(open_team(empty_place)) as team, team.transaction(actor="ceo", action="look", wait=5.0) as tx:
            threads = [tx.thread(HOSTILE[which]) for which in ("nul", "its picture")]
    assert [[message.request_id for message in thread] for thread in threads] == [
        [HOSTILE["nul"]],
        [HOSTILE["its picture"]],
    ]


def test_an_id_longer_than_the_database_seeks_is_no_failure_of_the_store(empty_place: str) -> None:
    create_database(empty_place, SETTINGS)
    unknown = "x" * 70_000
    with join_team(empty_place, "ceo") as lead, join_team(empty_place, "architect") as agent:
        lead.send("architect", NOTE, summary=NOTE)  # a database without rows never looks at a pattern
        agent.receive()
        lead.send("architect", NOTE, summary=NOTE)
        unread = refusal(lead.request(unknown).look)
        unwritten = refusal(lead.approve, unknown)
    assert (unread.code, unwritten.code) == (Code.INVALID_REQUEST_ID, Code.INVALID_REQUEST_ID)
