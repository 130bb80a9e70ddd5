"""The ledger of a YAML team: one line per transaction, chained, durable before the queue; losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from team_console.store.contract.transaction import ChangedError

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import (
    HOLD,
    QUEUE,
    audit_lines,
    meanwhile,
    open_yaml,
    process,
    receive,
    replace_by_rename,
    wait_for,
)


@pytest.mark.parametrize("what", ["changed", "removed", "inserted"])
def test_a_ledger_that_was_tampered_with_says_from_where(tmp_path: Path, what: str) -> None:
    team = open_yaml(tmp_path)
    for number in range(1, 6):
        put(team, make_message(number))
    path = tmp_path / "audit.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    if what == "changed":
        lines[2] = lines[2].replace(b"number 3", b"number 8")
    elif what == "removed":
        del lines[2]
    else:
        lines.insert(2, json.dumps({"seq": 9, "at": "", "actor": "x", "action": "y"}).encode() + b"\n")
    path.write_bytes(b"".join(lines))
    intact = [line.intact for line in reversed(open_yaml(tmp_path).audit())]
    assert intact[:2] == [True, True]
    assert intact[-1] is False


def test_a_line_does_not_repeat_an_archived_record_that_the_queue_shows(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    receive(open_yaml(tmp_path))
    assert [line["archived"] for line in audit_lines(tmp_path) if "archived" in line] == [
        [["task-manager", make_message(1).message_id]]
    ]


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


def _rewrite(folder: Path, old: str, new: str) -> None:
    replace_by_rename(folder / QUEUE, (folder / QUEUE).read_text().replace(old, new, 1).encode())


@pytest.mark.parametrize("step", ["stage", "check"])
def test_nothing_is_written_when_it_says_something_else_by_then(step: str, tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))

    def write(expected: int, mark: str) -> None:
        with (
            meanwhile(step, lambda: _rewrite(tmp_path, "number 1", "number 7"), times=99),
            team.transaction(actor="ceo", action="test", wait=1.0) as tx,
        ):
            first, second = tx.everything()
            tx.expect(second if expected == 2 else first)
            tx.replace(second, second.with_changes(mark=mark))
            tx.record("test")

    with pytest.raises(ChangedError) as refused:
        write(1, "refused")
    assert refused.value.now is not None
    assert "number 7" in str(refused.value.now.payload)
    assert all(line["action"] != "test" for line in audit_lines(tmp_path))
    write(2, "written")
    assert "written" in (tmp_path / QUEUE).read_text()
