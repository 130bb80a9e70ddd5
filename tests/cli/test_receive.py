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
