"""Reading the queue: exact text, lenient spelling, lazy entries, reloads that keep every message object."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from team_console.store.backends.yaml.codec import CodecError, QueueEntry, QueueText, emit, parse_entry
from team_console.store.model.message import Message

from tests.store.contract import make_message

ROOT = Path(__file__).resolve().parents[2]


def a_queue(count: int) -> bytes:
    return b"messages:\n" + b"".join(emit(make_message(number)) for number in range(count))


def read_one(lines: str, *, head: str = "message_id: M\n  type: t\n  from: a\n  to: b\n") -> Message:
    return parse_entry(f"- {head}{lines}".encode())


@pytest.mark.parametrize("written", ["no", "010", "1e3", "12:30:45", "2026-02-24", "Yes", "0x1F", "1_000", "-5", "1.0"])
def test_envelope_values_are_the_text_as_written(written: str) -> None:
    message = parse_entry(f"- message_id: {written}\n  type: {written}\n  from: {written}\n  to: {written}\n".encode())
    assert (message.message_id, message.type, message.sender) == (written, written, written)
    assert message.recipients == (written,)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("123456789012345678", 123456789012345678),
        ("1234567890123456789", "1234567890123456789"),
        ("!!int 1234567890123456789", 1234567890123456789),
        ("!!int -1234567890123456789", -1234567890123456789),
        ("!!int 1_234_567_890_123_456_789", "1_234_567_890_123_456_789"),
        ("!!int 0x1234567890abcdef1234", "0x1234567890abcdef1234"),
        (f"!!int {10**99}", str(10**99)),
        ("010", "010"),
        ("+1", "+1"),
        ("1.5", 1.5),
        ("-0.0", -0.0),
        ("1.0e+16", 1e16),
        ("1.10", "1.10"),
        ("1e3", "1e3"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("yes", "yes"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("2026-13-45", "2026-13-45"),
        ("12:30:45", "12:30:45"),
        ("=", "="),
        ("'5'", "5"),
        ('"true"', "true"),
    ],
)
def test_only_unmistakable_payload_scalars_are_typed(written: str, value: object) -> None:
    found = read_one(f"  payload:\n    x: {written}\n").payload["x"]
    assert found == value
    assert type(found) is type(value)


def test_a_key_that_is_not_envelope_is_typed_like_payload() -> None:
    assert read_one("  attempt: 3\n  attempts: 2\n").record["attempt"] == 3


def test_counters_of_the_envelope_are_numbers() -> None:
    record = read_one("  attempts: 2\n  retry_count: 1\n  max_retries: 3\n").record
    assert (record["attempts"], record["retry_count"], record["max_retries"]) == (2, 1, 3)


@pytest.mark.parametrize("style", ["- {%s, payload: {n: 5}}\n", "- %s\n  payload:\n    n: 5\n"])
def test_numbers_of_the_envelope_are_text_in_every_style(style: str) -> None:
    pairs = ("message_id: 5", "type: true", "from: 1.5", "to: [7, false]", "attempts: 2", "read_by: {a: 3}")
    entry = style % (", " if "{%s" in style else "\n  ").join(pairs)
    assert parse_entry(entry.encode()).record == {
        "message_id": "5",
        "type": "true",
        "from": "1.5",
        "to": ["7", "false"],
        "attempts": 2,
        "read_by": {"a": "3"},
        "payload": {"n": 5},
    }


def test_null_times_are_absent_not_the_word_null() -> None:
    assert read_one("  read_at: null\n  delivered_at: ~\n  error_message:\n").envelope("read_at") is None


def test_readers_of_a_group_message_are_kept_as_text() -> None:
    message = read_one("  to_agents: [x, no]\n  read_by:\n    no: 12:30:45\n")
    assert message.read_by == {"no": "12:30:45"}
    assert message.recipients == ("b", "x", "no")


def test_keys_that_are_not_text_are_kept_as_their_text() -> None:
    assert read_one("  payload:\n    1: a\n    no: b\n    ~: c\n    2026-02-24: d\n").payload == {
        "1": "a",
        "no": "b",
        "~": "c",
        "2026-02-24": "d",
    }


def test_aliases_of_the_envelope_names_are_understood() -> None:
    message = parse_entry(b"- {id: M, message_type: t, sender: a, recipient: b, created_at: 2026-02-24}\n")
    assert (message.message_id, message.type, message.sender, message.recipients) == ("M", "t", "a", ("b",))
    assert message.created == "2026-02-24"


@pytest.mark.parametrize(
    "written",
    [
        "|\n      one\n\n      two\n",
        "|-\n      one\n\n      two\n      \n",
        ">\n      folded\n      text\n",
        "|2\n        indented\n",
        "one\n      two\n",
        "'one\n\n      two'\n",
        '"one\\n\\\n      two"\n',
        '"\\/ \\b \\f \\r \\t \\0 \\\\ \\" \\x41 \\u00e9 \\U0001F600"\n',
        '"\\a \\e \\v \\N \\_ \\L \\P"\n',
        "[\"a b\", 'c', d-e, x/y, [f]]\n",
        "{a: [1, two], b: {}}\n",
        "\n    - a\n    - - b\n    - c: d\n      e: f\n",
    ],
)
def test_multi_line_values_read_as_yaml_defines_them(written: str) -> None:
    import yaml

    text = f"- message_id: M\n  type: t\n  from: a\n  to: b\n  payload:\n    x: {written}"
    expected = yaml.load(text, yaml.CSafeLoader)[0]["payload"]["x"]
    assert parse_entry(text.encode()).payload["x"] == expected


def test_a_carriage_return_before_the_newline_is_part_of_the_line_end() -> None:
    data = a_queue(3).replace(b"\n", b"\r\n")
    text = QueueText.parse(data)
    assert [message.record for message in text.messages()] == [make_message(number).record for number in range(3)]
    assert text.data() == data


def test_items_may_be_indented_below_messages() -> None:
    data = a_queue(3).replace(b"\n- ", b"\n  - ").replace(b"\n  ", b"\n    ").replace(b"\n    - ", b"\n  - ")
    assert [message.record for message in QueueText.parse(data).messages()] == [
        make_message(number).record for number in range(3)
    ]


def test_comments_and_blank_lines_belong_to_the_entry_before_them() -> None:
    data = (
        b"# top\nmessages:\n# first\n" + emit(make_message(1)) + b"\n# between\n" + emit(make_message(2)) + b"# end\n"
    )
    text = QueueText.parse(data)
    assert text.head == b"# top\nmessages:\n# first\n"
    assert text.entries[0].raw.endswith(b"\n\n# between\n")
    assert text.entries[1].raw.endswith(b"# end\n")
    assert len(text.messages()) == 2


def test_entries_are_understood_only_when_somebody_looks() -> None:
    text = QueueText.parse(a_queue(5))
    assert text.find("MSG-20260224-none") is None
    assert all(entry.known is None for entry in text._parts.entries)


def test_a_message_is_the_same_object_every_time() -> None:
    text = QueueText.parse(a_queue(2))
    assert text.messages()[0] is text.messages()[0] is text.entries[0].message


def test_reloading_the_same_bytes_gives_the_same_text() -> None:
    text = QueueText.parse(a_queue(2))
    assert QueueText.parse(bytes(bytearray(text.data())), text) is text


@pytest.mark.parametrize("changed", [0, 3, 6])
def test_a_reload_keeps_the_message_objects_of_entries_that_did_not_change(changed: int) -> None:
    data = a_queue(7)
    before = QueueText.parse(data)
    kept = before.messages()
    after = QueueText.parse(data.replace(f"line two of {changed}".encode(), b"other text"), before).messages()
    assert [old is new for old, new in zip(kept, after, strict=True)] == [number != changed for number in range(7)]
    assert after[changed].content == "Line one\nother text\n"


def test_a_reload_keeps_message_objects_where_others_were_added_and_removed() -> None:
    data = a_queue(6)
    before = QueueText.parse(data)
    first, *_, last = before.messages()
    fewer = data.replace(emit(make_message(1)), b"").replace(
        emit(make_message(3)), emit(make_message(9)) + emit(make_message(8))
    )
    after = QueueText.parse(fewer, before).messages()
    assert [message.message_id[-1] for message in after] == ["0", "2", "9", "8", "4", "5"]
    assert after[0] is first
    assert after[-1] is last


def test_a_reload_after_the_head_changed_keeps_message_objects() -> None:
    before = QueueText.parse(a_queue(3))
    messages = before.messages()
    after = QueueText.parse(b"# a new remark\n" + before.data(), before)
    assert all(old is new for old, new in zip(messages, after.messages(), strict=True))


def test_find_tells_the_entry_of_an_id_and_no_other_that_merely_mentions_it() -> None:
    mention = make_message(1, request_id="MSG-20260224-00000002")
    text = QueueText.parse(b"messages:\n" + emit(mention) + emit(make_message(2)))
    assert text.find("MSG-20260224-00000002") == 1
    assert text.find("MSG-20260224-0000000") is None


@pytest.mark.parametrize("written", ['"MSG\\x2d1"', "'MSG-1'", '"MSG-\\\n    1"'])
def test_find_sees_an_id_however_it_is_written(written: str) -> None:
    text = QueueText.parse(f"messages:\n- message_id: {written}\n  type: t\n  from: a\n  to: b\n".encode())
    assert text.find("MSG-1") == 0


def test_find_sees_an_id_with_unusual_characters() -> None:
    text = QueueText.parse(b"messages:\n- message_id: 'it''s one'\n  type: t\n  from: a\n  to: b\n")
    assert text.find("it's one") == 0


def test_an_empty_list_in_any_spelling_is_an_empty_queue() -> None:
    for data in (b"messages: []\n", b"messages:\n", b"messages: null\n", b"messages: ~ # none\n", b"messages:"):
        assert QueueText.parse(data).entries == ()
    assert QueueText.empty().messages() == ()


def test_settling_reports_progress_and_can_be_stopped() -> None:
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> bool:
        seen.append((done, total))
        return False

    text = QueueText.parse(a_queue(3))
    with pytest.raises(InterruptedError):
        text.parse_all(stop)
    assert seen == [(0, 3)]
    assert len(text.messages()) == 3


def test_an_entry_says_why_it_is_damaged_and_keeps_its_bytes() -> None:
    entry = QueueEntry.of(b"- message_id: M\n  message_id: N\n")
    assert entry.message is None
    assert entry.error is not None
    assert entry.error.lines == (1, 2)
    assert entry.raw == b"- message_id: M\n  message_id: N\n"


def test_archives_with_end_marks_read_like_queues() -> None:
    data = b"messages:\n" + b"".join(
        emit(make_message(number)) + b"# end MSG-20260224-%08d 1a2b3c4d\n" % number for number in range(3)
    )
    assert len(QueueText.parse(data).messages()) == 3


def test_reading_the_canonical_form_needs_no_yaml_library() -> None:
    program = (
        "import sys\n"
        "from team_console.store.backends.yaml.codec import QueueText\n"
        "text = QueueText.parse(sys.stdin.buffer.read())\n"
        "assert len(text.messages()) == 20\n"
        "assert 'yaml' not in sys.modules and 'pydantic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], input=a_queue(20), cwd=ROOT, check=True)


@pytest.mark.parametrize("library", ["with", "without"])
def test_every_spelling_reads_the_same_with_and_without_libyaml(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    if library == "without":
        monkeypatch.delattr(yaml, "CSafeLoader")
    data = b"""\
messages:
- {id: M, type: "t", from: 'no', to: [a, 010], payload: {x: 1e3, y: !bad 1}}
- message_id: N   # remark
  type: t
  from: a
  to: b
  payload: {a: >-
    }
- message_id: O
  type: t
  from: a
  to: b
  payload:
    x: >-
      folded
      text
    y: "open
- message_id: P
  type: t
  from: a
  to: [b]   # remark
"""
    text = QueueText.parse(data)
    assert [message.record for message in text.messages()] == [
        {"message_id": "P", "type": "t", "from": "a", "to": ["b"]}
    ]
    assert [line for line, _ in text.damaged()] == [2, 3, 9]
    assert "tag !bad" in text.damaged()[0][1].message
    assert text.edit(append=[make_message(1)]).find("MSG-20260224-00000001") == 4


def test_the_place_of_an_error_is_that_of_the_file() -> None:
    data = a_queue(1) + b"- message_id: M\n  type: t\n  type: u\n"
    start = data.count(b"\n") - 2
    ((line, error),) = QueueText.parse(data).damaged()
    assert line == start
    assert error.lines == (start + 1, start + 2)
    assert f"lines {start + 1} and {start + 2}" in error.message
    assert isinstance(error, CodecError)
