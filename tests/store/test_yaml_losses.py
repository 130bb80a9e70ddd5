"""A queue that somebody else rolled back says so before the next write heals it (cases 16, 31, 32)."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.yaml.healing import ExpectedQueue
from team_console.store.backends.yaml.snapshot import Losses
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import Condition, Snapshot
from team_console.store.model.errors import Problem

from tests.equipment.yaml_folder import (
    HOLD,
    QUEUE,
    everything_in,
    is_rolled_back,
    make_message,
    notices,
    open_yaml,
    process,
    put,
    queue_of,
    receive,
    remove,
    replace_by_rename,
    states,
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


def _doubt(snapshot: Snapshot) -> Problem:
    assert snapshot.doubt is not None
    return snapshot.doubt


@pytest.mark.parametrize("source", ["memory", "generation before", "ledger"])
def test_a_cut_queue_says_how_many_messages_are_missing_until_it_is_healed(tmp_path: Path, source: str) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    put(team, make_message(3), make_message(4))
    team.snapshot()
    if source == "ledger":
        (tmp_path / f"{QUEUE}.prev").unlink()
    _cut(tmp_path, after=1)
    seen = (team if source == "memory" else open_yaml(tmp_path)).snapshot()
    assert (seen.condition, is_rolled_back(seen), seen.missing) == (Condition.OK, True, _ids(2, 3, 4))
    assert (_doubt(seen).severity, "3 messages" in _doubt(seen).message) == ("error", True)
    assert "check --heal" in _doubt(seen).hint
    assert notices(open_yaml(tmp_path)) == {"HEALED_LOST"}
    healed = team.snapshot()
    assert (healed.doubt, healed.missing, sorted(states(team))) == (None, frozenset(), ["01", "02", "03", "04"])


def test_a_queue_emptied_by_another_program_is_in_doubt(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    (tmp_path / QUEUE).write_bytes(b"messages: []\n")
    seen = open_yaml(tmp_path).snapshot()
    assert (seen.condition, seen.missing) == (Condition.EMPTY, _ids(1))
    assert is_rolled_back(seen)


def test_a_state_put_back_is_told_and_a_read_message_that_left_is_no_loss(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    old = (tmp_path / QUEUE).read_bytes()
    receive(team)
    replace_by_rename(tmp_path / QUEUE, old)
    seen = open_yaml(tmp_path).snapshot()
    assert (seen.missing, "2 messages back to an earlier state" in _doubt(seen).message) == (frozenset(), True)
    notices(team)
    replace_by_rename(tmp_path / QUEUE, queue_of())
    assert open_yaml(tmp_path).snapshot().doubt is None


def test_a_message_cut_in_the_middle_of_its_text_is_told_and_made_whole(tmp_path: Path) -> None:
    content = "1. Split the loader\n2. Test it\n3. Delete the old one\n"
    plan = make_message(2, payload={"request_id": "plan-1", "content": content})
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    put(team, plan)
    data = (tmp_path / QUEUE).read_bytes()
    place = data.index(b"2. Test it\n") + len(b"2. Test it\n")
    (tmp_path / QUEUE).write_bytes(data[:place])
    seen = open_yaml(tmp_path).snapshot()
    assert seen.messages[-1].content.endswith("2. Test it\n")
    assert "cut 1 message short" in _doubt(seen).message
    assert notices(open_yaml(tmp_path)) == {"HEALED_CUT"}
    assert team.snapshot().messages[-1].record == plan.record


def test_what_another_program_only_added_to_is_not_in_doubt(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    replace_by_rename(tmp_path / QUEUE, queue_of(make_message(1), make_message(2)))
    seen = open_yaml(tmp_path).snapshot()
    assert (seen.doubt, [problem.code for problem in seen.problems]) == (None, ["UNLOCKED_WRITE"])


@pytest.mark.parametrize("harm", ["gone", "emptied", "no text"])
def test_without_a_ledger_to_compare_with_it_is_said_that_nothing_is_sure(tmp_path: Path, harm: str) -> None:
    put(open_yaml(tmp_path), make_message(1), make_message(2))
    audit = tmp_path / "audit.jsonl"
    audit.unlink()
    if harm != "gone":
        audit.write_bytes(b"" if harm == "emptied" else b"\xff\0\n")
    _cut(tmp_path, after=1)
    seen = open_yaml(tmp_path).snapshot()
    assert (_doubt(seen).code, is_rolled_back(seen), seen.missing) == ("FOREIGN_WRITE", False, frozenset())
    assert "not known whether messages are missing" in _doubt(seen).hint


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


def test_a_damaged_ledger_makes_no_loss_of_what_is_safe_in_an_archive(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    remove(team, 1)
    put(team, make_message(3))
    audit = tmp_path / "audit.jsonl"
    lines = audit.read_bytes().splitlines(keepends=True)
    audit.write_bytes(lines[0] + b"\0" * len(lines[1][:-1]) + b"\n" + lines[2])
    (tmp_path / f"{QUEUE}.prev").unlink()
    replace_by_rename(tmp_path / QUEUE, (tmp_path / QUEUE).read_bytes())
    assert open_yaml(tmp_path).snapshot().doubt is None


def test_a_look_at_a_rolled_back_queue_changes_nothing(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1), make_message(2))
    _cut(tmp_path, after=1)
    before = everything_in(tmp_path)
    assert is_rolled_back(open_yaml(tmp_path, read_only=True).snapshot())
    assert everything_in(tmp_path) == before


def test_a_foreign_write_is_compared_once_and_our_own_writes_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look, expected = Losses.look, ExpectedQueue.expected
    monkeypatch.setattr(Losses, "look", lambda *given: looks.append("look") or look(*given))  # type: ignore[func-returns-value]
    monkeypatch.setattr(ExpectedQueue, "expected", lambda self: looks.append("account") or expected(self))  # type: ignore[func-returns-value]
    watcher, writer = open_yaml(tmp_path), open_yaml(tmp_path)
    for number in range(1, 4):
        put(writer, make_message(number))
        assert len(watcher.snapshot().messages) == number
    assert looks == []
    _cut(tmp_path, after=1)
    cold = open_yaml(tmp_path)
    _look_often(cold)
    assert looks.count("account") == 1


def _look_often(team: YamlTeam) -> None:
    for _ in range(3):
        assert is_rolled_back(team.snapshot())
