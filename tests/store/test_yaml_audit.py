"""The ledger of a YAML team: one line per transaction, chained, durable before the queue; losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from team_console.store.contract.team import Condition
from team_console.store.contract.transaction import ChangedError

from tests.equipment.cases import cases
from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import (
    HOLD,
    QUEUE,
    audit_lines,
    is_rolled_back,
    meanwhile,
    notices,
    open_yaml,
    process,
    replace_by_rename,
    states,
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


@pytest.mark.parametrize("torn", [b'{"seq": 3, "at"', b"\0" * 100, b'{"seq": 3}', b"\n\0\0\n"])
def test_a_torn_last_line_is_moved_aside_and_told(tmp_path: Path, torn: bytes) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    put(team, make_message(2))
    path = tmp_path / "audit.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert notices(open_yaml(tmp_path)) == {"TORN_END"}
    assert path.read_bytes() == whole
    assert [path.read_bytes() for path in tmp_path.glob("audit.jsonl.torn-*")] == [torn]
    put(open_yaml(tmp_path), make_message(3))
    assert all(line.intact for line in team.audit())
    assert states(team) == {"01": "pending", "02": "pending", "03": "pending"}


def test_facts_of_another_shape_never_stop_the_reader(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_bytes(
        b'{"seq": 1, "facts": 7, "writes": {"a": 1}, "changes": [[1]], "sizes": "x", "base": [1, "a", 3], "prev": 0}\n'
    )
    assert [line.facts for line in open_yaml(tmp_path).audit()] == [{}]
    put(open_yaml(tmp_path), make_message(1))
    assert states(open_yaml(tmp_path)) == {"01": "pending"}


AT = "2026-02-24T10:30:15.123Z"


def verdict(number: int, *, approve: bool = True) -> dict[str, object]:
    payload = {"request_id": f"r{number}", "approve": approve}
    return {
        **{"message_id": f"V{number}", "type": "plan_approval_response", "from": "ceo", "to": "a1"},
        **{"created": AT, "status": "pending", "payload": payload},
    }


@cases
def test_a_flipped_answer_is_put_back_and_told(tmp_path: Path, in_place: bool) -> None:
    team = open_yaml(tmp_path)
    verdict = {"type": "plan_approval_response", "payload": {"request_id": "r1", "approve": False, "content": "never"}}
    put(team, make_message(1, **verdict))
    flipped = (tmp_path / QUEUE).read_bytes().replace(b"approve: false", b"approve: true")
    if in_place:
        (tmp_path / QUEUE).write_bytes(flipped)
    else:
        replace_by_rename(tmp_path / QUEUE, flipped)
    assert "ROLLED_BACK" in {problem.code for problem in team.snapshot().problems}
    assert "HEALED_ANSWER" in notices(open_yaml(tmp_path))
    assert team.snapshot().messages[0].payload["approve"] is False
    assert audit_lines(tmp_path)[-1]["action"] == "heal"


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
