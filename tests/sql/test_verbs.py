"""The command line on a team in SQL: the same verbs, the same results, the same errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine, next_line
from tests.sql.test_foreign import execute

pytestmark = pytest.mark.slow


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return CommandLine(folder)


def test_a_plan_is_handed_in_rejected_revised_and_approved(place: str, line: CommandLine) -> None:
    first = line.ok("-t", place, "--as", "architect", "plan", "--content", "1. Split", "--json").json["request_id"]
    assert [item["request_id"] for item in line.ok("-t", place, "requests", "--open", "--json").json["requests"]] == [
        first
    ]
    line.ok("-t", place, "reject", first, "--reason", "add tests")
    refused = line("-t", place, "approve", first, "--json")
    assert (refused.status, refused.json["error"]) == (1, "ALREADY_ANSWERED")
    got = line.ok("-t", place, "receive", "--agent", "architect", "--json").json
    assert got["messages"][0]["payload"]["content"] == "add tests"
    second = line.ok("-t", place, "--as", "architect", "plan", "--content", "2. Test", "--json").json["request_id"]
    line.ok("-t", place, "approve", second)
    states = {item["request_id"]: item["state"] for item in line.ok("-t", place, "requests", "--json").json["requests"]}
    assert states == {first: "rejected", second: "approved"}


def test_looking_verbs_work(place: str, line: CommandLine) -> None:
    line.ok("-t", place, "broadcast", "--summary", "The sprint begins today now", "--content", "Go.", "--yes")
    line.ok("-t", place, "receive", "--agent", "architect")
    assert line.ok("-t", place, "status", "--json").json["condition"] == "ok"
    roster = {item["name"]: item["unread"] for item in line.ok("-t", place, "roster", "--json").json["agents"]}
    assert (roster["architect"], roster["code_developer"]) == (0, 1)
    assert line.ok("-t", place, "inbox", "code_developer", "--json").json["count"] == 1
    assert "The sprint begins today now" in line.ok("-t", place, "history").out
    assert line.ok("-t", place, "check", "--json").json["findings"] == []


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


def test_a_watch_prints_what_another_process_does(place: str, line: CommandLine) -> None:
    with line.running("-t", place, "watch", "--json") as watch:
        assert "watching" in next_line(watch.stderr)
        line.ok("-t", place, "send", "--to", "architect", "--type", "spec_ready", "--id", "msg-1")
        assert "msg-1" in next_line(watch.stdout)


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


def test_read_only_shows_and_refuses(place: str, line: CommandLine) -> None:
    assert line.ok("-t", place, "--read-only", "status", "--json").json["read_only"] is True
    refused = line("-t", place, "--read-only", "send", "--to", "architect", "--type", "spec_ready")
    assert refused.status == 5


def test_a_team_that_cannot_be_reached_is_an_error_and_not_empty(line: CommandLine) -> None:
    for location in ("postgresql://nobody@127.0.0.1:1/none", str(line.folder / "none.db")):
        result = line("-t", location, "inbox", "architect", "--json")
        assert result.status in (1, 4)
        assert result.json["error"] in ("STORE_UNREADABLE", "TEAM_NOT_FOUND")
        assert "Traceback" not in result.err


def test_a_folder_with_a_database_only_is_no_team_but_its_database_is(place: str, line: CommandLine) -> None:
    if "://" in place:
        assert line.ok("-t", place, "status", "--json").json["backend"] == "sql"
        return
    assert line.ok("-t", f"sqlite:///{place}", "status", "--json").json["backend"] == "sql"
