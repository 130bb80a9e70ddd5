"""What wakes a watcher of a folder: what ends a change, not each of its steps; the look now and then finds the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.backends.yaml import watch
from team_console.store.backends.yaml.watch import look

from tests.store.contract import make_message, put
from tests.store.yaml_folder import HOLD, QUEUE, open_yaml, process, replace_by_rename, wait_for

pytestmark = pytest.mark.skipif(not watch.is_available(), reason="this system has no inotify")


@pytest.fixture
def changes(tmp_path: Path) -> Iterator[watch.FolderChanges]:
    put(open_yaml(tmp_path), make_message(1))
    following = watch.FolderChanges([tmp_path])
    yield following
    following.close()


def test_a_file_that_is_being_written_is_told_of_once_it_is_closed(
    tmp_path: Path, changes: watch.FolderChanges
) -> None:
    with (tmp_path / QUEUE).open("ab", buffering=0) as file:
        file.write(b"- message_id: half of")
        assert changes.read().names == set()
        file.write(b" a message\n")
    assert changes.read().names == {QUEUE}


def test_another_file_in_its_place_and_its_end_are_told_of(tmp_path: Path, changes: watch.FolderChanges) -> None:
    replace_by_rename(tmp_path / QUEUE, b"messages: []\n")
    assert QUEUE in changes.read().names
    (tmp_path / QUEUE).unlink()
    assert changes.read().names == {QUEUE}


def test_a_writer_that_only_begins_wakes_nobody(tmp_path: Path, changes: watch.FolderChanges) -> None:
    with process(HOLD, tmp_path) as holder:
        wait_for(holder, b"held")
        assert changes.read().names == set()


def test_the_look_now_and_then_sees_a_lock_that_is_taken(tmp_path: Path, changes: watch.FolderChanges) -> None:
    before = look(open_yaml(tmp_path).layout)
    with process(HOLD, tmp_path) as holder:
        wait_for(holder, b"held")
        assert look(open_yaml(tmp_path).layout) != before


def test_the_look_now_and_then_sees_other_rights(tmp_path: Path, changes: watch.FolderChanges) -> None:
    before = look(open_yaml(tmp_path).layout)
    (tmp_path / QUEUE).chmod(0o640)
    assert look(open_yaml(tmp_path).layout) != before
