"""Taking over the name of a large file: nobody waits until its blocks are free again, and no folder's sync does."""

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
    """Takes over the name of a file of so many bytes; gives back what was still held once the folder was synced."""

    def rename(size: int) -> list[str]:
        (tmp_path / "old").write_bytes(b"o" * size)
        (tmp_path / "new").write_bytes(b"new")
        sync, seen = os.fsync, []

        def synced(fd: int) -> None:
            sync(fd)
            seen.extend(_held_without_a_name(tmp_path))

        monkeypatch.setattr(os, "fsync", synced)
        Disk().rename_durably(tmp_path / "new", tmp_path / "old")
        assert (tmp_path / "old").read_bytes() == b"new"
        return seen

    return rename


def test_a_large_file_is_freed_soon_after_the_folder_was_synced_and_not_before(
    tmp_path: Path, renamed: Callable[[int], list[str]]
) -> None:
    assert renamed(LARGE) == [f"{tmp_path}/old (deleted)"]
    _until(lambda: _held_without_a_name(tmp_path) == [])


def test_blocks_are_given_back_only_once_the_folder_was_synced(
    tmp_path: Path, renamed: Callable[[int], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = _thread.start_new_thread
    began: list[object] = []

    def started(close: Callable[[int], None], given: tuple[int]) -> int:
        began.append(_held_without_a_name(tmp_path))
        return start(close, given)

    monkeypatch.setattr(_thread, "start_new_thread", started)
    monkeypatch.setattr(Disk, "sync_folder", lambda disk, folder: began.append("synced"))
    renamed(LARGE)
    assert began == ["synced", [f"{tmp_path}/old (deleted)"]]


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
        Disk().rename_durably(tmp_path / "missing", tmp_path / "old")
    (tmp_path / "old").unlink()
    _until(lambda: _held_without_a_name(tmp_path) == [])
