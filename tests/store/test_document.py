"""A queue as text: read leniently, changed only in the lines of what changed, written in our own form."""

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
from team_console.store.backends.yaml import entry_format
from team_console.store.backends.yaml.entry import Entry, Style, parse_record, patch_entry, read_record, write_entry
from team_console.store.backends.yaml.entry_format import TextError, is_same_value
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.message import Message, from_record, new_record

from tests.equipment.cases import cases, constant
from tests.equipment.teams import make_message
from tests.proofs.fuzz.inputs import good, mutate

CREATED = datetime(2026, 2, 24, 10, 30, 15, 123000, tzinfo=UTC)
REST = "  type: t\n  from: a\n  to: b\n"
BY_HAND = b"""\
# the queue of sprint 42
version: 1
messages:
# oldest first
- message_id: MSG-1   # by hand
  to: [ceo, 'architect']
  type:   review
  from: no
  # waiting since monday
  status: pending     # state
  x-colour: 010
  payload:
    # inner remark
    score: 3   # of five
    content: >-
      folded
      text

    refs: [a,
      b]
# between

- {message_id: MSG-2, type: clarify, from: dev-1, to: ceo, status: pending}
-   type: notify
    message_id: MSG-3
    from: dev-1
    to: ceo
    payload:
      content: |+
        kept

# the end
footer: [1, 2]
"""


def queue(*entries: str) -> QueueText:
    return QueueText.parse(("messages:\n" + "".join(entries)).encode())


def a_queue(count: int) -> QueueText:
    return QueueText.parse(b"messages:\n" + b"".join(write_entry(make_message(number)) for number in range(count)))


def only(lines: str, head: str = "- message_id: M\n" + REST) -> Message:
    message = Entry((head + lines).encode()).message
    assert message is not None
    return message


def records(text: QueueText) -> list[dict[str, Any]]:
    return [dict(message.record) for message in text.messages()]


def changed(text: QueueText, index: int, **changes: Any) -> QueueText:
    return text.edit(replace={index: text.messages()[index].with_changes(**changes)})


def outcomes(text: QueueText) -> list[object]:
    return [entry.message and dict(entry.message.record) for entry in text.entries]


TYPED = [json.loads(line) for line in Path(__file__).with_name("scalars.jsonl").read_text().splitlines()]
"""Scalars as they are written, and what they mean."""


@pytest.mark.parametrize(("written", "value"), TYPED)
def test_only_unmistakable_payload_scalars_are_typed(written: str, value: object) -> None:
    text = queue("- message_id: M\n" + REST + f"  status: pending\n  payload:\n    x: {written}\n")
    assert is_same_value(text.messages()[0].payload["x"], value)
    assert changed(text, 0, status="read").data() == text.data().replace(b"pending", b"read")


def differing(old: bytes, new: bytes) -> tuple[list[str], list[str]]:
    before, after = old.decode().splitlines(), new.decode().splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


CHANGES = yaml.safe_load(Path(__file__).with_name("changes.yaml").read_text())


@pytest.mark.parametrize(("index", "changes", "gone", "came"), [tuple(row.values()) for row in CHANGES])
def test_a_change_touches_only_its_lines(index: int, changes: dict[str, Any], gone: list[str], came: list[str]) -> None:
    text = QueueText.parse(BY_HAND)
    after = changed(text, index, **changes)
    assert differing(BY_HAND, after.data()) == (gone, came)
    assert QueueText.parse(after.data()).messages()[index] == after.messages()[index]
    assert QueueText.parse(changed(text, 0, status="two\nlines").data()).messages()[0].status == "two\nlines"


def test_a_message_is_not_written_behind_an_open_quote_that_would_swallow_it() -> None:
    text = QueueText.parse(b'messages:\n- message_id: M\n  type: t\n  from: a\n  to: b\n  payload:\n    x: "open\n')
    with pytest.raises(TextError, match="open"):
        text.edit(append=[make_message(1).with_changes(payload={"content": 'ends here"'})])
    assert records(QueueText.parse(text.edit(append=[make_message(1)]).data())) == [make_message(1).record]
    for index in (-1, 2):
        with pytest.raises(IndexError):
            text.edit(remove=[index])


@pytest.mark.parametrize(
    "calm", ["x: '2026-*2-24'", 'x: "[*a]"', "x: a *a", "x: |\n      *a\n      &b c", "x: 1 # *a", 'x: "\\ud83c *a"']
)
def test_an_entry_that_only_looks_as_if_it_took_a_value_stays_as_it_is(calm: str) -> None:
    alike = "- message_id: N\n" + REST + f"  status: pending  # by hand\n  payload:\n    {calm}\n"
    text = queue("- message_id: M\n" + REST + "  x-a: &a [1]\n", "- message_id: O\n" + REST + "  x-b: *a\n", alike)
    assert text.edit(remove=[0]).data().endswith(alike.encode())


# The corpus of other programs, and properties.


