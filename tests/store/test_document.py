"""A queue as text: read leniently, changed only in the lines of what changed, everything else byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml.entry import Entry, emit
from team_console.store.backends.yaml.own_form import TextError, same
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message

from tests.equipment.teams import make_message
from tests.proofs.fuzz.inputs import good, mutate

FOREIGN = Path(__file__).parent / "foreign"
SOURCES: Mapping[str, str] = {
    "pyyaml-safe_dump.yaml": "PyYAML 6: yaml.safe_dump(queue) with one datetime and one list shared by all messages",
    "pyyaml-flow.yaml": "PyYAML 6: yaml.safe_dump(queue, default_flow_style=True), shared values",
    "pyyaml-narrow.yaml": "PyYAML 6: yaml.safe_dump(queue, width=20, indent=4, explicit_start=True, explicit_end=True)",
    "pyyaml-crlf.yaml": "PyYAML 6: yaml.safe_dump(queue, line_break='\\r\\n', explicit_start=True, version=(1, 1))",
    "ruamel-indent.yaml": "ruamel.yaml 0.18 or later: YAML().indent(mapping=2, sequence=4, offset=2), one list shared",
    "js-yaml-shared.yaml": "js-yaml of npm: dump(queue) with one list and one Date shared by all messages",
    "npm-yaml.yaml": "yaml of npm: stringify(queue), the same shared values",
    "go-yaml.v3.yaml": "Go, gopkg.in/yaml.v3: Marshal(queue) with a time.Time",
    "ruby-psych.yaml": "Ruby 3, Psych: queue.to_yaml with one Time and one Array shared by all messages",
    "yq.yaml": "yq of Debian 12: yq -y . queue.json",
    "json-dumps.json": "Python: json.dumps(queue), emoji as surrogate pairs",
    "json-tab.json": "Python: json.dumps(queue, indent='\\t')",
}
EXPECTED: list[dict[str, Any]] = json.loads((FOREIGN / "expected.json").read_text(encoding="utf-8"))["messages"]
CREATED = datetime(2026, 2, 24, 10, 30, 15, 123000, tzinfo=UTC)
ONE = b"- message_id: A\n  type: t\n  from: a\n  to: b\n"
TWO = b"- message_id: B\n  type: t\n  from: a\n  to: b\n"
REST = "  type: t\n  from: a\n  to: b\n"
FIRST = "- message_id: A\n  type: t\n  from: a\n  to: &both [a, b]\n  created: &day 2026-02-24 10:30:15\n"
SECOND = "- message_id: B\n  type: t\n  from: a\n  to: *both # all\n  created: *day\n"
THIRD = "- message_id: C\n  type: t\n  from: a\n  to: *both\n  payload: {when: *day}\n"
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


def ids(data: bytes) -> list[str]:
    text = QueueText.parse(data)
    assert text.data() == data
    assert text.head + b"".join(entry.raw for entry in text.entries) + text.tail == data
    return [message.message_id for message in text.messages()]


def queue(*entries: str) -> QueueText:
    return QueueText.parse(("messages:\n" + "".join(entries)).encode())


def a_queue(count: int) -> QueueText:
    return QueueText.parse(b"messages:\n" + b"".join(emit(make_message(number)) for number in range(count)))


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


# Frames.


@pytest.mark.parametrize(
    "frame",
    [
        b"messages:\n%s",
        b"messages:   # the queue\n\n# remark\n%s",
        b"---\nmessages:\n%s...\n",
        b"\xef\xbb\xbfmessages:\n%s",
        b"version: 1\nagents:\n- x\n- y\nmessages:\n%sother:\n- z\n",
        b"messages:\n%sfooter: 'a\n- b'\n",
        b'messages:\n%sother: "x\n- y"\n',
        b"messages:\n%s---x:\n- y\n",
        b"messages:\n%s?\n",
        b'title: "messages:\n  - x"\nmessages:\n%s',
        b'"messages":\n%s',
        b"messages: &queue\n%s",
        b"messages: []\n%s",
        b"%%YAML 1.1\n---\nmessages:\n%s",
    ],
)
def test_every_usual_frame_is_understood(frame: bytes) -> None:
    data = frame % (ONE + TWO)
    assert ids(data) == ["A", "B"]
    before = QueueText.parse(data)
    after = QueueText.parse(data.replace(b"id: B\n  type: t", b"id: B\n  type: u"), before)
    assert (after.messages()[0] is before.messages()[0], after.messages()[1].type) == (True, "u")
    if frame != b"messages: []\n%s":
        read = changed(before, 0, status="read").edit(append=[make_message(1)])
        assert [m.message_id for m in QueueText.parse(read.data()).messages()] == ["A", "B", "MSG-20260224-00000001"]
        assert b"status: read" in read.data()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"messages: [{message_id: A, type: t, from: a, to: b}, {id: B, type: t, from: a, to: b}]\n", ["A", "B"]),
        (b'{"messages": [\n  {"message_id": "A", "type": "t", "from": "a", "to": "b"}\n]}\n', ["A"]),
        (b"messages:\n" + ONE + b"archive:\n" + TWO, ["A"]),
        (b"messages:\r" + ONE.replace(b"\n", b"\r") + TWO.replace(b"\n", b"\r"), ["A", "B"]),
        ("messages:\n- {message_id: A, type: t, from: a, to: b}\u2028".encode() + TWO, ["A", "B"]),
        (b'title: "foo\nmessages:\n' + ONE + b'bar: y"\nmessages: []\n', []),
        (b"messages:\n" + TWO + ONE + b'  payload:\n    content: "Plan:\nSummary: done"\n', ["B", "A"]),
    ],
)
def test_a_list_in_an_odd_place_is_found(data: bytes, found: list[str]) -> None:
    assert ids(data) == found


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
    one = ONE + b"  payload:\n    content: " + content + b"\n"
    for tail in (b"", b"footer: 1\n", b"# end\n"):
        assert ids(b"messages:\n" + one + TWO + tail) == ["A", "B"]


@pytest.mark.parametrize(
    ("entries", "found", "line", "why"),
    [
        (b"- broken: [\n" + ONE + TWO, ["A", "B"], 2, ""),
        (ONE + TWO.replace(b"type: t", b"type: \x7f") + ONE, ["A", "A"], 6, r"U\+007F"),
        (TWO + ONE + b"  payload:\n    content: |\nHello world\n" + TWO, ["B", "B"], 6, ""),
        (TWO + b"- message_id: M\n  type: t\n  type: u\n" + ONE, ["B", "A"], 6, r"twice at lines \d+ and \d+"),
        (ONE + b"- [" + b"[" * 100_000 + b"\n" + TWO, ["A", "B"], 6, "nesting deeper|it begins"),
        (ONE + b"- message_id: B\n  to: *nobody\n" + TWO, ["A", "B"], 6, r"alias \*nobody"),
        (ONE + b"- " + b"x" * 40 + b"\n" + TWO, ["A", "B"], 6, "expected a message"),
        (ONE + TWO + b'- message_id: C\n  type: "t', ["A", "B"], 10, "quoted scalar"),
        (ONE + TWO.replace(b"to: b", b"to: {a: b}"), ["A"], 6, "to must be text or a list"),
    ],
)
def test_one_damaged_entry_harms_no_other(entries: bytes, found: list[str], line: int, why: str) -> None:
    for frame in (b"messages:\n", b"# remark\nversion: 1\nmessages:\n"):
        text = QueueText.parse(frame + entries)
        assert [message.message_id for message in text.messages()] == found
        ((at, error),) = text.damaged()
        assert at == line + frame.count(b"\n") - 1
        assert error.line >= at
        assert re.search(why, error.message)
        place = next(place for place, entry in enumerate(text.entries) if entry.error)
        with pytest.raises(TextError, match="damaged"):
            text.edit(replace={place: make_message(3)})
        raw = text.entries[place].raw
        assert text.edit(remove=[place]).data() == (frame + entries).replace(raw, b"", 1)


# Scalars.


@pytest.mark.parametrize("written", ["no", "010", "1e3", "12:30:45", "2026-02-24", "Yes", "0x1F", "1_000", "-5", "1.0"])
def test_envelope_values_are_the_text_as_written(written: str) -> None:
    message = only("", f"- message_id: {written}\n  type: {written}\n  from: {written}\n  to: {written}\n")
    assert (message.message_id, message.type, message.sender, *message.recipients) == (written,) * 4
    flow = only("", f"- {{id: {written}, type: true, from: 1.5, to: [7, false], attempts: 2, read_by: {{no: 3}}}}\n")
    assert flow.record["id"] == written
    assert (flow.type, flow.sender, flow.recipients, flow.read_by) == ("true", "1.5", ("7", "false"), {"no": "3"})
    assert flow.record["attempts"] == 2


TYPED = [
    *(("true", True), ("false", False), ("null", None), ("~", None), ("", None), ("0", 0), ("-7", -7)),
    *((str(number), number) for number in (123456789012345678, 1.5, -0.0)),
    *((text, text) for text in ("1234567890123456789", "010", "+1", "1.10", "1e3", ".nan", ".inf", "yes", "True")),
    *((text, text) for text in ("NULL", "2026-13-45", "12:30:45", "=", "R&D")),
    *(("1.0e+16", 1e16), ("'5'", "5"), ('"true"', "true"), ("!!int 1234567890123456789", 1234567890123456789)),
    *((f"!!int {text}", text) for text in ("1_234_567_890_123_456_789", "0x1234567890abcdef1234", str(10**99))),
    *(("!!str 5", "5"), ("! 5", "5"), ("!!int '5'", 5), ("!!int 0x1F", 31), ("!!int 1_000", 1000), ("!!int 010", 8)),
    *(("!!float 5", 5.0), ("!!float .inf", ".inf"), ("!!bool yes", True), ("!!bool 'off'", False), ("!!null x", None)),
    *(("!!timestamp '2026-02-24 10:30:15'", "2026-02-24 10:30:15"), ("!!seq [1]", [1]), ("!!map {a: 1}", {"a": 1})),
    *(("!<tag:yaml.org,2002:int> 5", 5), ("{1: a, no: b, ~: c}", {"1": "a", "no": "b", "~": "c"})),
    *(('"\\\\ud83c"', "\\ud83c"), ("'\\ud83c\\udf89'", "\\ud83c\\udf89")),
    *(("\\ud83c\\udf89", "\\ud83c\\udf89"), ("|-\n      \\ud83c\\udf89", "\\ud83c\\udf89")),
]


@pytest.mark.parametrize(("written", "value"), TYPED)
def test_only_unmistakable_payload_scalars_are_typed(written: str, value: object) -> None:
    text = queue("- message_id: M\n" + REST + f"  status: pending\n  payload:\n    x: {written}\n")
    assert same(text.messages()[0].payload["x"], value)
    assert changed(text, 0, status="read").data() == text.data().replace(b"pending", b"read")


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (",", ":")}])
def test_json_is_read_as_json_means_it(layout: dict[str, Any]) -> None:
    emoji = "🎉 \\ud83c\\udf89 \\\\ud83c é"
    envelope = {"type": "t", "from": "a", "to": "b"}
    wanted = {"message_id": "M", **envelope, "payload": {"content": emoji, emoji: "k"}}
    half = {"message_id": "N", **envelope, "content": "half: \ud83c"}
    data = json.dumps({"messages": [wanted, half]}, **{"ensure_ascii": True, **layout}).encode("utf-8", "replace")
    text = QueueText.parse(data)
    assert text.messages()[0].record == wanted
    if layout.get("ensure_ascii", True):
        assert text.messages()[1].record["content"] == "half: \ufffd"


# Aliases.


def test_aliases_are_read_and_the_first_change_writes_them_out() -> None:
    head = "messages:\n"
    text = queue(FIRST, SECOND, THIRD)
    assert [message.recipients for message in text.messages()] == [("a", "b")] * 3
    assert (text.messages()[1].created, text.messages()[2].payload["when"]) == ("2026-02-24 10:30:15",) * 2
    second, third = (emit(message).decode() for message in text.messages()[1:])
    assert text.edit(remove=[0]).data() == (head + second + third).encode()
    assert changed(text, 0, status="read", to="z").edit(remove=[0]).data() == (head + second + third).encode()
    tail = QueueText.parse((head + FIRST + "last: [*both, *day]\n").encode())
    assert tail.edit(remove=[0]).data() == b"messages: []\nlast:\n- - a\n  - b\n- '2026-02-24 10:30:15'\n"


def test_the_nearest_definition_counts_and_places_decide_what_a_value_means() -> None:
    other = FIRST.replace("message_id: A", "message_id: D").replace("[a, b]", "[z]")
    messages = queue(FIRST, SECOND, other, THIRD).messages()
    assert [message.recipients for message in messages] == [("a", "b"), ("a", "b"), ("z",), ("z",)]
    message = only("  attempts: &n 5\n  status: *n\n  payload: {count: *n}\n")
    assert (message.record["attempts"], message.record["status"], message.payload) == (5, "5", {"count": 5})
    data = b"base: &base {type: t, from: a, to: b}\nmessages:\n- <<: *base\n  message_id: M\nlast: *base\n"
    assert records(QueueText.parse(data)) == [{"type": "t", "from": "a", "to": "b", "message_id": "M"}]
    shared = queue("- &m\n  message_id: M\n" + REST, "- *m\n", "- <<: *m\n  message_id: N\n", "- {<<: [*m], id: O}\n")
    assert [message.message_id for message in shared.messages()] == ["M", "M", "N", "M"]


@pytest.mark.parametrize(
    ("bomb", "most"),
    [
        (["- message_id: L\n" + REST + "  payload: &l [" + "x, " * 9_000 + "x]\n", *["- {id: U, x: *l}\n"] * 3], 1),
        (["- message_id: L\n" + REST + "  payload: &l [" + "x, " * 9_000 + "x]\n"]
         + [f"- message_id: U{number}\n" + REST + "  payload: {x: *l}\n" for number in range(150)], 120),
        (["- message_id: L\n" + REST + "  payload:\n    a: &a [x, x]\n"
         + "".join(f"    {n}: &{n} [*{p}, *{p}, *{p}, *{p}, *{p}, *{p}]\n" for p, n in zip("abcdefg", "bcdefgh",
         strict=True))], 0),
        (["- message_id: L\n" + REST + "  payload: &r {x: *r}\n"], 0),
    ],
)  # fmt: skip
def test_aliases_that_make_a_small_text_large_are_stopped(bomb: list[str], most: int) -> None:
    text = queue(*bomb, TWO.decode())
    assert len(text.messages()) <= most + 1
    assert text.messages()[-1].message_id == "B"
    assert "alias" in text.damaged()[-1][1].message or "not a message" in text.damaged()[-1][1].message


# Changes.


def differing(old: bytes, new: bytes) -> tuple[list[str], list[str]]:
    before, after = old.decode().splitlines(), new.decode().splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


PAYLOAD = {"score": 3, "content": "folded text", "refs": ["a", "b"]}


@pytest.mark.parametrize(
    ("index", "changes", "gone", "came"),
    [
        (0, {"status": "read", "read_by": {"ceo": "10:30"}}, ["  status: pending     # state"],
         ["  status: read     # state", "  read_by:", "    ceo: '10:30'"]),
        (0, {"payload": {**PAYLOAD, "score": 4, "content": "two\nlines\n"}},
         ["    score: 3   # of five", "    content: >-", "      folded", "      text"],
         ["    score: 4   # of five", "    content: |", "      two", "      lines"]),
        (0, {"payload": {"score": 3, "content": "folded text"}}, ["    refs: [a,", "      b]"], []),
        (1, {"status": "a, b"}, ["- {message_id: MSG-2, type: clarify, from: dev-1, to: ceo, status: pending}"],
         ["- {message_id: MSG-2, type: clarify, from: dev-1, to: ceo, status: 'a, b'}"]),
        (1, {"read_at": "now"}, ["- {message_id: MSG-2, type: clarify, from: dev-1, to: ceo, status: pending}"],
         ["- {message_id: MSG-2, type: clarify, from: dev-1, to: ceo, status: pending, read_at: now}"]),
        (2, {"type": None, "message_type": "notify"}, ["-   type: notify", "    message_id: MSG-3"],
         ["-   message_id: MSG-3", "    message_type: notify"]),
    ],
)  # fmt: skip
def test_a_change_touches_only_its_lines(index: int, changes: dict[str, Any], gone: list[str], came: list[str]) -> None:
    text = QueueText.parse(BY_HAND)
    after = changed(text, index, **changes)
    assert differing(BY_HAND, after.data()) == (gone, came)
    assert QueueText.parse(after.data()).messages()[index] == after.messages()[index]
    assert QueueText.parse(changed(text, 0, status="two\nlines").data()).messages()[0].status == "two\nlines"


@pytest.mark.parametrize(("old", "new"), [(True, 1), (1, 1.0), (0, False), (1, "1"), (None, "")])
def test_values_that_only_compare_equal_are_a_change(old: object, new: object) -> None:
    text = QueueText.parse(b"messages:\n" + emit(make_message(1).with_changes(payload={"x": old})))
    after = QueueText.parse(changed(text, 0, payload={"x": new}).data())
    assert type(after.messages()[0].payload["x"]) is type(new)


@pytest.mark.parametrize(
    ("empty", "begin"),
    [
        (b"messages: []\n", b"messages:\n"),
        (b"messages:   [ ]  # none\n", b"messages:  # none\n"),
        (b"messages: null\n", b"messages:\n"),
        (b"messages: ~", b"messages:\n"),
        (b"messages:", b"messages:\n"),
        (b"# c\nmessages: []\n# d\n", b"# c\nmessages:\n# d\n"),
        (b"\xef\xbb\xbfmessages: []\r\n", b"\xef\xbb\xbfmessages:\r\n"),
        (b"[]\n", b"messages:\n"),
        (b"# none\nnull", b"# none\nmessages:\n"),
    ],
)
def test_an_empty_list_is_opened_and_closed_again(empty: bytes, begin: bytes) -> None:
    assert QueueText.parse(empty).messages() == ()
    after = QueueText.parse(empty).edit(append=[make_message(1)])
    assert after.data().startswith(begin + b"- message_id")
    assert [record["message_id"] for record in yaml.load(after.data(), yaml.CSafeLoader)["messages"]] == [
        "MSG-20260224-00000001"
    ]
    assert a_queue(1).edit(remove=[0]).data() == b"messages: []\n"


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
    assert records(again) == records(text)
    assert again.style == text.style
    expected = {"crlf": (b"\r\n", text.data().count(b"\n")), "indented": (b"\n    - message_id", 3)}[style]
    assert text.data().count(expected[0]) == expected[1]


@pytest.mark.parametrize("last", ["x", "|\n      x", "|-\n      x", "|+\n      x", "'x'", "[x]"])
def test_a_file_without_a_final_newline_can_be_appended_to(last: str) -> None:
    data = f"messages:\n- message_id: M\n  type: t\n  from: no\n  to: b # who\n  payload:\n    content: {last}".encode()
    after = QueueText.parse(QueueText.parse(data).edit(append=[make_message(1)]).data())
    assert records(after) == [*records(QueueText.parse(data)), make_message(1).record]
    assert after.data().startswith(data[: data.index(b"content:")])


def test_a_message_is_not_written_behind_an_open_quote_that_would_swallow_it() -> None:
    text = QueueText.parse(b'messages:\n- message_id: M\n  type: t\n  from: a\n  to: b\n  payload:\n    x: "open\n')
    with pytest.raises(TextError, match="open"):
        text.edit(append=[make_message(1).with_changes(payload={"content": 'ends here"'})])
    assert records(QueueText.parse(text.edit(append=[make_message(1)]).data())) == [make_message(1).record]
    for index in (-1, 2):
        with pytest.raises(IndexError):
            text.edit(remove=[index])


@pytest.mark.parametrize("mark", [b"---\n", b"...\n", b"%YAML 1.2\n", b"key: value\n"])
@pytest.mark.parametrize("behind", [TWO, b"- broken: [\n", b'- broken: "\n', b"- no message\n"])
@pytest.mark.parametrize("removed", [0, 1, 2])
def test_entries_around_a_mark_can_be_taken_out_one_by_one(mark: bytes, behind: bytes, removed: int) -> None:
    text = QueueText.parse(b"messages:\n" + ONE + mark + behind)
    left = [entry.raw for index, entry in enumerate(text.entries) if index != removed]
    after = QueueText.parse(text.edit(append=[make_message(1)], remove=[removed]).data())
    assert after.messages()[-1].record == make_message(1).record
    assert all(raw in after.data() for raw in left)


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
    wanted = [*first.values(), *before[1:], make_message(1)]
    assert records(QueueText.parse(after.data())) == [message.record for message in wanted]
    loaded = yaml.load(after.data(), yaml.CSafeLoader)
    assert len(loaded.pop("messages")) == len(before) + 1
    assert loaded == others


# The corpus of other programs, and properties.


@pytest.mark.parametrize("name", SOURCES)
def test_a_foreign_queue_reads_as_it_was_meant_and_changes_alone(name: str) -> None:
    data = (FOREIGN / name).read_bytes()
    text = QueueText.parse(data)
    assert (text.damaged(), text.data()) == ([], data)
    before = text.messages()
    assert [message.payload for message in before] == [item["payload"] for item in EXPECTED]
    assert [list(message.recipients) for message in before] == [item["to"] for item in EXPECTED]
    assert {from_text(message.created) for message in before} == {CREATED}
    for removed in (0, 1, 3):
        read = (removed + 1) % len(before)
        change = {read: before[read].with_changes(status="read", read_at="2026-02-24T11:00:00Z")}
        after = text.edit(append=[make_message(1)], replace=change, remove=[removed])
        wanted = [change.get(index, message) for index, message in enumerate(before) if index != removed]
        cold = QueueText.parse(after.data())
        assert records(cold) == records(after) == [dict(message.record) for message in (*wanted, make_message(1))]
        elsewhere = yaml.load(after.data(), yaml.CSafeLoader)["messages"]
        assert [item["message_id"] for item in elsewhere] == [message.message_id for message in cold.messages()]
        if not text.odd and b"&" not in data:
            others = [entry.raw for place, entry in enumerate(text.entries) if place not in (removed, read)]
            assert all(raw.rstrip(b".\r\n") in after.data() for raw in others)


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
        assert same(outcomes(warm), outcomes(cold))
        assert [(line, str(error)) for line, error in warm.damaged()] == [
            (line, str(error)) for line, error in cold.damaged()
        ]
        previous, text = warm, mutate(random, text)


@pytest.mark.slow
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.booleans())
def test_cutting_by_columns_finds_what_pyyaml_finds_in_the_whole_file(seed: int, broken: bool) -> None:
    random = Random(seed)
    text = mutate(random, good(random)) if broken else good(random)
    data = text.encode()
    try:
        loaded = yaml.load(data, yaml.CSafeLoader)["messages"] or []
    except (yaml.YAMLError, ValueError, KeyError, TypeError, RecursionError):
        return
    try:
        found = QueueText.parse(data)
    except TextError:
        assert broken
        return
    assert found.data() == data
    if isinstance(loaded, list) and not found.damaged():
        assert [str(item.get("message_id", item.get("id"))) for item in loaded] == [
            message.message_id for message in found.messages()
        ]


def test_a_reload_keeps_the_message_objects_of_entries_that_did_not_change() -> None:
    before = a_queue(6)
    first, *_, last = before.messages()
    assert QueueText.parse(bytes(bytearray(before.data())), before) is before
    fewer = before.data().replace(emit(make_message(1)), b"")
    fewer = fewer.replace(emit(make_message(3)), emit(make_message(9)) + emit(make_message(8)))
    after = QueueText.parse(b"# a new remark\n" + fewer, before).messages()
    assert [message.message_id[-1] for message in after] == ["0", "2", "9", "8", "4", "5"]
    assert (after[0], after[-1]) == (first, last)
    assert after[0] is first
    assert before.edit(append=[first]).messages()[-1] is first


def test_understanding_reports_progress_and_can_be_stopped() -> None:
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> bool:
        seen.append((done, total))
        return False

    with pytest.raises(InterruptedError):
        QueueText.parse(a_queue(3).data(), progress=stop)
    assert seen == [(0, 3)]
