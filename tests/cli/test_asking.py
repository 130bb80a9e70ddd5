"""`ask`, `answer`, `verdict`, `withdraw` and the waits of shell scripts: one request each, woken by its verdict."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from team_console.console.cli.chosen import answers_from
from team_console.store.api import join_team
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.client_requests import Option, Question

from tests.equipment.command_line import CommandLine, next_line

pytestmark = pytest.mark.slow

ME = ("--as", "task-manager")
RULE = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "npm test *"}], "behavior": "allow"}
TWO = [
    {"question": "Which database?", "header": "DB", "options": [{"label": "SQLite"}, {"label": "PostgreSQL"}]},
    {"question": "Where to?", "header": "To", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": True},
]


def ask(team: CommandLine) -> str:
    """Ask a question with two options; its request id."""
    return team.ok(*ME, "ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL").out.strip()


def permission(team: CommandLine, **more: object) -> str:
    """Ask for a command as a program would; its request id."""
    with join_team(str(team.folder), "task-manager") as agent:
        return agent.ask_permission("Bash", {"command": "npm test"}, suggestions=[RULE], **more).request_id  # type: ignore[arg-type]


def test_a_script_keeps_the_answer_alone_and_is_woken_by_it(team: CommandLine) -> None:
    words = ("ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL", "--wait")
    with team.running(*ME, *words) as waiting:
        request_id = next_line(waiting.stderr).removeprefix("waits for the verdict on ")
        team.ok("answer", request_id, "--option", "PostgreSQL")
        out, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, out.decode()) == (0, "PostgreSQL\n")


def handed_in(team: CommandLine) -> list[dict[str, Any]]:
    """The open plans, once there is one."""
    end = time.monotonic() + 60.0
    while not (plans := team.ok("requests", "--open", "--kind", "plan", "--json").json["requests"]):
        assert time.monotonic() < end, "no plan was handed in"
    return list(plans)


def test_a_wait_is_bound_to_its_own_request(team: CommandLine) -> None:
    with team.running(*ME, "plan", "--content", "1. Go", "--wait", "--json") as waiting:
        other = ask(team)
        team.ok("answer", other, "--option", "1")
        plans = handed_in(team)
        team.ok("reject", plans[0]["request_id"], "--reason", "No tests")
        out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 10
    result = json.loads(out)
    assert (result["request_id"], result["verdict"]["state"], result["verdict"]["reason"]) == (
        plans[0]["request_id"],
        "rejected",
        "No tests",
    )


def test_what_a_wait_printed_is_read_and_what_others_look_at_is_not(team: CommandLine) -> None:
    request_id = ask(team)
    team.ok("answer", request_id, "--option", "sqlite")
    team.ok("verdict", request_id)
    assert team.ok("receive", "--agent", "task-manager", "--peek", "--json").json["count"] == 1
    assert team.ok(*ME, "verdict", request_id, "--wait", "5").out == "SQLite\n"
    assert team.ok("receive", "--agent", "task-manager", "--peek", "--json").json["count"] == 0
    assert team.ok(*ME, "verdict", request_id).out == "SQLite\n"


def test_the_exit_status_tells_yes_no_nothing_yet_and_withdrawn(team: CommandLine) -> None:
    ids = [ask(team) for _ in range(3)]
    assert [team("verdict", request_id, "--timeout", "0").status for request_id in ids] == [11, 11, 11]
    team.ok("answer", ids[0], "--text", "Neither")
    team.ok("reject", ids[1], "--reason", "Decide yourself")
    team.ok(*ME, "withdraw", ids[2], "--reason", "found it")
    results = [team("verdict", request_id, "--wait") for request_id in ids]
    assert [(result.status, result.out) for result in results] == [
        (0, "Neither\n"),
        (10, "rejected: Decide yourself\n"),
        (12, "withdrawn: found it\n"),
    ]


def test_several_questions_are_answered_by_header_and_by_number(team: CommandLine) -> None:
    request_id = team.ok(*ME, "ask", "--questions", "-", stdin=json.dumps(TWO)).out.strip()
    team.ok("answer", request_id, "--option", "db=2", "--option", "B", "--text", "2=And C")
    assert team.ok(*ME, "verdict", request_id).out == "Which database? PostgreSQL\nWhere to? B, And C\n"
    assert team.ok("verdict", request_id, "--json").json["answers"] == {
        "Which database?": "PostgreSQL",
        "Where to?": ["B", "And C"],
    }


def test_a_command_is_edited_before_it_is_allowed(team: CommandLine, tmp_path: Path) -> None:
    request_id = permission(team)
    edited = tmp_path / "command.sh"
    edited.write_text("npm test -- --silent\n", encoding="utf-8")
    result = team.ok("approve", request_id, "--edited", str(edited))
    assert "edited before it was approved" in result.out
    assert team.ok("verdict", request_id, "--json").json["updated_input"] == {"command": "npm test -- --silent"}


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("ask",), 2),
        (("ask", "Which?", "--questions", "[]"), 2),
        (("ask", "--questions", "[{}]"), 1),
        (("ask", "--questions", "[]"), 1),
        (("ask", " "), 1),
        (("ask", "Which?", "--option", "A", "--option", ""), 1),
        (("ask", "--questions", '[{"question": "Which?", "options": ["A", "B"]}]'), 1),
        (("ask", "Which?", "--wait", "-3"), 2),
        (("ask", "Which?", "--expires", "0"), 2),
        (("withdraw", "nobody-asked", "--reason", "x"), 1),
        (("verdict", "nobody-asked", "--wait"), 1),
        (("answer", "nobody-asked", "--option", "x"), 1),
    ],
)
def test_what_cannot_be_done_is_one_error_and_nothing_is_written(
    team: CommandLine, words: tuple[str, ...], status: int
) -> None:
    result = team(*ME, *words, "--json")
    assert (result.status, result.json["success"]) == (status, False)
    assert team.ok("requests", "--json").json["requests"] == []


DB = Question("Which database?", "DB", (Option("SQLite"), Option("PostgreSQL"), Option("a=b")))
SIZE = Question("How many?", "", (Option("2"), Option("1"), Option("SQLite")), several=True)


@pytest.mark.parametrize(
    ("questions", "options", "texts", "wanted"),
    [
        ((DB,), ["a=b"], [], {"Which database?": "a=b"}),
        ((DB,), [], ["x=y"], {"Which database?": "x=y"}),
        ((SIZE,), ["1"], [], {"How many?": ["1"]}),
        ((DB, SIZE), ["DB=sqlite", "2=SQLite"], [], {"Which database?": "SQLite", "How many?": ["SQLite"]}),
        ((DB, SIZE), ["PostgreSQL", "1"], ["2=3"], {"Which database?": "PostgreSQL", "How many?": ["1", "3"]}),
    ],
)
def test_options_are_found_by_label_before_number_and_question(
    questions: tuple[Question, ...], options: list[str], texts: list[str], wanted: object
) -> None:
    assert answers_from(questions, options, texts) == wanted


@pytest.mark.parametrize(
    ("options", "texts", "code"),
    [
        (["SQLite"], [], Code.USAGE),
        ([], ["words"], Code.USAGE),
        (["DB=Oracle"], [], Code.INVALID_FIELD),
        (["9"], [], Code.INVALID_FIELD),
        (["DB=9"], [], Code.INVALID_FIELD),
    ],
)
def test_what_names_no_question_or_no_option_is_refused(options: list[str], texts: list[str], code: Code) -> None:
    with pytest.raises(TeamError) as caught:
        answers_from((DB, SIZE), options, texts)
    assert caught.value.code is code
