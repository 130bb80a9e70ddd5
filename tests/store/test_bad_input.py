"""Broken, hostile and torn files: named with their place, isolated where possible, never rewritten."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.message import Message, new_record
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import QUEUE, make_message, open_yaml, put

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


LONG = (
    "A first line\nand one that is long enough that a writer of YAML folds it somewhere before it comes to its end ü\n"
)
STYLES: dict[str, Callable[[bytes], str]] = {
    "ours": lambda data: data.decode(),
    "dumped": lambda data: yaml.safe_dump(yaml.safe_load(data), sort_keys=False),
    "dumped in flow": lambda data: yaml.safe_dump(yaml.safe_load(data), default_flow_style=None),
    "dumped with letters": lambda data: yaml.safe_dump(yaml.safe_load(data), allow_unicode=True, width=40),
}
STEP = 13
"""Bytes between two cuts; prime, so that all parts of a line are met."""


def _team(root: Path) -> list[Message]:
    root.mkdir(exist_ok=True)
    second = make_message(2, payload={"summary": 'Two: with "quotes", and more', "content": LONG, "tries": 12})
    put(open_yaml(root), make_message(1), second, make_message(3))
    return list(open_yaml(root).snapshot().messages)


@pytest.mark.parametrize("style", STYLES)
def test_wherever_a_writer_in_place_is_cut_off_every_message_is_there_again(tmp_path: Path, style: str) -> None:
    _team(tmp_path / "team")
    before = {message.message_id: message.record for message in open_yaml(tmp_path / "team").snapshot().messages}
    written = STYLES[style]((tmp_path / "team" / QUEUE).read_bytes()).encode()
    for length in range(len(b"messages:\n"), len(written), STEP):
        root = tmp_path / f"cut at {length}"
        shutil.copytree(tmp_path / "team", root, copy_function=shutil.copy2)
        (root / QUEUE).write_bytes(written[:length])
        put(open_yaml(root), make_message(4))
        seen = open_yaml(root).snapshot()
        after = {message.message_id: message.record for message in seen.messages}
        assert {name: after[name] for name in before} == before, written[:length]
        shutil.rmtree(root)


HUGE, ROOM = 3 << 30, 600 << 20


def _sparse(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, HUGE)


def _limit_memory() -> Iterator[None]:
    """A huge file that is read whole ends in a MemoryError here, not in a machine that swaps."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


limited = pytest.fixture(_limit_memory)


@pytest.fixture
def crew(tmp_path: Path) -> Path:
    """A team with two messages, one read and archived by its recipient."""
    put(open_yaml(tmp_path), make_message(1), make_message(2, to="file-manager"))
    assert len(receive(Caller(open_yaml(tmp_path), "task-manager"), agent="task-manager").messages) == 1
    return tmp_path


FILES = ("message-queue.yaml", "message-queue.yaml.prev", "audit.jsonl", "archive/task-manager-archive.yaml")


@pytest.mark.usefixtures("limited")
@cases
@pytest.mark.parametrize("name", FILES)
def test_a_huge_sparse_file_takes_no_memory_and_stops_nobody(crew: Path, name: str, grown: bool) -> None:
    if not grown:
        (crew / name).write_bytes(b"")
    _sparse(crew / name)
    reader = open_yaml(crew)
    reader.snapshot()
    reader.history()
    reader.audit()
    put(open_yaml(crew), make_message(3), make_message(4, to="file-manager"))
    for agent, count in (("task-manager", 1), ("file-manager", 2)):
        assert len(receive(Caller(open_yaml(crew), agent), agent=agent).messages) == count
    seen = open_yaml(crew).snapshot()
    assert sorted((message.message_id[-1], message.status) for message in seen.messages) == [
        (number, "read") for number in "1234"
    ]
    assert {message.message_id[-1] for message in open_yaml(crew).history().messages} >= set("234")
