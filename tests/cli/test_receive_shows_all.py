"""Nothing is consumed unseen: `receive` prints every word it takes and names whatever it leaves behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from tests.cli.test_receive import record
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow


def test_a_message_in_drop_is_counted_and_taken_in_by_receive_and_deliver(team: CommandLine) -> None:
    def drop(number: int, to: str) -> None:
        folder: Path = team.folder / "drop"
        folder.mkdir(exist_ok=True)
        (folder / ".hidden").write_text(yaml.safe_dump(record(number, to=to)))
        os.rename(folder / ".hidden", folder / f"{number}.yaml")

    drop(1, "ceo")
    status = team.ok("status", "--json").json
    assert (status["dropped"], [need["message_id"] for need in status["needs"]]) == (1, ["MSG-1"])
    assert "1 message waits to be taken in" in team.ok("status").out
    assert [row["dropped"] for row in team.ok("roster", "--json").json["agents"] if row["name"] == "ceo"] == [1]
    team.ok("deliver")
    assert team.ok("status", "--json").json["dropped"] == 0
    assert team.ok("inbox", "ceo", "--json").json["count"] == 1
    with team.running("receive", "--agent", "task-manager", "--wait", "60", "--json") as waiting:
        drop(2, "task-manager")
        out, _ = waiting.communicate(timeout=60)
    assert [load["message_id"] for load in json.loads(out)["messages"]] == ["MSG-2"]
    drop(3, "file-manager")
    team.ok("migrate", ".", "copy.db")
    assert team.ok("inbox", "file-manager", "--json", "-t", "copy.db").json["count"] == 1
