"""`ask`, `answer`, `verdict`, `withdraw` and the waits of shell scripts: one request each, woken by its verdict."""

from __future__ import annotations

import pytest
from team_console.console.cli.chosen import answers_from
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.client_requests import Option, Question

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

ME = ("--as", "task-manager")


def ask(team: CommandLine) -> str:
    """Ask a question with two options; its request id."""
    return team.ok(*ME, "ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL").out.strip()


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