def shared_queue(random: Random) -> dict[str, Any]:
    """Messages that share lists, dates and payloads, so that PyYAML writes anchors and aliases."""
    lists: list[list[str]] = [["a", "b"], ["dev-1"], ["a", "b"]]
    dates = [CREATED, datetime(2026, 2, 25, tzinfo=UTC)]
    payloads: list[dict[str, Any]] = [{"content": "x: y", "to": lists[0]}, {"n": [lists[1], 1.5]}, {"content": "1:3"}]
    envelope = {"type": "message", "from": "a", "status": "pending"}
    picked = [
        (random.choice(lists), random.choice(dates), random.choice(payloads)) for _ in range(random.randrange(2, 8))
    ]
    return {
        "messages": [
            {"message_id": f"M{number}", **envelope, "to": to, "created": created, "payload": payload}
            for number, (to, created, payload) in enumerate(picked)
        ]
    }


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_any_changes_end_where_a_list_of_records_ends(seed: int) -> None:
    random = Random(seed)
    flow = random.choice((False, None, True))
    by_hand = BY_HAND.replace(b"\n", b"\r\n") if random.random() < 0.5 else BY_HAND
    shared = yaml.safe_dump(shared_queue(random), default_flow_style=flow, sort_keys=False).encode()
    text = QueueText.parse(random.choice((shared, by_hand)))
    model, is_tied = records(text), text.data() == shared
    for number in range(8):
        before = text.entries
        index = random.randrange(len(model)) if model else 0
        step = random.choice(("remove", "append", "status", "read_at", "to", "payload", "x-new")) if model else "append"
        word = random.choice(("read", "no", "a: b", "two\nlines\n", " x", "10:30", "é", "", "x" * 200))
        if step == "append":
            text = text.edit(append=[make_message(number, error_message=word)])
            model.append(dict(make_message(number, error_message=word).record))
        elif step == "remove":
            text = text.edit(remove=[index])
            del model[index]
        else:
            model[index][step] = value = {"content": word} if step == "payload" else word or "c"
            text = changed(text, index, **{step: value})
        if not is_tied:
            remaining = iter(entry.raw for entry in text.entries)
            kept = before if step == "append" else [*before[:index], *before[index + 1 :]]
            assert all(entry.raw in remaining for entry in kept)
        cold = QueueText.parse(text.data())
        assert cold.damaged() == []
        assert records(cold) == records(text) == model
        assert [entry.raw for entry in cold.entries] == [entry.raw for entry in text.entries]
        assert len(yaml.load(text.data(), yaml.CSafeLoader)["messages"] or []) == len(model)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_a_reload_finds_what_a_first_reading_finds(seed: int) -> None:
    random = Random(seed)
    text = good(random)
    previous: QueueText | None = None
    for _ in range(6):
        data = text.encode()
        try:
            cold = QueueText.parse(data)
        except TextError:
            text = mutate(random, text)
            continue
        warm = QueueText.parse(data, previous)
        assert [entry.raw for entry in warm.entries] == [entry.raw for entry in cold.entries]
        assert (warm.head, warm.tail, warm.style) == (cold.head, cold.tail, cold.style)
        assert is_same_value(outcomes(warm), outcomes(cold))
        assert [(line, str(error)) for line, error in warm.damaged()] == [
            (line, str(error)) for line, error in cold.damaged()
        ]
        previous, text = warm, mutate(random, text)


def test_understanding_reports_progress_and_can_be_stopped() -> None:
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> bool:
        seen.append((done, total))
        return False

    with pytest.raises(InterruptedError):
        QueueText.parse(a_queue(3).data(), progress=stop)
    assert seen == [(0, 3)]


@cases
def test_a_comment_ends_where_yaml_says_so_when_the_queue_is_written(text: str, line_break: str) -> None:
    before = QueueText.parse(text.format(line_break).encode())
    after = before.edit(append=[make_message(1)]).data()
    assert len(QueueText.parse(after).entries) == len(before.entries) + 1
    assert len(yaml.safe_load(after)["messages"]) == len(before.entries) + 1
    assert not QueueText.is_blank(f"# c{line_break}messages: [\n".encode())


TRICKY: list[str] = [*json.loads(Path(__file__).with_name("tricky_texts.json").read_text()), "x" * 3000]
"""Texts that some reader of YAML takes for something else."""


PLAIN = constant(__file__, "PLAIN", tuple[str, ...])
"""Entries of our own form."""


def a_record(**payload: Any) -> dict[str, Any]:
    return {"message_id": "M-1", "type": "t", "from": "a", "to": "b", "payload": payload}


def written(record: dict[str, Any]) -> bytes:
    return write_entry(from_record(record))


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_what_is_read_without_pyyaml_pyyaml_reads_the_same(seed: int) -> None:
    random = Random(seed)
    raw = mutate(random, random.choice(PLAIN)).encode()
    ours = entry_format.read_item(raw)
    if ours is not None:
        theirs = read_record(raw)
        assert is_same_value(ours, theirs)
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
    assert write_entry(message).decode() == constant(__file__, "WRITTEN", str)


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


@cases
def test_what_cannot_be_written_exactly_is_refused_with_a_reason(value: object, reason: str) -> None:
    with pytest.raises(TextError, match=reason) as caught:
        written(a_record(x=value))
    assert caught.value.hint
    with pytest.raises(TextError, match="surrogate"):
        written(a_record(x="\ud800"))


def test_an_envelope_value_that_would_read_back_as_text_is_refused() -> None:
    with pytest.raises(TextError, match="message_id"):
        written({"message_id": 5, "type": "t", "from": "a", "to": "b"})


def test_an_entry_of_ours_is_changed_without_another_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    record = {**a_record(content="one\ntwo\n"), "status": "pending"}
    raw = written(record)
    changed = {**record, "status": "read", "read_at": "2026-11-28T11:12:38.670Z", "payload": {"content": "one\n"}}
    monkeypatch.setitem(sys.modules, "yaml", None)
    now = patch_entry(raw, record, changed, Style())
    assert is_same_value(parse_record(now), changed)
    assert b"  status: read\n  read_at: '2026-11-28T11:12:38.670Z'\n" in now
