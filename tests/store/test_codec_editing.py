"""Changing the queue: only the lines of what changed, everything else byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml.codec import CodecError, QueueText, emit
from team_console.store.backends.yaml.codec.editing import edits

from tests.store.contract import make_message

WRITTEN_BY_HAND = b"""\
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


def a_queue(count: int) -> QueueText:
    return QueueText.parse(b"messages:\n" + b"".join(emit(make_message(number)) for number in range(count)))


def changed(text: QueueText, index: int, **changes: Any) -> QueueText:
    message = text.entries[index].message
    assert message is not None
    return text.edit(replace={index: message.with_changes(**changes)})


def lines_that_differ(old: bytes, new: bytes) -> tuple[list[str], list[str]]:
    before, after = old.decode().splitlines(), new.decode().splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


def test_reading_a_message_changes_its_status_line_and_adds_one() -> None:
    text = a_queue(3)
    after = changed(text, 1, status="read", read_at="2026-02-24T11:00:00Z").data()
    expected = text.data().split(b"- message_id")
    expected[2] = expected[2].replace(b"  status: pending\n", b"  status: read\n  read_at: '2026-02-24T11:00:00Z'\n")
    assert after == b"- message_id".join(expected)


def test_a_hand_written_entry_keeps_comments_order_and_spelling() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    after = changed(text, 0, status="read", read_by={"ceo": "2026-02-24T11:00:00Z"}).data()
    assert lines_that_differ(WRITTEN_BY_HAND, after) == (
        ["  status: pending     # state"],
        ["  status: read     # state", "  read_by:", "    ceo: '2026-02-24T11:00:00Z'"],
    )


def test_a_nested_value_changes_in_place() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    message = text.entries[0].message
    assert message is not None
    after = changed(text, 0, payload={**message.record["payload"], "score": 4, "content": "two\nlines\n"}).data()
    assert lines_that_differ(WRITTEN_BY_HAND, after) == (
        ["    score: 3   # of five", "    content: >-", "      folded", "      text"],
        ["    score: 4   # of five", "    content: |", "      two", "      lines"],
    )


def test_a_flow_style_entry_changes_in_place() -> None:
    after = changed(QueueText.parse(WRITTEN_BY_HAND), 1, status="a, b").data()
    assert b"from: dev-1, to: ceo, status: 'a, b'}\n" in after


def test_a_removed_key_takes_its_lines_with_it() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    message = text.entries[0].message
    assert message is not None
    payload = {key: value for key, value in message.record["payload"].items() if key != "refs"}
    after = changed(text, 0, payload=payload).data()
    assert lines_that_differ(WRITTEN_BY_HAND, after) == (["    refs: [a,", "      b]"], [])


def test_the_first_key_of_an_entry_can_be_removed() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    message = text.entries[2].message
    assert message is not None
    after = text.edit(replace={2: message.with_changes(type=None, message_type="notify")})
    assert after.entries[2].raw.startswith(
        b"-   message_id: MSG-3\n    from: dev-1\n    to: ceo\n    message_type: notify\n"
    )


def test_what_lines_cannot_express_is_written_anew_with_its_trailing_comments() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    after = changed(text, 1, status="read", read_at="2026-02-24T11:00:00Z")
    assert after.entries[1].raw == (
        b"- message_id: MSG-2\n  type: clarify\n  from: dev-1\n  to: ceo\n"
        b"  status: read\n  read_at: '2026-02-24T11:00:00Z'\n"
    )
    assert after.entries[0].raw == text.entries[0].raw
    assert after.tail == text.tail


@pytest.mark.parametrize(("old", "new"), [(True, 1), (1, 1.0), (0, False), (1, "1"), (None, "")])
def test_values_that_only_compare_equal_are_a_change(old: object, new: object) -> None:
    text = QueueText.parse(b"messages:\n" + emit(make_message(1).with_changes(payload={"x": old})))
    after = QueueText.parse(changed(text, 0, payload={"x": new}).data())
    assert type(after.messages()[0].payload["x"]) is type(new)


def test_a_change_that_would_swallow_a_comment_is_written_anew() -> None:
    after = changed(QueueText.parse(WRITTEN_BY_HAND), 0, status="two\nlines")
    assert QueueText.parse(after.data()).messages()[0].status == "two\nlines"
    assert after.entries[0].raw.endswith(b"# between\n\n")


