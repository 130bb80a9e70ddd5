"""Requests of one cause, what was decided on the same before, several decided at once, and how long agents waited."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from team_console.store.model.clock import to_text
from team_console.store.model.safe import safe_line
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.titles import said_in, summary_of
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.alike import causes_of, decided_before, outcome_of, simple_words
from team_console.store.views.roster import blocked_times
from team_console.store.views.rows import RequestRow

from tests.equipment.cases import cases, constant
from tests.equipment.teams import START, make_message

pytestmark = pytest.mark.slow


def asked(
    number: int, tool: str, given: dict[str, Any], *, after: float = 0.0, agent: str = "a1", **more: Any
) -> RequestRow:
    """A permission that was approved ten seconds after it was asked; `more` are further fields of it."""
    at = START + timedelta(seconds=after or number * 60)
    given_id, later = {"request_id": f"p-{number}"}, at + timedelta(seconds=10)
    payload = {**given_id, "tool": tool, "input": given, **more}
    made, said = partial(make_message, number, created=to_text(at)), partial(make_message, number + 1000)
    question = made(type="permission_request", sender=agent, to="ceo", payload=payload)
    yes = {**given_id, "approve": True}
    answer = said(type="permission_response", sender="ceo", to=agent, payload=yes, created=to_text(later))
    return judge([question, answer], TeamConfig(lead="ceo"), None, at)[question]


PLACE = "/srv/atlas"


def cases_of(*inputs: dict[str, Any], tool: str = "Bash", **more: Any) -> list[str]:
    """What each of some permissions has in common with those that are alike, in the order of `inputs`."""
    rows = [asked(number, tool, given, **more) for number, given in enumerate(inputs, start=1)]
    causes = causes_of(rows)
    return [causes[row.key] for row in rows]


@cases
def test_everything_else_is_alike_only_where_it_is_equal(command: str, other: str) -> None:
    first, second = cases_of({"command": command}, {"command": other})
    assert first != second


def test_what_stands_beside_the_command_makes_another_request() -> None:
    plain = {"command": "make a", "description": "Build it"}
    others: list[dict[str, Any]] = [
        {"command": "make b", "dangerouslyDisableSandbox": True},
        {"command": "make c", "run_in_background": 1},
        {"command": "make d", "run_in_background": True},
        {"command": ["make", "e"]},
    ]
    causes = cases_of(plain, {"command": "make z", "description": "Build the other"}, *others)
    assert causes[0] == causes[1]
    assert len(set(causes)) == 5
    elsewhere, denied = cases_of(plain, directory="/srv/other"), cases_of(plain, denied="by the check")
    assert len({*causes, *elsewhere, *denied, *cases_of(plain, tool="Shell")}) == 8


def test_three_that_differ_by_pairs_in_another_word_are_no_group_of_three() -> None:
    causes = cases_of(*({"command": f"cp {two}"} for two in ("a b", "a c", "d b")))
    assert causes[1] != causes[2]
    assert causes[0] in causes[1:]


def test_a_long_text_is_looked_at_once() -> None:
    assert simple_words("a " * 500_000) == ()
    assert simple_words('"a ' * 300) == ()
    assert simple_words("a '" * 300) == ()


@cases
def test_decided_on_the_same_before_means_equal_input_in_an_equal_folder(
    given: dict[str, Any], change: dict[str, Any]
) -> None:
    same, other = asked(1, "Tool", given), asked(2, "Tool", {**given, **change})
    elsewhere = asked(3, "Tool", given, directory="/srv/other")
    another_tool = asked(4, "Other", given)
    again = asked(5, "Tool", dict(reversed(given.items())))
    assert decided_before(again, [another_tool, elsewhere, other, same]) == [same]


TITLES = constant(__file__, "TITLES", list[tuple[Any, ...]])


@pytest.mark.parametrize(("given", "title"), TITLES, ids=[title for _, title in TITLES])
def test_the_title_of_a_permission_is_made_of_tool_and_input(given: dict[str, Any], title: str) -> None:
    row = asked(1, "T", given, directory=PLACE, summary="T: ls src/3", content="all is well")
    assert row.title == title
    assert said_in(row.question) == summary_of(row.question) == title


def test_the_name_of_a_tool_does_not_hide_its_input() -> None:
    for tool in ("Bash: ls\n", "Bash: ls" + " and more" * 30):
        title = asked(1, tool, {"command": "rm -rf ~/precious"}).title
        assert title.endswith(": rm -rf ~/precious")
        assert len(title) < 110


def test_blocked_time_counts_what_overlaps_once_for_its_agent() -> None:
    rows = [asked(1, "Bash", {"command": "x"}, after=10), asked(2, "Bash", {"command": "y"}, after=15)]
    rows.append(asked(3, "Bash", {"command": "z"}, after=100, agent="a2"))
    blocked = blocked_times(rows, START + timedelta(seconds=500))
    of, team = blocked.agents, blocked.team
    assert (of["a1"].total, of["a1"].median, of["a1"].now, of["a1"].requests) == (15.0, 10.0, None, 2)
    assert (team.total, team.requests) == (25.0, 3)
    late = blocked_times(rows, START + timedelta(seconds=500), since=START + timedelta(seconds=20))
    assert late.agents["a1"].total == 5.0


@cases
def test_what_came_of_a_call_is_told_of_that_call_alone(command: str, subject: str, came: str) -> None:
    approved = asked(1, "Bash", {"command": command})
    why = {"user": "", "agent": "", "calls": [{"tool": "Bash", "subject": safe_line(subject), "state": "exit 1"}]}
    assert outcome_of(approved, [asked(2, "Bash", {"command": "make"}, why=why)]) == came
