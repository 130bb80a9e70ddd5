"""What a verb does grows no faster than the queue: calls and bytes are counted, not seconds.

A search of everything for each message would show as an exponent of two.
"""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from team_console.console.cli.main import run
from team_console.store.backends.yaml.disk import Disk, Stat
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import heal
from team_console.store.views.differences import line_difference

from tests.equipment.growing_verbs import VERBS, Verb
from tests.equipment.samples import sampled
from tests.equipment.yaml_folder import QUEUE, make_message, open_yaml, put
from tests.proofs.benchmarks.data import write_team

pytestmark = pytest.mark.slow

_SIZES = (20, 150, 1_200)
_LIMIT = 1.1


class _Counted:
    """Calls of functions, ours and those written in C, and bytes that were read and written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.bytes = 0
        read, write = Disk.read, Disk.write

        def counted_read(disk: Disk, path: Path, start: int = 0, length: int | None = None) -> tuple[bytes, Stat]:
            data, found = read(disk, path, start, length)
            self.bytes += len(data)
            return data, found

        def counted_write(disk: Disk, fd: int, data: memoryview) -> int:
            self.bytes += len(data)
            return write(disk, fd, data)

        monkeypatch.setattr(Disk, "read", counted_read)
        monkeypatch.setattr(Disk, "write", counted_write)

    def work(self, act: Callable[[], Any]) -> tuple[int, int]:
        """Calls and bytes of `act`."""
        self.calls = self.bytes = 0

        def note(frame: object, event: str, argument: object) -> None:
            if event in ("call", "c_call"):
                self.calls += 1

        sys.setprofile(note)
        try:
            act()
        finally:
            sys.setprofile(None)
        return self.calls, self.bytes


def _exponent(least: int, small: int, large: int) -> float:
    """The power with which grows what is done beyond the smallest queue; less than a call a message is not counted."""
    few, many = (size - _SIZES[0] for size in _SIZES[1:])
    return math.log(max(large - least, many) / max(small - least, few)) / math.log(many / few)


@pytest.mark.parametrize("verb", sampled(VERBS, 5), ids=lambda verb: verb.name)
def test_the_work_of_a_verb_grows_no_faster_than_the_queue(
    verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = _Counted(monkeypatch)
    found: list[tuple[int, int]] = []
    for number, size in enumerate((_SIZES[0], *_SIZES)):  # the first only loads what is loaded once
        folder = tmp_path / str(number)
        write_team(folder, verb.messages(size))
        assert [run([*shlex.split(line), "-t", str(folder)]) for line in verb.before] == [0] * len(verb.before)
        found.append(counted.work(lambda folder=folder: run([*verb.words, "-t", str(folder)])))  # type: ignore[misc]
    capsys.readouterr()
    for what, counts in zip(("calls", "bytes"), zip(*found[1:], strict=True), strict=True):
        assert _exponent(*counts) <= _LIMIT, (what, counts)


def _of_one_id(folder: Path, count: int) -> Callable[[], object]:
    """Different messages under one id, which a program wrote; 200 took 40 s."""
    put(open_yaml(folder), make_message(0))
    for number in range(count):
        entry = (
            f"- {{message_id: X1, type: message, from: a, to: task-manager, payload: {{content: number {number}}}}}\n"
        )
        with (folder / QUEUE).open("a") as queue:
            queue.write(entry)

    def act() -> None:
        worker = Caller(open_yaml(folder), "task-manager")
        assert len(inbox.receive(worker, agent="task-manager", lease=60).messages) == count + 1
        heal(Caller(open_yaml(folder), "ceo"))

    return act


def _answers_to_archived(folder: Path, count: int) -> Callable[[], object]:
    """Answers to messages that left the queue; each of 600 read the whole archive to see what it answers."""
    asked = [make_message(number) for number in range(count)]
    team = open_yaml(folder)
    put(team, *asked)
    caller = Caller(team, "task-manager")
    inbox.receive(caller, agent="task-manager")
    for message in asked:
        put(team, make_message(count + int(message.message_id[-4:]), payload={"in_reply_to": message.message_id}))
    return lambda: inbox.receive(caller, agent="task-manager")


def _to_an_agent_with_an_archive(folder: Path, count: int) -> Callable[[], object]:
    """What comes after as many have been archived; each of them is looked for there before it is appended."""
    team = open_yaml(folder)
    caller = Caller(team, "task-manager")
    for number in range(2):
        put(team, *[make_message(number * count + index) for index in range(count)])
        receive = partial(inbox.receive, caller, agent="task-manager")
        if not number:
            receive()
    return receive


def _nothing_in_common(folder: Path, count: int) -> Callable[[], object]:
    """Two texts without a line in common."""
    old, new = ("".join(f"{number} {word}\n" for number in range(4 * count)) for word in ("before", "now"))
    return lambda: line_difference(old, new)


_ONCE_SLOW = [_of_one_id, _nothing_in_common, _answers_to_archived, _to_an_agent_with_an_archive]


@pytest.mark.parametrize("make", sampled(_ONCE_SLOW, 3))
def test_the_work_of_what_once_was_slow_grows_no_faster_than_its_number(
    make: Callable[[Path, int], Callable[[], object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = _Counted(monkeypatch)
    found: list[tuple[int, int]] = []
    for number, size in enumerate((120, 120, 200, 360)):  # from 100 read ones on the queue is cleared
        (tmp_path / str(number)).mkdir()
        found.append(counted.work(make(tmp_path / str(number), size)))
    of_bytes = 1.5 if make is _of_one_id else 1.2  # between two of these sizes that queue is cleared once more
    for limit, (least, small, large) in zip((1.2, of_bytes), zip(*found[1:], strict=True), strict=True):
        assert math.log(max(large - least, 240) / max(small - least, 80)) / math.log(3) <= limit, found


def test_a_receive_costs_no_more_beside_a_long_trail_of_plain_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks the trail which messages were changed, and read all that was ever sent for it."""
    counted = _Counted(monkeypatch)
    lines = 1_000
    calls: list[int] = []
    for number, count in enumerate((0, 0, lines)):  # the first only loads what is loaded once
        folder = tmp_path / str(number)
        folder.mkdir()
        put(open_yaml(folder), make_message(0))
        put(open_yaml(folder), make_message(1))
        trail = folder / "audit.jsonl"
        first, *rest = trail.read_bytes().splitlines(keepends=True)
        trail.write_bytes(first + rest[0] * count + b"".join(rest))
        receive = partial(inbox.receive, Caller(open_yaml(folder), "task-manager"), agent="task-manager")
        calls.append(counted.work(receive)[0])
    assert calls[2] - calls[1] < lines / 2