def test_appending_keeps_every_byte_that_was_there() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    after = text.edit(append=[make_message(7)])
    assert after.data() == WRITTEN_BY_HAND.replace(b"footer:", emit(make_message(7)) + b"footer:")
    assert yaml.load(after.data(), yaml.CSafeLoader)["footer"] == [1, 2]


def test_removing_keeps_the_others_byte_for_byte() -> None:
    text = QueueText.parse(WRITTEN_BY_HAND)
    after = text.edit(remove=[1])
    assert after.data() == WRITTEN_BY_HAND.replace(text.entries[1].raw, b"")


def test_the_message_that_was_put_in_is_the_one_that_comes_out() -> None:
    message = make_message(5)
    text = a_queue(2).edit(append=[message])
    assert text.messages()[-1] is message
    assert QueueText.parse(text.data(), text).messages()[-1] is message


def test_an_entry_that_does_not_exist_cannot_be_changed() -> None:
    for index in (-1, 2):
        with pytest.raises(IndexError):
            a_queue(2).edit(remove=[index])
        with pytest.raises(IndexError):
            a_queue(2).edit(replace={index: make_message(1)})


def test_everything_at_once() -> None:
    text = a_queue(4)
    second = text.messages()[1].with_changes(status="read")
    after = text.edit(append=[make_message(9)], replace={1: second}, remove=[0, 3])
    assert [message.message_id[-1] for message in after.messages()] == ["1", "2", "9"]
    assert QueueText.parse(after.data()).messages()[0].status == "read"


@pytest.mark.parametrize(
    ("empty", "begin"),
    [
        (b"messages: []\n", b"messages:\n"),
        (b"messages:   [ ]  # none\n", b"messages:  # none\n"),
        (b"messages: null\n", b"messages:\n"),
        (b"messages: ~", b"messages:\n"),
        (b"messages:", b"messages:\n"),
        (b"messages:\n", b"messages:\n"),
        (b"# c\nmessages: []\n# d\n", b"# c\nmessages:\n# d\n"),
        (b"\xef\xbb\xbfmessages: []\r\n", b"\xef\xbb\xbfmessages:\r\n"),
    ],
)
def test_an_empty_list_becomes_a_block_list_when_something_is_appended(empty: bytes, begin: bytes) -> None:
    after = QueueText.parse(empty).edit(append=[make_message(1)]).data()
    assert after.startswith(begin + b"- message_id")
    assert [record["message_id"] for record in yaml.load(after, yaml.CSafeLoader)["messages"]] == [
        "MSG-20260224-00000001"
    ]


def test_a_list_that_loses_its_last_entry_is_written_as_empty() -> None:
    after = a_queue(1).edit(remove=[0])
    assert after.data() == b"messages: []\n"
    assert after.edit(append=[make_message(1)]).data() == b"messages:\n" + emit(make_message(1))


@pytest.mark.parametrize("style", ["indented", "crlf"])
def test_the_style_of_the_file_is_kept(style: str) -> None:
    data = a_queue(2).data()
    if style == "crlf":
        data = data.replace(b"\n", b"\r\n")
    else:
        data = data.replace(b"\n- ", b"\n    - ").replace(b"\n  ", b"\n      ").replace(b"\n        - ", b"\n    - ")
    multi = make_message(5).with_changes(payload={"content": "one\n\n  two\n"}, to_agents=["x", "y"])
    text = changed(QueueText.parse(data).edit(append=[multi]), 0, status="read", read_at="now then")
    again = QueueText.parse(text.data())
    assert [message.record for message in again.messages()] == [message.record for message in text.messages()]
    if style == "crlf":
        assert text.data().count(b"\r\n") == text.data().count(b"\n")
    else:
        assert text.data().count(b"\n    - message_id") == 3
    assert again.style == text.style


@pytest.mark.parametrize("last", ["x", "|\n      x", "|-\n      x", "|+\n      x", "'x'", "[x]"])
def test_a_file_without_a_final_newline_can_be_appended_to(last: str) -> None:
    data = f"messages:\n- message_id: M\n  type: t\n  from: no\n  to: b # who\n  payload:\n    content: {last}".encode()
    text = QueueText.parse(data)
    after = QueueText.parse(text.edit(append=[make_message(1)]).data())
    assert after.messages()[0].record == text.messages()[0].record
    assert after.data().startswith(data[: data.index(b"content:")])
    assert after.messages()[1].record == make_message(1).record


