"""A queue that is followed from look to look tells what reading all of it anew tells."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from team_console.store.backends.yaml.team import YamlTeam

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import QUEUE, open_yaml, queue_of, receive, replace_by_rename

pytestmark = pytest.mark.slow


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
def test_following_tells_what_reading_anew_tells(root: Path, seed: int) -> None:
    dice, reader, writer = Random(seed), open_yaml(root), open_yaml(root)
    reader.snapshot()
    for number in range(10, 40):
        dice.choice(_ACTS if dice.random() < 0.3 else _ACTS[:2])(root, writer, number)
        if not (root / QUEUE).exists():
            put(writer, make_message(number + 900))
        if dice.random() < 0.7:
            assert _told(reader) == _told(open_yaml(root))
