"""`receive` and `ack`: the display and the three-key result of seed 000 to the letter, waiting, leases."""

from __future__ import annotations

import pytest
import yaml

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

SUMMARY = "State of the export job please"


def put(team: CommandLine, *records: dict[str, object]) -> None:
    """Write records as somebody else would."""
    (team.folder / "message-queue.yaml").write_text(yaml.safe_dump({"messages": list(records)}), encoding="utf-8")


def record(number: int, **more: object) -> dict[str, object]:
    """A pending message to task-manager."""
    return {
        "message_id": f"MSG-{number}",
        "type": "message",
        "from": "schedule-manager",
        "to": "task-manager",
        "priority": "medium",
        "created": f"2026-02-24T10:30:{number:02}.000Z",
        "status": "pending",
        "payload": {"content": f"content {number}", "summary": f"summary {number}"},
        **more,
    }


def test_the_display_is_that_of_the_source(team: CommandLine) -> None:
    put(team, record(2), record(1), record(3, priority="critical", type="escalate"))
    shown = team.ok("receive", "--agent", "task-manager").out
    blocks = (
        f"---\n[{priority}] {kind} from schedule-manager\nID: MSG-{number}\n"
        f"Received: 2026-02-24T10:30:0{number}.000Z\nsummary {number}\n  content {number}\n---\n"
        for number, priority, kind in ((3, "critical", "escalate"), (1, "medium", "message"), (2, "medium", "message"))
    )
    assert shown == "Messages for task-manager: 3\n" + "".join(blocks)


def test_the_payload_line_is_the_summary_or_the_first_line_or_the_telling_field_or_the_kind(team: CommandLine) -> None:
    put(
        team,
        record(1, payload={"content": "\n first line\nsecond"}),
        record(2, payload={"task_id": "TASK-1", "priority": "high"}),
        record(3, payload=None),
    )
    lines = team.ok("receive", "--agent", "task-manager").out.splitlines()
    assert lines[5:7] == ["first line", "  second"]
    assert lines[12:15] == ["TASK-1", "  priority: high", "  task_id: TASK-1"]
    assert lines[20:] == ["message", "---"]


def test_the_result_has_exactly_three_keys_on_every_path(team: CommandLine) -> None:
    nothing = team.ok("receive", "--agent", "task-manager", "--json").json
    assert nothing == {"messages": [], "count": 0, "status_message": "No messages in queue"}
    put(team, record(1, x_custom={"kept": True}))
    other = team.ok("receive", "--agent", "file-manager", "--json").json
    assert other == {"messages": [], "count": 0, "status_message": "No pending messages for file-manager"}
    found = team.ok("receive", "--agent", "task-manager", "--json").json
    assert (found["count"], found["status_message"]) == (1, "Messages for task-manager: 1")
    assert set(found) == {"messages", "count", "status_message"}
    assert found["messages"][0]["x_custom"] == {"kept": True}
    assert found["messages"][0]["status"] == "read"
    for words in (("--limit", "many"), ("--no-such-option",), ("-t", "/nowhere")):
        refused = team("receive", "--agent", "task-manager", "--json", *words).json
        assert (refused["messages"], refused["count"], refused["status_message"]) == ([], 0, refused["message"])
