"""The command line on a team in SQL: the same verbs, the same results, the same errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine, next_line
from tests.equipment.statements import execute

pytestmark = pytest.mark.slow


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return CommandLine(folder)


def test_the_router_and_its_desk_work(place: str, line: CommandLine) -> None:
    document = '{"ACTION": "send", "RECIPIENT": "code_developer", "MESSAGE_TYPE": "task_complete", "PAYLOAD": {}}'
    sent = line.ok("-t", place, "route", stdin=document).json
    polled = line.ok("-t", place, "route", stdin='{"ACTION": "poll", "RECIPIENT": "code_developer"}').json
    assert polled["messages"][0]["message_id"] == sent["message_id"]
    assert line.ok("-t", place, "deliver", "--json").json["messages_delivered"] == 1
    execute(place, "UPDATE agent_message SET status = 'failed', retry_count = 3, error_message = 'gone'")
    rows = line.ok("-t", place, "failures", "--json").json["failures"]
    assert [(row["attempts"], row["error_message"]) for row in rows] == [(4, "gone")]
    line.ok("-t", place, "redirect", sent["message_id"], "--to", "architect")
    assert line.ok("-t", place, "receive", "--agent", "architect", "--json").json["count"] == 1


def test_a_watch_calls_nothing_new_that_it_knew_before_an_outage(place: str, line: CommandLine) -> None:
    line.ok("-t", place, "send", "--to", "architect", "--type", "spec_ready", "--id", "msg-1")
    with line.running("-t", place, "watch") as watch:
        assert "watching" in next_line(watch.stderr)
        execute(place, "ALTER TABLE agent_message RENAME TO elsewhere")
        assert "condition ok -> vanished" in next_line(watch.stdout)
        assert "problem VANISHED" in next_line(watch.stdout)
        execute(place, "ALTER TABLE elsewhere RENAME TO agent_message")
        assert "condition vanished -> ok" in next_line(watch.stdout)
        line.ok("-t", place, "send", "--to", "architect", "--type", "spec_ready", "--id", "msg-2")
        assert "new msg-2" in next_line(watch.stdout)
