"""Rows and messages: whatever a record holds comes back, and what other programs wrote is left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_console.store.backends.sql.rows import (
    NOTE_KEY,
    Row,
    RowEntry,
    changed_row,
    new_row,
    payload_text,
    read_row,
)
from team_console.store.model.message import Message, from_record

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
_RECORDS = st.fixed_dictionaries(
    {"message_id": _TEXTS.filter(bool), "type": _TEXTS.filter(bool), "from": _NAMES, "to": _NAMES, "created": _TIMES},
    optional=_EXTRAS,
)


def _stored(message: Message, arrival: int = 1) -> RowEntry:
    columns, note = new_row(message, arrival=arrival)
    return read_row(Row(**columns, note=note), place="row 1")


def _after(old: RowEntry, new: Message) -> RowEntry:
    changed, note = changed_row(old, new)
    return read_row(Row(**{**old.row._asdict(), **changed, "note": note}), place="row 1")


def _same(value: Any, other: Any) -> bool:
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(_RECORDS)
def test_a_record_comes_back_as_it_was_whatever_it_holds(record: dict[str, Any]) -> None:
    back = _stored(from_record(record), arrival=7)
    assert back.message is not None
    assert _same(back.message.record, record)
    assert back.arrival == 7


@given(_RECORDS, _RECORDS)
def test_a_changed_record_comes_back_as_it_was_changed(first: dict[str, Any], second: dict[str, Any]) -> None:
    wanted = from_record({**second, "message_id": first["message_id"]})
    back = _after(_stored(from_record(first)), wanted)
    assert back.message is not None
    assert _same(back.message.record, wanted.record)


@given(payload=st.none() | _TEXTS | _JSON.map(json.dumps), status=st.none() | _TEXTS, to=_NAMES)
def test_a_row_of_another_program_keeps_its_payload_whatever_we_change(payload: Any, status: Any, to: str) -> None:
    row = Row("msg-001", "orchestrator", to, None, payload, status, "2025-10-26 10:30:00", None, 0, 3, None)
    entry = read_row(row, place="row 1")
    assert entry.message is not None
    if NOTE_KEY in str(payload):
        return
    new = entry.message.with_changes(status="claimed", token="abc", lease_until="2026-01-01T00:00:00.000Z")
    changed, note = changed_row(entry, new)
    assert set(changed) <= {"status"}
    back = read_row(Row(**{**row._asdict(), **changed, "note": note}), place="row 1")
    assert back.message is not None
    assert _same(back.message.record, new.record)


@given(_RECORDS, _RECORDS)
def test_a_row_of_0_5_0_is_read_and_leaves_its_payload_alone_once_it_changes(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Up to 0.5.0 the note stood in the payload of our own rows."""
    columns, note = new_row(from_record(first), arrival=7)
    payload = json.loads(columns["payload"] or "null")
    body = payload if isinstance(payload, dict) else {}
    more = {} if isinstance(payload, dict) or "payload" not in first else {"payload": first["payload"]}
    row = Row(**{**columns, "payload": json.dumps({**body, NOTE_KEY: {**json.loads(note), "#": 7, **more}})})
    old = read_row(row, place="row 1")
    wanted = from_record({**second, "message_id": first["message_id"]})
    back = _after(old, wanted)
    assert old.arrival == back.arrival == 7
    assert back.message is not None
    assert _same(back.message.record, wanted.record)
    assert back.row.payload == payload_text(wanted)


def test_another_router_that_delivers_our_message_is_believed() -> None:
    message = from_record(
        {"message_id": "m", "message_type": "x", "sender": "ceo", "recipient": "a", "attempts": 1, "payload": {}}
    )
    entry = _stored(message)
    row = entry.row._replace(status="failed", retry_count=3, error_message="gone")
    back = read_row(row, place="row 1").message
    assert back is not None
    assert (back.status, back.envelope("retry_count"), back.envelope("error_message")) == ("failed", 3, "gone")
    assert back.envelope("attempts") is None


def test_a_note_cannot_make_a_row_say_another_sender_than_its_columns() -> None:
    payload = json.dumps({"content": "x", NOTE_KEY: {"#": 1, "from": "ceo", "to": "finance", "priority": "high"}})
    entry = read_row(Row("m", "mallory", "bob", "message", payload, "pending", *[None] * 5), place="row 1")
    assert entry.message is not None
    assert (entry.message.sender, entry.message.recipients) == ("mallory", ("bob",))
    assert entry.message.priority == "high"


@pytest.mark.parametrize("key", ["read_by", "delivered_to", "handed_to"])
@pytest.mark.parametrize("time", [1, None, ["2026-02-24"], {}], ids=["a number", "null", "a list", "an object"])
def test_a_note_whose_times_are_none_is_a_problem_and_no_message(key: str, time: Any) -> None:
    for note in ({key: {"bob": time}}, {"+": {key: {"bob": time}}}):
        payload = json.dumps({"content": "x", NOTE_KEY: {"#": 1, **note}})
        entry = read_row(Row("m", "a", "bob", "message", payload, "pending", *[None] * 5), place="row 1")
        assert entry.message is None
        assert [(problem.code, key in problem.message) for problem in entry.problems] == [("DAMAGED_ENTRY", True)]


@pytest.mark.parametrize("message_id", [None, "", b"\xff"])
def test_a_row_without_an_id_is_a_problem_and_no_message(message_id: Any) -> None:
    entry = read_row(Row(message_id, "a", "b", "message", "{}", "pending", *[None] * 5), place="row 7")
    assert entry.message is None
    assert [(problem.code, problem.place) for problem in entry.problems] == [("DAMAGED_ENTRY", "row 7")]


@pytest.mark.parametrize("payload", ["{", "[" * 100_000, "NaN", '{"a": 1e999999, "b": Infinity}', "1" * 10_000])
def test_a_payload_that_is_no_json_is_shown_as_text_with_a_problem(payload: str) -> None:
    entry = read_row(Row("m", "a", "b", "message", payload, "pending", *[None] * 5), place="row 1")
    assert entry.message is not None
    assert entry.message.content == payload
    assert [problem.code for problem in entry.problems] == ["DAMAGED_ENTRY"]


@pytest.mark.parametrize("status", ["PENDING", "queued", None])
def test_a_status_that_nobody_knows_is_a_problem_and_is_not_delivered(status: Any) -> None:
    entry = read_row(Row("m", "a", "b", "message", "{}", status, *[None] * 5), place="row 1")
    assert entry.message is not None
    assert not entry.message.is_pending_for("b")
    assert [problem.code for problem in entry.problems] == ["UNKNOWN_STATUS"]
