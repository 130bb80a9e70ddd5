"""A queue that somebody else rolled back says so before the next write heals it (cases 16, 31, 32)."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.contract.team import Condition

from tests.equipment.yaml_folder import (
    HOLD,
    QUEUE,
    is_rolled_back,
    make_message,
    open_yaml,
    process,
    put,
    wait_for,
)

LOCK = QUEUE + ".lock"


def _ids(*numbers: int) -> frozenset[str]:
    return frozenset(make_message(number).message_id for number in numbers)


def _cut(root: Path, *, after: int) -> None:
    """Keep the first `after` entries, as a writer in place does that is stopped."""
    data = (root / QUEUE).read_bytes()
    place = -1
    for _ in range(after + 1):
        place = data.index(b"- message_id", place + 1)
    (root / QUEUE).write_bytes(data[:place])


def test_a_queue_emptied_by_another_program_is_in_doubt(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    (tmp_path / QUEUE).write_bytes(b"messages: []\n")
    seen = open_yaml(tmp_path).snapshot()
    assert (seen.condition, seen.missing) == (Condition.EMPTY, _ids(1))
    assert is_rolled_back(seen)


@pytest.mark.parametrize("lock", ["gone", "emptied", "left by a dead holder"])
def test_a_loss_is_noticed_whatever_the_lock_file_says(tmp_path: Path, lock: str) -> None:
    put(open_yaml(tmp_path), make_message(1), make_message(2))
    if lock == "gone":
        (tmp_path / LOCK).unlink()
    elif lock == "emptied":
        (tmp_path / LOCK).write_bytes(b"")
    else:
        with process(HOLD, tmp_path) as holder:
            wait_for(holder, b"held")
            holder.kill()
            holder.wait()
    assert open_yaml(tmp_path).snapshot().doubt is None
    _cut(tmp_path, after=1)
    assert open_yaml(tmp_path).snapshot().missing == _ids(2)
