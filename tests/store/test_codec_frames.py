"""Finding the list: frames as people write them, and text that only looks like the start of an item."""

from __future__ import annotations

import pytest
from team_console.store.backends.yaml.codec import CodecError, QueueText, emit, parse_entry
from team_console.store.model.message import Message, new_record

ONE = b"- message_id: A\n  type: t\n  from: a\n  to: b\n"
TWO = b"- message_id: B\n  type: t\n  from: a\n  to: b\n"


def ids(data: bytes) -> list[str]:
    text = QueueText.parse(data)
    assert text.data() == data
    assert text.head + b"".join(entry.raw for entry in text.entries) + text.tail == data
    return [message.message_id for message in text.messages()]


def a_message() -> Message:
    return new_record(
        message_id="NEW", type="t", sender="a", to="b", created="2026-02-24", priority="low", payload={"content": "x"}
    )


def holding(content: bytes) -> bytes:
    return ONE + b"  payload:\n    content: " + content + b"\n"


@pytest.mark.parametrize(
    "frame",
    [
        b"messages:\n%s",
        b"messages:   # the queue\n\n# remark\n%s",
        b"---\nmessages:\n%s",
        b"---\nmessages:\n%s...\n",
        b"\xef\xbb\xbfmessages:\n%s",
        b"version: 1\nmessages:\n%s",
        b"version: 1\nagents:\n- x\n- y\nmessages:\n%sother:\n- z\n",
        b"messages:\n%sfooter: 'a\n- b'\n",
        b'title: "messages:\n  - x"\nmessages:\n%s',
        b'"messages":\n%s',
        b"messages: &queue\n%s",
        b"%%YAML 1.1\n---\nmessages:\n%s",
    ],
)
def test_every_usual_frame_is_understood(frame: bytes) -> None:
    assert ids(frame % (ONE + TWO)) == ["A", "B"]


def test_a_list_in_brackets_is_understood() -> None:
    flow = b"messages: [{message_id: A, type: t, from: a, to: b}, {id: B, type: t, from: a, to: b}]\n"
    assert ids(flow) == ["A", "B"]
    assert QueueText.parse(flow).whole


def test_json_is_understood() -> None:
    assert ids(b'{"messages": [\n  {"message_id": "A", "type": "t", "from": "a", "to": "b"}\n]}\n') == ["A"]


@pytest.mark.parametrize(
    "content",
    [
        b'"first\n- second\n- message_id: C"',
        b"'Plan:\n- one\n- two\nSummary: done'",
        b'"a\nother:\n- b"',
        b"{x: [a,\nb]}",
        b'"a\nmessages:\n- b"',
        b'"quoted\n\n- ' + ONE[2:-1].replace(b"\n", b"\n  ") + b'"',
    ],
)
def test_text_in_quotes_that_looks_like_an_item_is_not_one(content: bytes) -> None:
    for tail in (b"", b"footer: 1\n", b"# end\n"):
        assert ids(b"messages:\n" + holding(content) + TWO + tail) == ["A", "B"]


def test_text_in_quotes_that_looks_like_another_key_is_not_one() -> None:
    assert ids(b"messages:\n" + TWO + holding(b'"Plan:\nSummary: done"')) == ["B", "A"]
    appended = QueueText.parse(b"messages:\n" + holding(b'"Plan:\nSummary: done"')).edit(append=[a_message()])
    assert appended.data().endswith(emit(a_message()))


def test_an_item_with_open_quotes_is_joined_whatever_else_is_wrong_with_it() -> None:
    text = QueueText.parse(b"messages:\n" + ONE + b"  x: !tag y\n  content: 'first\n- second'\n" + TWO)
    assert [entry.error is None for entry in text.entries] == [False, True]
    assert "tag !tag" in text.damaged()[0][1].message


def test_text_in_quotes_survives_when_another_entry_is_damaged() -> None:
    data = b"messages:\n- broken: [\n" + holding(b'"first\n- second"') + TWO
    text = QueueText.parse(data)
    assert [message.message_id for message in text.messages()] == ["A", "B"]
    assert text.messages()[0].content == "first - second"
    assert [line for line, _ in text.damaged()] == [2]


