"""Broken and hostile queues: named with their line, isolated where possible, never rewritten, never fatal."""

from __future__ import annotations

import pytest
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.message import new_record

pytestmark = pytest.mark.slow

GOOD = b"- message_id: GOOD\n  type: t\n  from: a\n  to: b\n"
BEFORE = b"- message_id: BAD\n  type: t\n  from: a\n  to: b\n  payload:\n    x: "
LINE = 7 + 4
"""Line of `x` in a queue of one good entry and the bad one."""


def around(value: bytes) -> bytes:
    """A queue whose second entry holds `value`, between two good entries."""
    return b"messages:\n" + GOOD + BEFORE + value + b"\n" + GOOD


def the_only_damage(data: bytes) -> TextError:
    """The error of the one damaged entry; the others are usable and nothing is written over."""
    text = QueueText.parse(data)
    ((line, error),) = text.damaged()
    assert [message.message_id for message in text.messages()].count("GOOD") == data.count(b"GOOD")
    assert text.data() == data
    damaged = next(entry for entry in text.entries if entry.error is not None)
    added = new_record(
        message_id="NEW", type="t", sender="a", to="b", created="2026-02-24", priority="low", payload={"content": "x"}
    )
    after = text.edit(append=[added], remove=[0])
    assert damaged.raw in after.data()
    assert line == data[: data.index(damaged.raw)].count(b"\n") + 1
    assert error.hint
    return error


def refusal(data: bytes) -> TextError:
    with pytest.raises(TextError) as caught:
        QueueText.parse(data)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("bomb", [b"[", b"{a: ", b"[{a: "])
def test_deep_brackets_are_refused_by_line_in_a_process_that_lives(bomb: bytes) -> None:
    assert the_only_damage(around(bomb * 2_000_000)).message == f"nesting deeper than 64 at line {LINE}"


LAUGHS = b"\n      a0: &a0 [ha, ha]" + b"".join(
    b"\n      a%d: &a%d [*a%d, *a%d]" % (n, n, n - 1, n - 1) for n in range(1, 40)
)
FLAT_LAUGHS = b"\n      a: &a [" + b"ha, " * 500 + b"ha]\n      b: [" + b"*a, " * 500 + b"*a]"
TOO_MUCH = "that stand for more than a message may hold"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"\n      " + b"- " * 2_000_000, f"nesting deeper than 64 at line {LINE + 1}"),
        (LAUGHS, f"aliases such as *a11 {TOO_MUCH} at line {LINE + 13}"),
        (FLAT_LAUGHS, f"aliases such as *a {TOO_MUCH} at line {LINE + 2}"),
        (b"&a [*a]", f"alias *a, and no complete value named so stands before it, at line {LINE}"),
        (b"*missing", f"alias *missing, and no complete value named so stands before it, at line {LINE}"),
        (b"\n      <<: 1", f"a merge key << without a mapping at line {LINE + 1}"),
        (b"!!int five", f"a value tagged !!int that is none at line {LINE}"),
        (b"!!float five", f"a value tagged !!float that is none at line {LINE}"),
        (b"!!bool five", f"a value tagged !!bool that is none at line {LINE}"),
        (b"!!binary aGFsbG8=", f"tag !!binary at line {LINE}"),
        (b"!!omap [a: 1]", f"tag !!omap at line {LINE}"),
        (b"!!set [a]", f"tag !!set at line {LINE}"),
        (b"!!python/object/apply:os.system [id]", f"tag !!python/object/apply:os.system at line {LINE}"),
        (b"!foo x", f"tag !foo at line {LINE}"),
        (b"1\n    x: 2", f"key 'x' twice at lines {LINE} and {LINE + 1}"),
        (b"1\n  type: u", f"key 'type' twice at lines 7 and {LINE + 1}"),
        (b"1\n    1: a\n    '1': b", f"key '1' twice at lines {LINE + 1} and {LINE + 2}"),
        (b"\n      ? [a]\n      : b", f"a key that is not text at line {LINE + 1}"),
        (b"a\x1bb", f"character U+001B may not stand in YAML unescaped at line {LINE}"),
        ("\x9b".encode(), f"character U+009B may not stand in YAML unescaped at line {LINE}"),
        (b"\x7f", f"character U+007F may not stand in YAML unescaped at line {LINE}"),
    ],
)
def test_what_a_message_may_not_hold_is_named_with_its_lines(value: bytes, message: str) -> None:
    assert the_only_damage(around(value)).message == message


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (b"- type: t\n  from: a\n  to: b\n", "no message_id"),
        (b"- message_id: M\n  from: a\n  to: b\n", "no type"),
        (b"- message_id: M\n  type: t\n  to: b\n", "no from"),
        (b"- message_id: M\n  type: t\n  from: a\n", "no to"),
        (b"- message_id: M\n  type: t\n  from: a\n  to_agents: []\n", "no to"),
        (b"- message_id: ''\n  type: t\n  from: a\n  to: b\n", "no message_id"),
        (b"- {}\n", "no message_id, no type, no from, no to"),
        (b"-\n", "expected a message"),
        (b"- just text\n", "expected a message"),
        (b"- - a\n  - b\n", "expected a message"),
        (b"- message_id: [M]\n  type: t\n  from: a\n  to: b\n", "message_id must be text"),
        (b"- message_id: M\n  type: {t: u}\n  from: a\n  to: b\n", "type must be text"),
        (b"- message_id: M\n  type: t\n  from: a\n  to: {b: c}\n", "to must be text or a list"),
        (b"- message_id: M\n  type: t\n  from: a\n  to: [[b]]\n", "to must hold plain text"),
        (b"- message_id: M\n  type: t\n  from: a\n  to: b\n  read_by: [a]\n", "read_by must be a mapping"),
        (b"- message_id: M\n  type: t\n  from: a\n  to: b\n  created: [x]\n", "created must be text"),
    ],
)
def test_an_entry_that_is_not_a_message_is_skipped_with_its_reason(entry: bytes, reason: str) -> None:
    assert reason in the_only_damage(b"messages:\n" + GOOD + entry + GOOD).message


