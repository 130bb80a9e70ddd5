"""The reader of the audit trail's requests and answers follows the file, whatever is done to it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from team_console.store.backends.yaml.audit_log import AuditLog, Line, Tip
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.trail import FileReader
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.kinds import KINDS, Family, MessageKind

from tests.equipment.yaml_folder import QUEUE, audit_lines, make_message, notices, open_yaml, put, replace_by_rename

AT = "2026-02-24T10:30:15.123Z"


def plan(number: int) -> dict[str, object]:
    return {
        **{"message_id": f"Q{number}", "type": "plan_approval_request", "from": "a1", "to": "ceo"},
        **{"created": AT, "status": "pending", "payload": {"request_id": f"r{number}", "content": "x" * 300}},
    }


def verdict(number: int, *, approve: bool = True) -> dict[str, object]:
    payload = {"request_id": f"r{number}", "approve": approve}
    return {
        **{"message_id": f"V{number}", "type": "plan_approval_response", "from": "ceo", "to": "a1"},
        **{"created": AT, "status": "pending", "payload": payload},
    }


class Trail:
    """An audit file with a reader that follows it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "audit.jsonl"
        self.ledger = AuditLog(Disk(), self.path)
        self.reader = FileReader(Disk(), self.path)
        self.tip = Tip()

    def write(self, *writes: dict[str, object], action: str = "send", at: str = AT, void: int = 0) -> None:
        line = Line("ceo", action, seq=self.tip.seq + 1, at=at, writes=writes, void=void)
        self.tip = self.ledger.append(line, self.tip, mode=0o600)

    def fresh(self) -> RecordedFacts:
        return FileReader(Disk(), self.path).facts()

    def known(self) -> list[str]:
        """What the following reader knows; a fresh one knows the same."""
        facts, fresh = self.reader.facts(), self.fresh()
        ids = [f"{letter}{number}" for number in range(30) for letter in "QV"]
        assert [item for item in ids if item in facts] == [item for item in ids if item in fresh]
        return [item for item in ids if item in facts]


def test_a_line_that_was_taken_back_and_replaced_is_forgotten(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    before = trail.tip
    trail.write(verdict(1))
    assert trail.known() == ["Q1", "V1"]
    trail.ledger.take_back(before)
    trail.tip = before
    trail.write(plan(2), plan(3))
    assert trail.known() == ["Q1", "Q2", "Q3"]


def test_a_line_that_was_declared_undone_is_forgotten(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    trail.write(verdict(1))
    trail.write(action="undo", void=2)
    assert trail.known() == ["Q1"]


def test_a_torn_end_is_read_once_it_is_whole(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    line = Line("ceo", "approve", seq=2, at=AT, writes=(verdict(1),)).encode(trail.tip.digest)
    with trail.path.open("ab") as file:
        file.write(line[:-20])
    assert trail.known() == ["Q1"]
    with trail.path.open("ab") as file:
        file.write(line[-20:])
    assert trail.known() == ["Q1", "V1"]


def test_another_file_in_its_place_is_read_from_the_beginning(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    assert trail.known() == ["Q1"]
    other = tmp_path / "other"
    other.mkdir()
    theirs = Trail(other)
    theirs.write(plan(7))
    theirs.path.rename(trail.path)
    assert trail.known() == ["Q7"]
    trail.path.unlink()
    assert trail.known() == []


def test_lines_that_are_none_tell_nothing_and_stop_nobody(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    with trail.path.open("ab") as file:
        file.write(b'{"seq": 2, "request": \xff}\nrequest\n{"seq": 3, "writes": [1, null, {"type": "request"}]}\n')
    trail.tip = trail.ledger.tip()
    trail.write(verdict(1))
    assert trail.known() == ["Q1", "V1"]


def test_what_the_drop_folder_brought_is_not_the_desks(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(verdict(1), action="drop")
    trail.write(verdict(2), action="approve")
    facts = trail.fresh()
    assert (facts.is_by_desk("V1"), facts.is_by_desk("V2")) == (False, True)


def test_a_long_trail_is_read_in_blocks_and_lines_longer_than_one(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    for number in range(20):
        trail.write({**plan(number), "note": "y" * 700_000})
    trail.write({**verdict(1), "note": "z" * 9_000_000}, verdict(2))
    assert trail.known()[:6] == ["Q0", "Q1", "V1", "Q2", "V2", "Q3"]
    assert len(trail.known()) == 22


def test_a_clock_set_back_moves_what_was_recorded_before_no_later_than_what_came_after(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    trail.write(plan(2), at="2036-01-01T00:00:00.000Z")
    trail.write(plan(3), at="2026-02-24T10:30:16.000Z")
    facts = trail.fresh()
    orders = [facts.order_of(name, (facts_time(facts, "Q1"), 0.0)) for name in ("Q1", "Q2", "Q3")]
    assert orders == sorted(orders)
    assert orders[1][0] == orders[2][0]


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "renamed"])
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


def facts_time(facts: RecordedFacts, message_id: str) -> datetime:
    fact = facts.get(message_id)
    assert fact is not None
    assert fact.at is not None
    return fact.at


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS.values() if kind.opens or kind.answers or kind.withdraws],
    ids=lambda kind: kind.name,
)
def test_every_kind_that_concerns_a_request_is_found_on_the_trail(tmp_path: Path, kind: MessageKind) -> None:
    trail = Trail(tmp_path)
    body = {"request_id": "r1", "approve": True, "question": "Which?", "agent_name": "dev-1", "agent_type": "dev"}
    payload = {"content": f"{kind.name}: {json.dumps({'msg_type': kind.name, **body})}"}
    is_carried = kind.family is Family.SPRINT
    record = {"message_id": "Q1", "from": "a1", "to": "ceo", "created": AT, "status": "pending"}
    type_and_payload = {"type": "message", "payload": payload} if is_carried else {"type": kind.name, "payload": body}
    trail.write({**record, **type_and_payload})
    assert trail.known() == ["Q1"]
