"""The reader of the audit trail's requests and answers follows the file, whatever is done to it."""

from __future__ import annotations

from pathlib import Path

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import QUEUE, audit_lines, make_message, notices, open_yaml, put, replace_by_rename

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