def test_a_damaged_entry_is_never_written_over() -> None:
    data = b"messages:\n" + emit(make_message(1)) + b"- message_id: [broken\n  # remark\n" + emit(make_message(2))
    text = QueueText.parse(data)
    with pytest.raises(CodecError, match="damaged"):
        text.edit(replace={1: make_message(3)})
    assert text.edit(remove=[1]).data() == b"messages:\n" + emit(make_message(1)) + emit(make_message(2))
    after = text.edit(append=[make_message(4)], remove=[0])
    assert after.data() == data.replace(emit(make_message(1)), b"") + emit(make_message(4))


def test_a_message_is_not_written_behind_an_open_quote_that_would_swallow_it() -> None:
    data = b'messages:\n- message_id: M\n  type: t\n  from: a\n  to: b\n  payload:\n    x: "open\n'
    closing = make_message(1).with_changes(payload={"content": 'ends here"'})
    text = QueueText.parse(data)
    with pytest.raises(CodecError, match="open"):
        text.edit(append=[closing])
    harmless = QueueText.parse(text.edit(append=[make_message(1)]).data())
    assert [message.record for message in harmless.messages()] == [make_message(1).record]


@pytest.mark.parametrize(
    "data",
    [
        b"messages: [{message_id: M, type: t, from: a, to: b, payload: {x: 'y: [z]', n: 1}},\n"
        b"  {id: N, type: t,\n from: a, to: b}]  # two\nend: 1\n",
        b'{"messages": [{"message_id": "M", "type": "t", "from": "a", "to": "b"}], "version": {"n": [1, "2"]}}',
        b'"messages": []\n',
        b'"messages":\n- {message_id: M, type: t, from: a, to: b}\n',
        b"? messages\n: - {message_id: M, type: t, from: a, to: b}\n",
    ],
)
def test_a_list_in_an_unusual_frame_can_be_changed(data: bytes) -> None:
    text = QueueText.parse(data)
    before, others = text.messages(), {k: v for k, v in yaml.load(data, yaml.CSafeLoader).items() if k != "messages"}
    first = {0: before[0].with_changes(status="read")} if before else {}
    after = text.edit(append=[make_message(1)], replace=first)
    assert [message.record for message in QueueText.parse(after.data()).messages()] == [
        *(message.record for message in (*first.values(), *before[1:])),
        make_message(1).record,
    ]
    loaded = yaml.load(after.data(), yaml.CSafeLoader)
    assert len(loaded.pop("messages")) == len(before) + 1
    assert loaded == others


def test_a_conversion_that_would_lose_an_entry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = QueueText.parse(b"messages: [{message_id: M, type: t, from: a, to: b}]\n")
    monkeypatch.setattr(edits, "in_block_frame", lambda data, raws: b"messages:\n" + next(iter(raws)))
    with pytest.raises(CodecError, match="dashes"):
        text.edit(append=[make_message(1)])


words = st.sampled_from(["read", "failed", "no", "a: b", "two\nlines\n", " x", "10:30", "é", "", "x" * 200])
changes = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 99), words),
    st.tuples(st.just("remove"), st.integers(0, 99), words),
    st.tuples(st.sampled_from(["status", "read_at", "error_message", "x-new"]), st.integers(0, 99), words),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(changes, max_size=8), st.booleans())
def test_any_sequence_of_changes_ends_where_a_list_of_records_ends(
    steps: list[tuple[str, int, str]], crlf: bool
) -> None:
    data = WRITTEN_BY_HAND.replace(b"\n", b"\r\n") if crlf else WRITTEN_BY_HAND
    text = QueueText.parse(data)
    model = [dict(message.record) for message in text.messages()]
    for number, (step, place, word) in enumerate(steps):
        before = tuple(text.entries)
        index = place % len(model) if model else 0
        if step == "append":
            message = make_message(number, error_message=word)
            text = text.edit(append=[message])
            model.append(dict(message.record))
            kept = before
        elif not model:
            continue
        elif step == "remove":
            text = text.edit(remove=[index])
            del model[index]
            kept = before[:index] + before[index + 1 :]
        else:
            text = changed(text, index, **{step: word})
            model[index][step] = word
            kept = before[:index] + before[index + 1 :]
        remaining = iter(entry.raw for entry in text.entries)
        assert all(entry.raw in remaining for entry in kept)
        assert [message.record for message in text.messages()] == model
        cold = QueueText.parse(text.data())
        assert [message.record for message in cold.messages()] == model
        assert [entry.raw for entry in cold.entries] == [entry.raw for entry in text.entries]
