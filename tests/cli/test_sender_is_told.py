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


def test_the_end_of_a_resident_is_previewed_as_that(sprint: CommandLine) -> None:
    request_id = ask(sprint, "AGENT_DESTROY_REQUEST", agent_name="debugger")
    first, second = sprint.ok("approve", request_id, "--dry-run").out.splitlines()
    assert first == "debugger is a resident"
    assert second.endswith("the roster to scrum-master, when it has answered, or after 15 s")
    result = sprint.ok("approve", request_id)
    assert result.out.startswith(f"approved the end of debugger ({request_id})\n")
    assert "warning: debugger is a resident" in result.err
    [order] = sprint.ok("receive", "--agent", "debugger", "--json").json["messages"]
    assert order["type"] == "shutdown_request"
    assert sprint.ok("receive", "--agent", "slave-1", "--json").json["count"] == 0


def test_sendmessage_takes_json_lines_and_answers_each(sprint: CommandLine) -> None:
    note = {"type": "message", "recipient": "debugger", "content": "c", "summary": SUMMARY}
    lines = [note, {**note, "recipient": "nobody"}, {"type": "broadcast", "content": "c", "summary": SUMMARY}]
    result = sprint("sendmessage", stdin="".join(json.dumps(line) + "\n" for line in lines) + '{"broken}\n')
    assert result.status == 1
    replies = [json.loads(line) for line in result.out.splitlines()]
    assert [reply["success"] for reply in replies] == [True, False, True, False]
    assert replies[1]["error"] == "AGENT_NOT_FOUND"
    assert "line 4" in replies[3]["message"]
    assert len(replies[2]["recipients"]) == 3


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (("sendmessage",), "", "is empty"),
        (("route",), "", "is empty"),
        (("sendmessage",), "{", "line 1 column 2: a name in double quotes is missing"),
        (("sendmessage",), "[1]", "is one JSON object, not a list"),
        (("route",), "{}", "ACTION"),
        (("send", "--to", "debugger", "--payload", "[]", "--json"), "", "--payload is a list, not an object"),
    ],
)
def test_a_mistake_is_named_in_words_of_json(
    sprint: CommandLine, arguments: tuple[str, ...], stdin: str, words: str
) -> None:
    error = sprint(*arguments, stdin=stdin).json
    assert words in error["message"]
    assert "None" not in error["message"]


def test_an_answer_by_template_goes_to_whoever_asked(make_team: Callable[..., CommandLine]) -> None:
    team = make_team("a1", "a2")
    asked = team.ok("send", "--to", "a1", "--content", "c", "--summary", SUMMARY, "--json").json["message_id"]
    reply = ("send", "--as", "a1", "--in-reply-to", asked, "--template")
    assert team.ok(*reply, "acknowledge", "--json").json["recipient"] == "ceo"
    late = team.ok(*reply, "delayed", "--reason", "two tasks are running", "--expected", "in 10 minutes", "--json").json
    assert late["warnings"] == []
    [first, second] = team.ok("receive", "--agent", "ceo", "--json").json["messages"]
    assert first["payload"]["summary"] == "Received, the work on it has begun"
    assert "two tasks are running" in second["payload"]["content"]
    assert "in 10 minutes" in second["payload"]["content"]
    assert team(*reply, "delayed", "--json").json["error"] == "MISSING_REASON"


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
