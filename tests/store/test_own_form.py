"""Our own form: any YAML 1.1 loader reads back what was meant, and the reader of it reads what PyYAML reads."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml import own_form
from team_console.store.backends.yaml.entry import Style, emit, parse_record, patch, read_record
from team_console.store.backends.yaml.own_form import TextError, same
from team_console.store.model.message import from_record, new_record

from tests.proofs.fuzz.inputs import ENTRY, mutate

TRICKY: list[str] = [*json.loads(Path(__file__).with_name("tricky_texts.json").read_text()), "x" * 3000]
"""Texts that some reader of YAML takes for something else."""


PLAIN = (
    ENTRY.format(number=1, to="ceo", content='|\n      one\n\n        two # "3"\n      four: five'),
    ENTRY.format(number=2, to="'it''s'", content="C# 10:30 é😀") + "  read_by:\n    no: 10:30\n    b: '5'\n# end M 1\n",
    ENTRY.format(number=3, to="no", content='"x y"') + "    list:\n    - a\n    - -5\n    n: -1.5\n    e: {}\n\n",
    ENTRY.format(number=4, to="x", content="|-\n      déjà\n       vu") + "  to_agents:\n  - a\n  - 010\n  x: 7\n",
)


def a_record(**payload: Any) -> dict[str, Any]:
    return {"message_id": "M-1", "type": "t", "from": "a", "to": "b", "payload": payload}


def written(record: dict[str, Any]) -> bytes:
    return emit(from_record(record))


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_what_is_read_without_pyyaml_pyyaml_reads_the_same(seed: int) -> None:
    random = Random(seed)
    raw = mutate(random, random.choice(PLAIN)).encode()
    ours = own_form.read(raw)
    if ours is not None:
        theirs = read_record(raw)
        assert same(ours, theirs)
        assert list(ours) == list(theirs)


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
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(keys, values, max_size=5))
def test_every_payload_reads_back_the_same_with_three_independent_readers(payload: dict[str, Any]) -> None:
    record = a_record(**{"payload": 1}) | {"payload": payload}
    raw = written(record)
    assert parse_record(raw) == record
    assert yaml.load(raw, yaml.CSafeLoader) == [record]
    assert yaml.load(raw, yaml.SafeLoader) == [record]


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
    with pytest.raises(TextError, match=reason) as caught:
        written(a_record(x=value))
    assert caught.value.hint


def test_an_envelope_value_that_would_read_back_as_text_is_refused() -> None:
    with pytest.raises(TextError, match="message_id"):
        written({"message_id": 5, "type": "t", "from": "a", "to": "b"})


def test_an_entry_of_ours_is_changed_without_another_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    record = {**a_record(content="one\ntwo\n"), "status": "pending"}
    raw = written(record)
    changed = {**record, "status": "read", "read_at": "2026-11-28T11:12:38.670Z", "payload": {"content": "one\n"}}
    monkeypatch.setitem(sys.modules, "yaml", None)
    now = patch(raw, record, changed, Style())
    assert same(parse_record(now), changed)
    assert b"  status: read\n  read_at: '2026-11-28T11:12:38.670Z'\n" in now
