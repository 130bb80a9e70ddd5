"""Ordinary entries: what the one pattern takes means what the readers that build records find in it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml.codec import QueueText, emit
from team_console.store.backends.yaml.codec.entry import QueueEntry, Span, to_message
from team_console.store.backends.yaml.codec.parsing.ordinary import (
    ordinary_message,
    ordinary_payload,
    ordinary_record,
)
from team_console.store.backends.yaml.codec.parsing.quick_parser import read_fast
from team_console.store.backends.yaml.codec.parsing.scalars import same
from team_console.store.backends.yaml.codec.parsing.values import read_item
from team_console.store.model.message import from_record

from tests.proofs.fuzz.inputs import ENTRY, mutate
from tests.store.contract import make_message

seeds = st.integers(0, 2**32)
LONG = """- message_id: MSG-1
  type: handoff
  from: '010'
  to: "dev-runner-1"
  priority: high
  created: 2026-02-24T08:00:00.000Z
  status: read
  attempts: 2
  error_message: 'it''s   done: no'
  payload:
    summary: Fix 10:30, C# and a:b
    content: |
      one

        two: # "3"
      four
    more: |-
      five
    count: -12
    share: 1.5
    sure: true
    none: null
    empty: {}
    list: []
    names: 读完, été
  read_at: '2026-02-24T08:00:01.000Z'
  read_by_hand: no
"""
TEXTS = (
    LONG,
    LONG.replace("  read_by_hand: no\n", "  delivered_at: null\n"),
    ENTRY.format(number=1, to="ceo", content='|\n      one\n\n        two # "3"\n      four: five'),
    ENTRY.format(number=2, to="'b c'", content="null"),
    emit(make_message(3)).decode(),
)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds)
def test_what_is_taken_for_ordinary_the_other_readers_read_the_same(seed: int) -> None:
    random = Random(seed)
    raw = mutate(random, random.choice(TEXTS)).encode()
    record = ordinary_record(raw)
    if record is None:
        return
    for other in (read_fast(raw), read_item(raw)):
        assert other is not None
        assert same(record, other)
        assert list(record) == list(other)
    message = ordinary_message(raw, Span(raw, 0, len(raw)))
    if message is not None:
        known = to_message(record, raw)
        fields = ("message_id", "type", "sender", "recipients", "priority", "created", "status")
        assert [getattr(message, name) for name in fields] == [getattr(known, name) for name in fields]
        assert same(dict(message.record), record)
        assert same(dict(message.payload), dict(known.payload))
        assert same(ordinary_payload(raw), dict(known.payload))
        assert all(message.envelope(key) == record.get(key) for key in (*message.more, "read_at", "attempts"))


@pytest.mark.parametrize("text", TEXTS[1:])
def test_the_form_we_write_is_ordinary(text: str) -> None:
    raw = text.encode()
    assert ordinary_message(raw, Span(raw, 0, len(raw))) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("status: read", "status: read\n  status: pending"),
        ("count: -12", "count: -12\n    count: 1"),
        ("  payload:", "  payload:\n    x: y\n  payload:"),
        ("type: handoff", "type: null"),
        ("type: handoff", "type: &a handoff"),
        ("type: handoff", "type: [handoff]"),
        ('to: "dev-runner-1"', 'to: "dev-runner-1"\n  to_agents: [a, b]'),
        ("priority: high", "priority: high\n  colour: red"),
        ("empty: {}", "empty: {a: 1}"),
        ("more: |-", "more: >-"),
        ("sure: true", "sure: true # yes"),
        ("sure: true", "sure:\n      deep: true"),
        ("      five", "       five"),
        ("one", "one\u2028"),
        ("one", "one\x85"),
        ("five", "five\r"),
    ],
)
def test_what_needs_another_reader_is_left_to_it(old: str, new: str) -> None:
    raw = TEXTS[1].replace(old, new, 1).encode()
    assert raw != TEXTS[1].encode()
    if old != "      five" or ordinary_record(raw) is not None:
        assert ordinary_message(raw, Span(raw, 0, len(raw))) is None


def test_bytes_that_are_no_text_are_damaged() -> None:
    assert QueueEntry.of(LONG.replace("one", "one\xff").encode("latin-1", "replace")).error is not None


def test_later_reads_of_a_queue_keep_no_older_one_alive() -> None:
    """Entries of the first reading share its bytes; each later one has its own."""
    raws = [emit(make_message(number)) for number in range(3)]
    first = QueueText.parse(b"messages:\n" + b"".join(raws))
    assert {id(entry.span.buffer) for entry in first.entries} == {id(first.data())}
    more = QueueText.parse(first.data() + emit(make_message(3)), first)
    assert [old is new for old, new in zip(first.entries, more.entries, strict=False)] == [True, True, True]
    assert len(more.entries[3].span.buffer) == more.entries[3].size


def test_a_record_of_our_own_making_and_one_read_are_the_same(tmp_path: Path) -> None:
    message = make_message(1)
    read = QueueEntry.of(emit(message)).message
    assert read is not None
    assert read.record == message.record
    assert from_record(dict(read.record)).payload == read.payload
