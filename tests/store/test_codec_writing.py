"""Writing a message: any YAML 1.1 loader reads back exactly what was meant, or nothing is written."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml.codec import CodecError, emit, parse_entry
from team_console.store.backends.yaml.codec.editing import emitter
from team_console.store.model.message import from_record, new_record

TRICKY = (
    *("no", "yes", "on", "Off", "y", "N", "null", "~", "true", "1e3", "010", "0x1F", "1_000", "12:30:45", "2026-02-24"),
    *("", " ", "-", "- a", "?", "? a", ":", ":a", "a:", "a: b", "a:b", "a #b", "a#b", "#", "|", ">", "!", "!a", "&a"),
    *("*a", "%a", "@a", "`a", "=", "<<", "...", "---", "---\na", "{", "[", "}", "]", ",", "'", '"', "\\", "it's"),
    *(
        "\n",
        "a\n",
        "a\n\n",
        "\na",
        "\n\na",
        "a\n b",
        " a\nb",
        "a\n\tb",
        "\ta\nb",
        "a \nb",
        "a\n ",
        "a\n  \nb",
        "a\nb #c",
    ),
    *("\t", "a\tb", "\r", "a\r\nb", "\x00", "\x1b[31m", "\x7f", "\x85", "a\x85b", "a\x85\nb", "\u2028", "a\u2029\nb"),
    *("\ufeff", "a\ufeff", "\ufffe", "\xa0a", "a\xa0", "\xad", "é", "漢字", "😀", "\u202e", "x" * 3000, "key: |\n  x"),
)


def a_record(**payload: Any) -> dict[str, Any]:
    return {"message_id": "M-1", "type": "t", "from": "a", "to": "b", "payload": payload}


def written(record: dict[str, Any]) -> bytes:
    return emit(from_record(record))


def test_a_new_message_is_written_as_the_design_shows_it() -> None:
    message = new_record(
        message_id="MSG-20260224-7k2m9qxa",
        type="plan_approval_request",
        sender="task-manager",
        to="ceo",
        created="2026-02-24T10:30:15.123Z",
        priority="high",
        payload={"request_id": "plan_approval-1771929015123@task-manager@sprint-42", "content": "1. One\n\n2. Two\n"},
    )
    assert emit(message).decode() == (
        "- message_id: MSG-20260224-7k2m9qxa\n"
        "  type: plan_approval_request\n"
        "  from: task-manager\n"
        "  to: ceo\n"
        "  priority: high\n"
        "  created: '2026-02-24T10:30:15.123Z'\n"
        "  status: pending\n"
        "  payload:\n"
        "    request_id: plan_approval-1771929015123@task-manager@sprint-42\n"
        "    content: |\n"
        "      1. One\n"
        "\n"
        "      2. Two\n"
    )


@pytest.mark.parametrize("text", TRICKY)
def test_a_string_reads_back_as_itself_as_value_key_item_and_name(text: str) -> None:
    record = a_record(value=text, items=[text, [text]], deep=[{"k": text, text: 1}], **{text: text})
    raw = written(record)
    assert parse_entry(raw).record == record
    assert yaml.load(raw, yaml.CSafeLoader) == [record]
    assert raw.endswith(b"\n")
    assert b"\r" not in raw


@pytest.mark.parametrize("text", [text for text in TRICKY if text and not text.isspace()])
def test_an_envelope_value_reads_back_as_itself(text: str) -> None:
    record = {
        "message_id": text,
        "type": text,
        "from": text,
        "to": text,
        "error_message": text,
        "read_by": {text: text},
    }
    assert parse_entry(written(record)).record == record


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        10**18 - 1,
        10**18,
        -(10**18),
        2**63,
        10**99 - 1,
        1 - 10**99,
        1.5,
        -0.0,
        1e16,
        1e-7,
        1e300,
        5e-324,
        True,
        False,
        None,
        [],
        {},
    ],
)
def test_a_value_keeps_its_type(value: object) -> None:
    record = a_record(x=value, y=[value], z=[[value]])
    raw = written(record)
    found = parse_entry(raw).payload["x"]
    assert found == value
    assert type(found) is type(value)
    assert yaml.load(raw, yaml.CSafeLoader) == [record]


keys = st.one_of(st.sampled_from(TRICKY), st.text(max_size=12))
texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(max_size=40),
    st.text(st.sampled_from(list("ab \n\t:#'\"-|>[]{},&*!?%@`~\\\x85\u2028.0123e+_=<")), max_size=20),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(1 - 10**18, 10**18 - 1),
    st.integers(1 - 10**99, 10**99 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(keys, values, max_size=5))
def test_every_payload_reads_back_the_same_with_three_independent_readers(payload: dict[str, Any]) -> None:
    record = a_record(**{"payload": 1}) | {"payload": payload}
    raw = written(record)
    assert parse_entry(raw).record == record
    assert yaml.load(raw, yaml.CSafeLoader) == [record]
    assert yaml.load(raw, yaml.SafeLoader) == [record]


class Word(StrEnum):
    PENDING = "pending"


def test_enum_words_and_read_only_collections_are_written_as_plain_values() -> None:
    record = a_record(items=("a", "b"), state=Word.PENDING, view=MappingProxyType({"k": 1}))
    found = parse_entry(written(record)).payload
    assert found == {"items": ["a", "b"], "state": "pending", "view": {"k": 1}}
    assert type(found["state"]) is str


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = {"k": value}
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("\ud800", "surrogate"),
        (float("nan"), "not a number"),
        (float("inf"), "not a number"),
        (10**99, "100 digits"),
        (datetime(2026, 2, 24, tzinfo=UTC), "datetime"),
        (b"bytes", "bytes"),
        ({1: "x"}, "not text"),
        (deep(70), "nesting"),
    ],
)
def test_what_cannot_be_written_exactly_is_refused_with_a_reason(value: object, reason: str) -> None:
    with pytest.raises(CodecError, match=reason) as caught:
        written(a_record(x=value))
    assert caught.value.hint


def test_an_envelope_value_that_would_read_back_as_text_is_refused() -> None:
    with pytest.raises(CodecError, match="message_id"):
        written({"message_id": 5, "type": "t", "from": "a", "to": "b"})


def test_what_another_loader_would_take_for_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emitter, "_IMPLICIT", frozenset())
    with pytest.raises(CodecError, match="another YAML reader"):
        written(a_record(x="no"))


def test_what_our_own_reader_would_take_for_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emitter, "quoted", lambda text: text)
    with pytest.raises(CodecError, match="'payload' does not read back"):
        written(a_record(x="12"))


simple = st.one_of(
    st.text(st.sampled_from(list("ab \n:#'\"-|>[]{},&*!?%@`~\\.0123e+_=<\x7f")), max_size=24),
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=24),
    st.lists(st.sampled_from(["a", "  b", "- c", "", " ", "# d", "e: f", "---", "...", "'", '"', "? g", "%h"])).map(
        "\n".join
    ),
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(simple, st.sampled_from(["k", "on", "a.b", "null", "_", "y-1"]))
def test_what_is_written_without_asking_pyyaml_is_what_pyyaml_reads(text: str, key: str) -> None:
    record = {"message_id": "m", "type": text, "from": "a", "payload": {key: text, "more": {key: text}}}
    if emitter._is_simple(record):
        raw = emitter.write_item(record).encode()
        for loader in (yaml.CSafeLoader, yaml.SafeLoader):
            assert yaml.load(raw, loader) == [record]


def test_usual_messages_are_written_without_pyyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emitter, "_load_elsewhere", lambda raw: pytest.fail("PyYAML was asked"))
    written(a_record(summary="Fix 10:30, C# x", content="One.\n\n  - two: three # four\n'five'\n"))


@pytest.mark.parametrize("text", ["no", "\u00e9t\u00e9", "a\tb", "a\n  \nb", " a\nb", "a\n\n", 5, None, ["a"]])
def test_pyyaml_proves_what_another_reader_may_take_otherwise(text: object) -> None:
    assert not emitter._is_simple({"payload": {"content": text}})


def test_a_megabyte_on_one_line_reads_back() -> None:
    record = a_record(content="x y: 'z' " * 120_000 + "end")
    assert parse_entry(written(record)).record == record


@pytest.mark.slow
def test_ten_thousand_fields_read_back() -> None:
    record = a_record(**{f"field {number}": number for number in range(10_000)})
    assert parse_entry(written(record)).record == record