@pytest.mark.parametrize(
    ("data", "lines", "reason"),
    [
        (b"messages:\n" + GOOD + b"messages:\n" + GOOD, (1, 6), "messages: twice"),
        (b"messages: []\nmessages:\n" + GOOD, (1, 2), "messages: twice"),
        (b"messages:\n  a: b\n", (2,), "found a mapping"),
        (b"messages: some text\n", (1,), "found a single value"),
        (b"hello\n", (1,), "expected a list under messages:"),
        (b"version: 1\n", (1,), "there is none"),
        (b"", (1,), "empty file"),
        (b"# only\n# comments\n\n", (1,), "empty file"),
        (
            b"messages:\n" + GOOD + b"<<<<<<< HEAD\n" + GOOD + b"=======\n" + GOOD + b">>>>>>> x\n",
            (6,),
            "conflict marker",
        ),
        (b"messages:\n" + GOOD + b"\0" * 16, (6,), "NUL"),
        (b"\0" * 4096, (1,), "NUL"),
        ("messages: []\n".encode("utf-16"), (1,), "UTF-16"),
        ("messages: []\n".encode("utf-16-le"), (1,), "NUL"),
        (b"# \xe9\nmessages:\n" + GOOD, (1,), "not UTF-8"),
        (b"messages:\n" + GOOD + b"footer: \xe9\n", (6,), "not UTF-8"),
        (b"messages: [\n", (2,), "flow"),
        (b"messages: &a [*a]\nother: \x1b\n", (2,), "U+001B"),
    ],
)
def test_a_file_that_is_no_queue_is_refused_with_its_lines(data: bytes, lines: tuple[int, ...], reason: str) -> None:
    error = refusal(data)
    assert reason in error.message
    assert error.lines == lines
    assert all(str(line) in error.message for line in lines)


@pytest.mark.parametrize("byte", ["é".encode("latin-1"), "\ud800".encode("utf-8", "surrogatepass")])
def test_bytes_that_are_not_utf8_harm_the_entry_they_are_in(byte: bytes) -> None:
    error = the_only_damage(around(byte))
    assert "not UTF-8" in error.message
    assert error.line == LINE
