"""Taking over the name of a large file: whoever holds the lock does not wait until its blocks are free again."""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk

LARGE = 2 << 20
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a process holds open is read from /proc")


def _held_without_a_name(folder: Path) -> list[str]:
    """Files of this folder that have lost their name and are open in this process."""
    held = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            held.append(os.readlink(entry))
        except FileNotFoundError:  # the descriptor of this very listing
            continue
    return [name for name in held if name.startswith(str(folder)) and name.endswith(" (deleted)")]


def _until(condition: Callable[[], bool]) -> None:
    deadline, pause = time.monotonic() + 60, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "the file was never given back"
        pause.wait(0.01)


@pytest.fixture
def renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[str]]:
    """Takes over the name of a file of so many bytes; gives back what was still held at the moment it was done."""

    def rename(size: int) -> list[str]:
        (tmp_path / "old").write_bytes(b"o" * size)
        (tmp_path / "new").write_bytes(b"new")
        replace, seen = os.replace, []

        def replaced(source: Path, target: Path) -> None:
            replace(source, target)
            seen.extend(_held_without_a_name(tmp_path))

        monkeypatch.setattr(os, "replace", replaced)
        Disk().rename(tmp_path / "new", tmp_path / "old")
        assert (tmp_path / "old").read_bytes() == b"new"
        return seen

    return rename


def test_a_large_file_is_not_freed_before_its_name_is_taken_over_and_soon_after(
    tmp_path: Path, renamed: Callable[[int], list[str]]
) -> None:
    assert renamed(LARGE) == [f"{tmp_path}/old (deleted)"]
    _until(lambda: _held_without_a_name(tmp_path) == [])


def test_a_small_file_is_not_worth_a_thread(renamed: Callable[[int], list[str]]) -> None:
    assert renamed(1000) == []


def test_where_no_thread_can_be_started_the_file_is_freed_at_once(
    tmp_path: Path, renamed: Callable[[int], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refused)
    assert renamed(LARGE)
    assert _held_without_a_name(tmp_path) == []


def test_a_rename_that_fails_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"o" * LARGE)
    with pytest.raises(FileNotFoundError):
        Disk().rename(tmp_path / "missing", tmp_path / "old")
    (tmp_path / "old").unlink()
    _until(lambda: _held_without_a_name(tmp_path) == [])
