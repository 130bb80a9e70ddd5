"""The newest messages of a large queue are at hand before the queue is read as a whole."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.entry import emit

from tests.store.contract import make_message


def write_queue(folder: Path, count: int, *, tail: bytes = b"") -> None:
    messages = [make_message(number) for number in range(count)]
    (folder / "message-queue.yaml").write_bytes(b"messages:\n" + b"".join(map(emit, messages)) + tail)


def test_the_newest_are_the_last_stored_and_it_is_said_how_many_are_left_out(tmp_path: Path) -> None:
    write_queue(tmp_path, 100)
    team = open_team(str(tmp_path))
    newest = team.newest(5)
    assert newest is not None
    assert [message.message_id[-2:] for message in newest.messages] == ["95", "96", "97", "98", "99"]
    assert newest.left_out == 95


def test_reading_on_from_the_newest_gives_everything_and_the_same_objects(tmp_path: Path) -> None:
    write_queue(tmp_path, 100)
    team = open_team(str(tmp_path))
    newest = team.newest(5)
    assert newest is not None
    whole = team.snapshot()
    assert whole.left_out == 0
    assert len(whole.messages) == 100
    assert all(message is other for message, other in zip(newest.messages, whole.messages[95:], strict=True))
    assert whole.revision != newest.revision


def test_a_small_queue_is_as_quick_to_read_as_a_whole(tmp_path: Path) -> None:
    write_queue(tmp_path, 10)
    assert open_team(str(tmp_path)).newest(5) is None


def test_a_damaged_entry_among_the_newest_is_left_to_the_whole_reading(tmp_path: Path) -> None:
    write_queue(tmp_path, 100, tail=b"- message_id: torn\n  type: [\n")
    team = open_team(str(tmp_path))
    newest = team.newest(3)
    assert newest is not None
    assert [message.message_id[-2:] for message in newest.messages] == ["98", "99"]
    assert [problem.code for problem in team.snapshot().problems] == ["DAMAGED_ENTRY"]


def test_a_queue_that_is_missing_or_unreadable_has_no_newest(tmp_path: Path) -> None:
    write_queue(tmp_path, 100)
    team = open_team(str(tmp_path))
    (tmp_path / "message-queue.yaml").write_bytes(b"\x00" * 4096)
    assert team.newest(5) is None
    (tmp_path / "message-queue.yaml").unlink()
    assert team.newest(5) is None


def test_nothing_is_written_for_a_look_at_the_newest(tmp_path: Path) -> None:
    write_queue(tmp_path, 100)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert open_team(str(tmp_path), read_only=True).newest(5) is not None
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
