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
    new_row,
    read_row,
)
from team_console.store.model.message import Message, from_record

from tests.equipment.cases import cases

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
