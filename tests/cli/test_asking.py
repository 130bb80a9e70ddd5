"""`ask`, `answer`, `verdict`, `withdraw` and the waits of shell scripts: one request each, woken by its verdict."""

from __future__ import annotations

import pytest
from team_console.console.cli.chosen import answers_from
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.client_requests import Option, Question

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

ME = ("--as", "task-manager")


def ask(team: CommandLine) -> str:
    """Ask a question with two options; its request id."""
    return team.ok(*ME, "ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL").out.strip()


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


@cases
def test_what_names_no_question_or_no_option_is_refused(options: list[str], texts: list[str], code: Code) -> None:
    with pytest.raises(TeamError) as caught:
        answers_from((DB, SIZE), options, texts)
    assert caught.value.code is code
