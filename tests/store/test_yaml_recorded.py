"""The reader of the audit trail's requests and answers follows the file, whatever is done to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.yaml.audit_log import AuditLog, Line, Tip
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.trail import FileReader
from team_console.store.model.recorded import RecordedFacts

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


def test_lines_that_are_none_tell_nothing_and_stop_nobody(tmp_path: Path) -> None:
    trail = Trail(tmp_path)
    trail.write(plan(1))
    with trail.path.open("ab") as file:
        file.write(b'{"seq": 2, "request": \xff}\nrequest\n{"seq": 3, "writes": [1, null, {"type": "request"}]}\n')
    trail.tip = trail.ledger.tip()
    trail.write(verdict(1))
    assert trail.known() == ["Q1", "V1"]


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
