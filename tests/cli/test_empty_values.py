"""An empty value, as of a script whose variable is not set, never means everybody, the lead's mail or another team."""

from __future__ import annotations

import pytest

from tests.equipment.command_line import CommandLine


@pytest.fixture
def waiting(team: CommandLine) -> CommandLine:
    """A team with one message for task-manager, none read and none delivered."""
    team.ok("send", "--to", "task-manager", "--id", "m1", "--summary", "One two three four five", "--content", "x")
    return team


def states(team: CommandLine) -> dict[str, str]:
    """Message id -> status, of the whole history."""
    return {message["message_id"]: message["status"] for message in team.ok("history", "--json").json["messages"]}


@pytest.mark.parametrize("given", ["", " ", ","])
def test_deliver_to_nobody_is_not_deliver_to_all(given: str, waiting: CommandLine) -> None:
    result = waiting("deliver", "--to", given, "--json")
    assert (result.status, result.json["error"]) == (1, "MISSING_RECIPIENT")
    assert states(waiting) == {"m1": "pending"}


def test_receive_for_nobody_takes_no_mail_of_whoever_asks(waiting: CommandLine) -> None:
    result = waiting("--as", "task-manager", "receive", "--agent", "", "--json")
    assert (result.status, result.json["error"]) == (1, "INVALID_NAME")
    assert (result.json["messages"], result.json["count"]) == ([], 0)
    assert result.json["status_message"] == result.json["message"]
    assert states(waiting) == {"m1": "pending"}


@pytest.mark.parametrize("more", [("--in-reply-to", "m1"), ("--type", "escalate")])
def test_send_to_nobody_goes_to_nobody(more: tuple[str, str], waiting: CommandLine) -> None:
    words = ("--summary", "One two three four five", "--content", "x")
    result = waiting("--as", "task-manager", "send", "--to", "", *more, *words, "--json")
    assert (result.status, result.json["error"]) == (1, "MISSING_RECIPIENT")
    assert states(waiting) == {"m1": "pending"}


def test_the_current_folder_does_not_become_a_team_of_itself(elsewhere: CommandLine, waiting: CommandLine) -> None:
    before = sorted(path.name for path in elsewhere.folder.iterdir())
    assert elsewhere("init", "", "--json").json["error"] == "USAGE"
    assert elsewhere("migrate", str(waiting.folder), "", "--json").json["error"] == "TEAM_NOT_FOUND"
    joined = elsewhere("-t", str(waiting.folder), "join", "task-manager", "--for", "shell", "--in", "", "--json")
    assert (joined.status, joined.json["error"]) == (1, "TEAM_NOT_FOUND")
    assert sorted(path.name for path in elsewhere.folder.iterdir()) == before
