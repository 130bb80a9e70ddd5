"""Broken and hostile queues: named with their line, isolated where possible, never rewritten, never fatal."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.message import new_record

pytestmark = pytest.mark.slow

BAD = yaml.safe_load(Path(__file__).with_name("bad_input.yaml").read_text())
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
        *((row["value"].encode(), row["message"]) for row in BAD["values"]),
    ],
)
def test_what_a_message_may_not_hold_is_named_with_its_lines(value: bytes, message: str) -> None:
    assert the_only_damage(around(value)).message == message


@pytest.mark.parametrize(("entry", "reason"), [(row["entry"].encode(), row["reason"]) for row in BAD["entries"]])
def test_an_entry_that_is_not_a_message_is_skipped_with_its_reason(entry: bytes, reason: str) -> None:
    assert reason in the_only_damage(b"messages:\n" + GOOD + entry + GOOD).message


@pytest.mark.parametrize(("text", "lines", "reason"), [tuple(row.values()) for row in BAD["files"]])
def test_a_file_that_is_no_queue_is_refused_with_its_lines(text: str, lines: list[int], reason: str) -> None:
    error = refusal(text.replace("(a good entry)", GOOD.decode()).encode("latin-1"))
    assert reason in error.message
    assert list(error.lines) == lines
    assert all(str(line) in error.message for line in lines)


@pytest.mark.parametrize("byte", ["é".encode("latin-1"), "\ud800".encode("utf-8", "surrogatepass")])
def test_bytes_that_are_not_utf8_harm_the_entry_they_are_in(byte: bytes) -> None:
    error = the_only_damage(around(byte))
    assert "not UTF-8" in error.message
    assert error.line == LINE
