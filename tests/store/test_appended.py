"""A queue followed by what the ledger tells is the queue as reading all of it tells, and is compared with it soon."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from team_console.store.backends.yaml import addressed, queue_file
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.team import YamlTeam

from tests.store.contract import make_message, put
from tests.store.yaml_folder import QUEUE, open_yaml, queue_of, receive, remove, replace_by_rename


class Looks:
    """How often all bytes of the queue were looked at, and a clock for how long ago that was."""

    def __init__(self) -> None:
        self.number = 0
        self.now = 100.0


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Queues of any length are followed; looks at all of one are counted."""
    seen, real = Looks(), Disk.read_change

    def counted(self: Disk, path: Path, known: Any) -> Any:
        seen.number += 1
        return real(self, path, known)

    monkeypatch.setattr(addressed, "LONG", 1)
    monkeypatch.setattr(queue_file, "LARGE", 1)
    monkeypatch.setattr(addressed, "monotonic", lambda: seen.now)
    monkeypatch.setattr(Disk, "read_change", counted)
    return seen


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A team with some messages in its queue."""
    folder = tmp_path / "team"
    folder.mkdir()
    put(open_yaml(folder), *map(make_message, range(1, 6)))
    return folder


def _told(team: YamlTeam) -> tuple[str, list[dict[str, Any]]]:
    snapshot = team.snapshot()
    return str(snapshot.condition), [dict(message.record) for message in snapshot.messages]


def _edit_in_place(root: Path, old: bytes, new: bytes) -> None:
    path = root / QUEUE
    path.write_bytes(path.read_bytes().replace(old, new))


def test_what_we_append_is_read_alone(root: Path, looks: Looks) -> None:
    reader, writer = open_yaml(root), open_yaml(root)
    reader.snapshot()
    looks.number = 0
    put(writer, make_message(6))
    put(writer, make_message(7))
    before = looks.number  # the writer, that looks at all of it
    assert _told(reader) == _told(open_yaml(root))
    assert looks.number == before


def _foreign_append(root: Path, number: int) -> None:
    with (root / QUEUE).open("ab") as file:
        file.write(queue_of(make_message(number)).removeprefix(b"messages:\n"))


_ACTS: tuple[Callable[[Path, YamlTeam, int], object], ...] = (
    lambda root, writer, number: put(writer, make_message(number)),
    lambda root, writer, number: put(writer, make_message(number, to="ceo"), make_message(number + 500, to="ceo")),
    lambda root, writer, number: receive(writer),
    lambda root, writer, number: _foreign_append(root, number),
    lambda root, writer, number: _edit_in_place(root, b"Summary", b"summary"),
    lambda root, writer, number: _edit_in_place(root, b"messages:", b"messages: # the queue"),
    lambda root, writer, number: replace_by_rename(root / QUEUE, queue_of(make_message(number))),
    lambda root, writer, number: os.truncate(root / QUEUE, (root / QUEUE).stat().st_size // 2),
    lambda root, writer, number: (root / QUEUE).unlink(missing_ok=True),
)


@pytest.mark.parametrize("seed", range(6))
def test_following_tells_what_reading_anew_tells(root: Path, looks: Looks, seed: int) -> None:
    dice, reader, writer = Random(seed), open_yaml(root), open_yaml(root)
    reader.snapshot()
    for number in range(10, 40):
        dice.choice(_ACTS if dice.random() < 0.3 else _ACTS[:2])(root, writer, number)
        if not (root / QUEUE).exists():
            put(writer, make_message(number + 900))
        if dice.random() < 0.7:
            assert _told(reader) == _told(open_yaml(root))


def test_a_message_taken_out_leaves_at_once(root: Path, looks: Looks) -> None:
    reader, writer = open_yaml(root), open_yaml(root)
    reader.snapshot()
    put(writer, make_message(6))
    reader.snapshot()
    remove(writer, 6)
    assert _told(reader) == _told(open_yaml(root))


def _forge(root: Path) -> None:
    """Change a message in place and append one, with a line of the ledger that tells of the second only."""
    path, audit = root / QUEUE, root / "audit.jsonl"
    line = json.loads(audit.read_bytes().splitlines()[-1])
    data = path.read_bytes().replace(b"number 2", b"number X") + queue_of(make_message(8)).removeprefix(b"messages:\n")
    path.write_bytes(data)
    found = path.stat()
    line.update(base=line["queue"], queue=[found.st_ino, found.st_size, found.st_mtime_ns], seq=line["seq"] + 1)
    with audit.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")


def test_a_change_that_a_forged_line_hides_is_seen_when_all_is_compared(root: Path, looks: Looks) -> None:
    reader = open_yaml(root)
    reader.snapshot()
    _forge(root)
    before = looks.number
    reader.snapshot()
    assert looks.number == before
    looks.now += addressed.COMPARE_SECONDS
    assert _told(reader) == _told(open_yaml(root))
    assert "number X" in str(_told(reader))


def test_a_write_rests_on_the_bytes_of_the_file_alone(root: Path, looks: Looks) -> None:
    reader = open_yaml(root)
    reader.snapshot()
    _forge(root)
    reader.snapshot()
    put(reader, make_message(9))
    assert b"number X" in (root / QUEUE).read_bytes()


def test_a_ledger_that_cannot_be_read_is_not_needed(root: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = open_yaml(root)
    reader.snapshot()
    put(open_yaml(root), make_message(6))

    def closed(*_: object) -> None:
        raise PermissionError(13, "closed")

    monkeypatch.setattr(addressed, "whole_lines", closed)
    assert _told(reader) == _told(open_yaml(root))
