"""What a verb does grows no faster than the queue: calls and bytes are counted, not seconds.

A search of everything for each message would show as an exponent of two.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from team_console.console.cli.main import run
from team_console.store.backends.yaml.disk import Disk, Stat
from team_console.store.service import slices

from tests.proofs.benchmarks.bulk import VERBS, Verb, aged
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


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb.name != "--version"], ids=lambda verb: verb.name)
def test_the_work_of_a_verb_grows_no_faster_than_the_queue(
    verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Every size is worked through in as many slices as long queues are.
    monkeypatch.setattr(slices, "LEAST", 10)
    monkeypatch.setattr(slices, "now", lambda: 0.0)  # how long they took is not counted here
    counted = _Counted(monkeypatch)
    found: list[tuple[int, int]] = []
    for number, size in enumerate((_SIZES[0], *_SIZES)):  # the first only loads what is loaded once
        folder = tmp_path / str(number)
        write_team(folder, map(verb.make, aged(size)))
        assert [run([*words, "-t", str(folder)]) for words in verb.before] == [0] * len(verb.before)
        found.append(counted.work(lambda folder=folder: run([*verb.words, "-t", str(folder)])))  # type: ignore[misc]
    capsys.readouterr()
    for what, counts in zip(("calls", "bytes"), zip(*found[1:], strict=True), strict=True):
        assert _exponent(*counts) <= _LIMIT, (what, counts)