@pytest.mark.parametrize("end", [b'bar: y"\nmessages: []\n', b'bar: y"\n'])
def test_a_list_inside_a_quoted_title_is_not_the_queue(end: bytes) -> None:
    data = b'title: "foo\nmessages:\n' + ONE + end
    if b"messages: []" in end:
        assert ids(data) == []
    else:
        with pytest.raises(CodecError, match="there is none"):
            QueueText.parse(data)


def test_text_in_quotes_survives_a_broken_neighbour() -> None:
    text = QueueText.parse(b"messages:\n" + holding(b'"first\n- second"') + TWO.replace(b"type: t", b"type: \x7f"))
    assert [message.content for message in text.messages()] == ["first - second"]
    assert "U+007F" in text.damaged()[0][1].message


def test_a_line_that_lost_its_indentation_damages_only_its_entry() -> None:
    data = b"messages:\n" + TWO + holding(b"|\nHello world") + TWO
    text = QueueText.parse(data)
    assert [message.message_id for message in text.messages()] == ["B", "B"]
    ((line, error),) = text.damaged()
    assert line == 6
    assert error.line == 12


def test_another_list_after_the_messages_is_not_mistaken_for_messages() -> None:
    assert ids(b"messages:\n" + ONE + b"archive:\n" + TWO) == ["A"]
    with pytest.raises(CodecError):
        QueueText.parse(b"messages:\n" + ONE + b"- broken: [\narchive:\n" + TWO)


def test_a_top_level_key_that_only_quotes_explain_is_believed() -> None:
    assert ids(b'messages:\n- message_id: A\n  type: t\n  from: a\n  to: b\nother: "x\n- y"\n') == ["A"]
    assert ids(b"messages:\n" + ONE + b"---x:\n- y\n") == ["A"]
    assert ids(b"messages:\n" + ONE + b"?\n") == ["A"]


@pytest.mark.parametrize(
    "change",
    [
        b"\xc2\x85- {message_id: C, type: t, from: a, to: b}",
        b"\r- {message_id: C, type: t, from: a, to: b}",
        b"\nother:\n- x",
        b"\n---\nx: 1",
        b"\0",
        b"\xe9",
        b"\n<<<<<<< HEAD",
        b"\nmessages: []",
    ],
)
def test_a_change_that_concerns_the_frame_is_seen_on_reloading(change: bytes) -> None:
    before = QueueText.parse(b"messages:\n" + ONE + TWO + ONE)
    data = b"messages:\n" + ONE + TWO[:-1] + change + b"\n" + ONE
    assert what_is_read(data, before) == what_is_read(data, None)


def test_reloading_an_unusual_frame_keeps_message_objects() -> None:
    before = QueueText.parse(b'"messages":\n' + ONE + TWO)
    first = before.messages()[0]
    after = QueueText.parse(b'"messages":\n' + ONE + TWO.replace(b"type: t", b"type: u"), before)
    assert after.whole
    assert after.messages()[0] is first
    assert after.messages()[1].type == "u"


def test_line_breaks_that_only_yaml_knows_do_not_hide_an_item() -> None:
    assert ids(b"messages:\r" + ONE.replace(b"\n", b"\r") + TWO.replace(b"\n", b"\r")) == ["A", "B"]
    assert ids("messages:\n- {message_id: A, type: t, from: a, to: b}\u2028".encode() + TWO) == ["A", "B"]


def what_is_read(data: bytes, previous: QueueText | None) -> list[bytes] | str:
    try:
        return [entry.raw for entry in QueueText.parse(data, previous).entries]
    except CodecError as error:
        return str(error)


def test_two_items_are_not_one_entry() -> None:
    with pytest.raises(CodecError, match="not part of the message"):
        parse_entry(b"- {message_id: A, type: t, from: a, to: b}\n- {message_id: B, type: t, from: a, to: b}\n")
    with pytest.raises(CodecError):
        parse_entry(ONE + TWO)


def test_a_damaged_entry_in_a_frame_read_as_a_whole_has_its_line() -> None:
    data = b'"messages":\n' + ONE + b"- message_id: B\n  type: !x t\n" + TWO
    text = QueueText.parse(data)
    ((line, error),) = text.damaged()
    assert (line, error.line) == (6, 7)
    assert "!x" in error.message
    assert len(text.messages()) == 2
