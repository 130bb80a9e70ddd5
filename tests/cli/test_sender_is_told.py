"""The command line tells the sender: JSON lines, previews, templates, and what is wanted on standard input."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

CREATE = {"agent_type": "story-creator", "role_hint": "Story creator", "requested_by": "slave-1"}
SUMMARY = "A summary of five words"


@pytest.fixture
def sprint(make_team: Callable[..., CommandLine]) -> CommandLine:
    return make_team("scrum-master:resident", "debugger:resident", "slave-1:slave")


def ask(team: CommandLine, kind: str, **body: object) -> str:
    """The slave asks the lead; the id of its message."""
    words = ("--to", "ceo", "--type", kind, "--summary", SUMMARY, "--payload", json.dumps(body))
    return str(team.ok("send", "--as", "slave-1", *words, "--json").json["message_id"])


def test_a_new_agent_is_previewed_and_named(sprint: CommandLine) -> None:
    request_id = ask(sprint, "AGENT_CREATE_REQUEST", **CREATE)
    foreseen = sprint.ok("approve", request_id, "--agent-name", "dev-7", "--dry-run")
    assert foreseen.out == "dev-7 is created; AGENT_CREATED goes to slave-1, the roster to scrum-master, debugger\n"
    result = sprint.ok("approve", request_id, "--agent-name", "dev-7")
    assert "dev-7 is created; told: slave-1, scrum-master, debugger" in result.out
    assert "dev-7" in {row["name"] for row in sprint.ok("roster", "--json").json["agents"]}


def test_what_was_read_and_not_answered_is_listed(make_team: Callable[..., CommandLine]) -> None:
    team = make_team("a1", "a2")
    asked = team.ok("send", "--to", "a1", "--content", "c", "--summary", SUMMARY, "--json").json["message_id"]
    assert team.ok("inbox", "a1", "--unanswered", "--json").json["count"] == 0
    team.ok("receive", "--agent", "a1")
    [owed] = team.ok("inbox", "a1", "--unanswered", "--json").json["messages"]
    assert owed["message_id"] == asked
    assert "1 read and not answered" in team.ok("roster").out
    team.ok("send", "--as", "a1", "--in-reply-to", asked, "--template", "acknowledge")
    assert team.ok("inbox", "a1", "--unanswered").out == "a1 has answered everything it has read\n"
