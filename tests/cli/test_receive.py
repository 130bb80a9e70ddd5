"""`receive` and `ack`: to the letter of seed 000, without a doubt, and nothing is consumed unseen."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from team_console.console.cli.main import run

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow


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
    shown = team.ok("receive --agent task-manager").out
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
    lines = team.ok("receive --agent task-manager").out.splitlines()
    assert lines[5:7] == ["first line", "  second"]
    assert lines[12:15] == ["TASK-1", "  priority: high", "  task_id: TASK-1"]
    assert lines[20:] == ["message", "---"]


def test_the_result_has_exactly_three_keys_on_every_path(team: CommandLine) -> None:
    nothing = team.ok("receive --agent task-manager --json").json
    assert nothing == {"messages": [], "count": 0, "status_message": "No messages in queue"}
    put(team, record(1, x_custom={"kept": True}))
    other = team.ok("receive --agent file-manager --json").json
    assert other == {"messages": [], "count": 0, "status_message": "No pending messages for file-manager"}
    found = team.ok("receive --agent task-manager --json").json
    assert (found["count"], found["status_message"]) == (1, "Messages for task-manager: 1")
    assert set(found) == {"messages", "count", "status_message"}
    assert found["messages"][0]["x_custom"] == {"kept": True}
    assert found["messages"][0]["status"] == "read"
    for words in (("--limit", "many"), ("--no-such-option",), ("-t", "/nowhere")):
        refused = team("receive --agent task-manager --json", *words).json
        assert (refused["messages"], refused["count"], refused["status_message"]) == ([], 0, refused["message"])


QUEUE = "message-queue.yaml"
SETTINGS = "messenger-config.yaml"
SEND = ("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now." * 99)


@pytest.fixture
def busy(team: CommandLine) -> Path:
    """The folder of a team whose queue is too long to be read just so, all of it for one agent, and understood once."""
    entry = "- message_id: M-{}\n  type: message\n  from: ceo\n  to: file-manager\n  payload:\n    content: {}\n"
    text = "".join(entry.format(number, "word " * 99 + "end") for number in range(200))
    (team.folder / QUEUE).write_text(f"messages:\n{text}")
    team.ok(*SEND)
    team.ok("receive --agent task-manager")
    return team.folder


def receive(folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What `receive` warns of for an agent without a message."""
    capfd.readouterr()
    assert run(["-t", str(folder), "receive", "--agent", "task-manager"]) == 0
    out, error = capfd.readouterr()
    assert out == "No pending messages for task-manager\n"
    return error


def test_a_message_that_somebody_took_out_is_warned_of(busy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (busy / QUEUE).write_text("messages: []\n")
    capfd.readouterr()
    assert run(["-t", str(busy), "receive", "--agent", "task-manager", "--peek"]) == 0
    assert "another program took 201 messages out" in capfd.readouterr().err


@cases
def test_settings_that_are_lost_or_not_understood_are_warned_of(
    busy: Path, capfd: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (busy / SETTINGS).write_text(text)
    assert said in receive(busy, capfd)


def test_a_message_in_drop_ends_a_wait(team: CommandLine) -> None:
    folder = team.folder / "drop"
    folder.mkdir()
    with team.running("receive --agent task-manager --wait 60 --json") as waiting:
        (folder / ".hidden").write_text(yaml.safe_dump(record(2)))
        os.rename(folder / ".hidden", folder / "2.yaml")
        out, _ = waiting.communicate(timeout=60)
    assert [load["message_id"] for load in json.loads(out)["messages"]] == ["MSG-2"]
