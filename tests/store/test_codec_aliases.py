"""Anchors, aliases, merge keys, tags and surrogate pairs: read as YAML means them, kept as they were written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from team_console.store.backends.yaml.codec import CodecError, QueueText, parse_entry
from team_console.store.model.message import Message

REST = "  type: t\n  from: a\n  to: b\n"
FIRST = "- message_id: A\n  type: t\n  from: a\n  to: &both [a, b]\n  created: &day 2026-02-24 10:30:15\n"
SECOND = "- message_id: B\n  type: t\n  from: a\n  to: *both\n  created: *day\n"
THIRD = "- message_id: C\n  type: t\n  from: a\n  to: *both\n  payload: {when: *day}\n"


def queue(*entries: str) -> QueueText:
    return QueueText.parse(("messages:\n" + "".join(entries)).encode())


def only(lines: str) -> Message:
    (message,) = queue("- message_id: M\n" + REST + lines).messages()
    return message


def test_an_alias_stands_for_a_value_of_an_entry_before() -> None:
    first, second, third = queue(FIRST, SECOND, THIRD).messages()
    assert first.recipients == second.recipients == third.recipients == ("a", "b")
    assert second.created == "2026-02-24 10:30:15"
    assert third.payload == {"when": "2026-02-24 10:30:15"}


def test_what_a_plain_value_means_depends_on_where_its_alias_stands() -> None:
    message = only("  attempts: &n 5\n  status: *n\n  payload: {count: *n}\n")
    assert (message.record["attempts"], message.record["status"], message.payload) == (5, "5", {"count": 5})


def test_the_nearest_definition_counts() -> None:
    other = FIRST.replace("message_id: A", "message_id: D").replace("[a, b]", "[z]")
    messages = queue(FIRST, SECOND, other, THIRD).messages()
    assert [message.recipients for message in messages] == [("a", "b"), ("a", "b"), ("z",), ("z",)]


def test_a_whole_message_and_merged_keys_can_be_shared() -> None:
    text = queue("- &m\n  message_id: M\n" + REST, "- *m\n", "- <<: *m\n  message_id: N\n", "- {<<: [*m], id: O}\n")
    assert [message.message_id for message in text.messages()] == ["M", "M", "N", "M"]
    assert text.messages()[2].record == {"message_id": "N", "type": "t", "from": "a", "to": "b"}


def test_anchors_of_other_keys_of_the_file_count_too() -> None:
    data = b"base: &base {type: t, from: a, to: b}\nmessages:\n- <<: *base\n  message_id: M\nlast: *base\n"
    text = QueueText.parse(data)
    assert text.messages()[0].record == {"type": "t", "from": "a", "to": "b", "message_id": "M"}
    assert text.data() == data


@pytest.mark.parametrize("found", ["A", "B", "N", "*odd", "Q"])
def test_an_id_is_found_however_it_is_hidden(found: str) -> None:
    data = (
        b"ids: [&a A, &b B]\nbase: &base {id: N, type: t, from: a, to: b}\nmessages:\n"
        b"- {id: *a, type: t, from: a, to: b}\n- id: *b\n  type: t\n  from: a\n  to: b\n- *base\n"
        b"- {id: '*odd', type: t, from: a, to: b}\n- {id: !!binary UQ==, type: t, from: a, to: b}\n"
    )
    index = QueueText.parse(data).find(found)
    assert index == ["A", "B", "N", "*odd", "Q"].index(found)


def test_removing_the_entry_with_the_anchor_gives_it_to_the_first_that_uses_it() -> None:
    after = queue(FIRST, SECOND, THIRD).edit(remove=[0])
    moved = SECOND.replace("*both", "&both [a, b]").replace("*day", "&day 2026-02-24 10:30:15")
    assert after.data() == ("messages:\n" + moved + THIRD).encode()


def test_changing_an_anchored_value_leaves_the_others_with_the_old_one() -> None:
    text = queue(FIRST, SECOND, THIRD)
    after = text.edit(replace={0: text.messages()[0].with_changes(to=["z"], status="read")})
    assert [message.recipients for message in QueueText.parse(after.data()).messages()] == [
        ("z",),
        ("a", "b"),
        ("a", "b"),
    ]
    assert after.data().endswith(THIRD.encode())


def test_an_alias_behind_the_list_keeps_its_value() -> None:
    text = QueueText.parse(("messages:\n" + FIRST + "last: [*both, *day]\n").encode())
    assert text.edit(remove=[0]).data() == b"messages: []\nlast: [&both [a, b], &day 2026-02-24 10:30:15]\n"


def test_an_alias_that_changes_is_written_out() -> None:
    text = queue(FIRST, SECOND)
    after = text.edit(replace={1: text.messages()[1].with_changes(created="2026-02-25")})
    assert after.data() == ("messages:\n" + FIRST + SECOND.replace("*day", "'2026-02-25'")).encode()


def test_a_reload_reads_aliases_anew_when_somebody_changed_the_anchor() -> None:
    before = queue(FIRST, SECOND, THIRD)
    kept = before.messages()
    same = QueueText.parse(before.data() + b"# a remark\n", before)
    assert all(old is new for old, new in zip(kept[:2], same.messages()[:2], strict=True))
    after = QueueText.parse(before.data().replace(b"[a, b]", b"[y, z]"), same)
    assert [message.recipients for message in after.messages()] == [("y", "z")] * 3
    gone = QueueText.parse(("messages:\n" + SECOND + THIRD).encode(), after)
    assert [error.message[:11] for _, error in gone.damaged()] == ["alias *both", "alias *both"]


def test_the_newest_messages_are_read_with_their_aliases() -> None:
    left_out, newest = queue(FIRST, SECOND, THIRD).newest(1)
    assert (left_out, [message.message_id for message in newest]) == (2, ["C"])


def test_one_entry_with_an_unknown_alias_damages_only_itself() -> None:
    text = queue(FIRST, SECOND.replace("*both", "*nobody"), THIRD)
    assert [message.message_id for message in text.messages()] == ["A", "C"]
    ((line, error),) = text.damaged()
    assert (line, error.line) == (7, 10)
    with pytest.raises(CodecError, match=r"alias \*both"):
        parse_entry(SECOND.encode())


def test_words_that_look_like_anchors_are_words() -> None:
    message = only("  payload: {a: R&D, b: 'x &y *z', c: \"*c\"}\n  x: |\n    *bold* &amp;\n")
    assert message.record["payload"] == {"a": "R&D", "b": "x &y *z", "c": "*c"}


@pytest.mark.slow
def test_a_file_full_of_large_values_by_alias_is_stopped() -> None:
    large = "- message_id: L\n" + REST + "  payload: &large [" + "x, " * 9_000 + "x]\n"
    users = [f"- message_id: U{number}\n" + REST + "  payload: {x: *large}\n" for number in range(500)]
    text = queue(large, *users)
    assert 50 < len(text.messages()) < 150
    assert "aliases such as *large that stand for more" in text.damaged()[0][1].message


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("!!int '5'", 5),
        ("!!int 0x1F", 31),
        ("!!int 1_000", 1000),
        ("!!int 010", 8),
        ("!!float 5", 5.0),
        ("!!float .inf", ".inf"),
        ("!!bool yes", True),
        ("!!bool 'off'", False),
        ("!!null x", None),
        ("!!timestamp '2026-02-24 10:30:15'", "2026-02-24 10:30:15"),
        ("!!binary aGFsbG8=", "hallo"),
        ("!!binary |\n      aGFs\n      bG8=", "hallo"),
        ("!!binary /w==", "/w=="),
        ("!!set {x, y}", ["x", "y"]),
        ("!!omap [a: 1, b: 2]", {"a": 1, "b": 2}),
        ("!!pairs [a: 1, a: 2]", [{"a": 1}, {"a": 2}]),
        ("!!seq [1]", [1]),
        ("!!map {a: 1}", {"a": 1}),
        ("!!python/tuple [1, 2]", [1, 2]),
        ("!!python/unicode 'é'", "é"),
        ("!<tag:yaml.org,2002:int> 5", 5),
    ],
)
def test_a_standard_tag_means_what_it_says(written: str, value: Any) -> None:
    found = only(f"  payload:\n    x: {written}\n").payload["x"]
    assert found == value
    assert type(found) is type(value)


def test_tags_of_the_envelope_leave_its_values_text() -> None:
    message = only("  created: !!timestamp 2026-02-24 10:30:15\n  status: !!str pending\n  to_agents: !!set {x, y}\n")
    assert (message.created, message.status) == ("2026-02-24 10:30:15", "pending")
    assert message.recipients == ("b", "x", "y")


EMOJI = "🎉 \\ud83c\\udf89 \\\\ud83c é"


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (",", ":")}])
def test_json_is_read_as_json_means_it(layout: dict[str, Any]) -> None:
    record = {"message_id": "M", "type": "t", "from": "a", "to": "b", "payload": {"content": EMOJI, EMOJI: "k"}}
    text = QueueText.parse(json.dumps({"messages": [record]}, **layout).encode())
    assert text.messages()[0].record == record


def test_half_a_character_damages_only_its_entry() -> None:
    envelope = {"type": "t", "from": "a", "to": "b"}
    records = [{**envelope, "id": "M", "content": "\ud83c"}, {**envelope, "id": "N", "content": "🎉"}]
    text = QueueText.parse(json.dumps({"messages": records}).encode())
    assert [message.message_id for message in text.messages()] == ["N"]
    assert "\\ud83c is half a character" in text.damaged()[0][1].message


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ('"\\ud83c\\udf89 \\uD83C\\uDF89"', "🎉 🎉"),
        ('"\\\\ud83c\\\\udf89"', "\\ud83c\\udf89"),
        ('"\\\\\\ud83c\\udf89"', "\\🎉"),
        ("'\\ud83c\\udf89'", "\\ud83c\\udf89"),
        ("\\ud83c\\udf89", "\\ud83c\\udf89"),
        ("|-\n      \\ud83c\\udf89", "\\ud83c\\udf89"),
    ],
)
def test_surrogate_pairs_are_escapes_in_double_quotes_only(written: str, content: str) -> None:
    text = queue("- message_id: M\n" + REST + f"  status: pending\n  payload:\n    content: {written}\n")
    assert text.messages()[0].content == content
    after = text.edit(replace={0: text.messages()[0].with_changes(status="read")})
    assert after.data() == text.data().replace(b"pending", b"read")
