"""Requests of one cause, what was decided on the same before, several decided at once, and how long agents waited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from team_console.store.model.clock import to_text
from team_console.store.protocol.judgement import judge
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.alike import cause_of, decided_before
from team_console.store.views.blocked import blocked_times
from team_console.store.views.rows import RequestRow

from tests.conftest import CommandLine
from tests.proofs.alike import races
from tests.store.contract import START, make_message

pytestmark = pytest.mark.slow


def asked(number: int, tool: str, given: dict[str, object], *, after: float = 0.0, agent: str = "a1") -> RequestRow:
    """A permission that was approved ten seconds after it was asked."""
    at = START + timedelta(seconds=after or number * 60)
    given_id, later = {"request_id": f"p-{number}"}, at + timedelta(seconds=10)
    payload = {**given_id, "tool": tool, "input": given}
    made, said = partial(make_message, number, created=to_text(at)), partial(make_message, number + 1000)
    question = made(type="permission_request", sender=agent, to="ceo", payload=payload)
    yes = {**given_id, "approve": True}
    answer = said(type="permission_response", sender="ceo", to=agent, payload=yes, created=to_text(later))
    return judge([question, answer], TeamConfig(lead="ceo"), None, at)[question]


PAIRS: tuple[Callable[[str], tuple[str, dict[str, object]]], ...] = (
    lambda name: ("Bash", {"command": f"prog{name} build --target {name}-1"}),
    lambda name: ("Bash", {"command": f"cd /srv/{name} && make{name} -j8 all"}),
    lambda name: ("Edit", {"file_path": f"/srv/{name}.py", "old_string": "a", "new_string": "b"}),
    lambda name: ("WebFetch", {"url": f"https://{name}.example.org/page?q=1", "prompt": "read"}),
)


def test_of_planted_pairs_nearly_all_are_found_and_few_others() -> None:
    planted, second = ([PAIRS[number % 4](f"n{number}") for number in range(40)] for _ in range(2))
    for _, given in second:  # the same thing on something else
        given.update({key: str(given[key]).replace("-1", "-2").replace("q=1", "q=2") for key in given})
    others: list[tuple[str, dict[str, object]]] = [
        ("Bash", {"command": f"tool{number} run{'-x' * (number % 3)} --mode {number}"}) for number in range(60)
    ]
    rows = [asked(number, tool, given) for number, (tool, given) in enumerate([*planted, *second, *others], start=1)]
    known = sorted(rows, key=lambda row: row.answered_at or START, reverse=True)
    found = sum(decided_before(row, known) == [first] for row, first in zip(rows[40:80], rows, strict=False))
    false = sum(bool(decided_before(row, known)) for row in (*rows[:40], *rows[80:]))
    assert found >= 38
    assert false <= 1


@pytest.mark.parametrize(
    ("command", "other", "alike"),
    [
        ("git push origin a", "git push origin b", True),
        ("git push origin a", "git push --force origin a", False),
        ("A=1 pytest -q tests/a", "pytest tests/b -q", True),
        ("npm test", "npm publish", False),
        ("ls; rm -rf x", "ls x", False),
        ("echo 'a", "echo 'b", True),
    ],
)
def test_the_shape_of_a_command_is_its_program_subcommand_and_flags(command: str, other: str, *, alike: bool) -> None:
    causes = [cause_of(asked(number, "Bash", {"command": text})) for number, text in enumerate((command, other), 1)]
    assert (causes[0] == causes[1]) is alike


def test_blocked_time_counts_what_overlaps_once_for_its_agent() -> None:
    rows = [asked(1, "Bash", {"command": "x"}, after=10), asked(2, "Bash", {"command": "y"}, after=15)]
    rows.append(asked(3, "Bash", {"command": "z"}, after=100, agent="a2"))
    of, team = blocked_times(rows, START + timedelta(seconds=500))
    assert (of["a1"].total, of["a1"].median, of["a1"].now, of["a1"].requests) == (15.0, 10.0, None, 2)
    assert (team.total, team.requests) == (25.0, 3)
    of, _ = blocked_times(rows, START + timedelta(seconds=500), since=START + timedelta(seconds=20))
    assert of["a1"].total == 5.0


@pytest.fixture
def office(make_team: Callable[..., CommandLine]) -> CommandLine:
    return make_team("task-manager", "file-manager")


def test_one_verdict_answers_those_that_are_named_each_on_its_own(office: CommandLine) -> None:
    asked = [office.ok("--as", "task-manager", "ask", f"Build {number}?").out.strip() for number in range(3)]
    words = [office.ok("show", request, "--json").json["seen"] for request in asked]
    causes = {row["cause"] for row in office.ok("--as", "ceo", "requests", "--json").json["requests"]}
    assert len(causes) == 1
    several = ("reject", *asked[:2], "--reason", "not today")
    refused = office("--as", "ceo", *several, "--seen", words[0])
    assert refused.status == 2
    done = office.ok("--as", "ceo", *several, *(word for seen in words[:2] for word in ("--seen", seen)))
    assert done.out.count("rejected the question of task-manager") == 2
    rows = {row["request_id"]: row for row in office.ok("--as", "ceo", "requests", "--json").json["requests"]}
    assert [rows[request]["state"] for request in asked] == ["rejected"] * 2 + ["open"]
    before = office.ok("show", asked[2], "--json").json["before"]
    assert before == []  # asked before the others were decided
    later = office.ok("--as", "task-manager", "ask", "Build 9?").out.strip()
    shown = office.ok("show", later, "--json").json["before"]
    assert {row["reason"] for row in shown} == {"not today"}
    assert "decided on the same before" in office.ok("show", later).out


def test_one_that_was_decided_meanwhile_keeps_none_of_the_others(office: CommandLine) -> None:
    asked = [office.ok("--as", "task-manager", "ask", f"Build {number}?").out.strip() for number in range(3)]
    office.ok("--as", "ceo", "reject", asked[1], "--reason", "no")
    done = office("--as", "ceo", "reject", *asked, "--reason", "later")
    assert done.status == 1
    assert "was already" in done.err
    rows = {row["request_id"]: row for row in office.ok("--as", "ceo", "requests", "--json").json["requests"]}
    assert [rows[request]["reason"] for request in asked] == ["later", "no", "later"]


def test_a_verdict_on_what_is_listed_answers_nothing_that_arrives_meanwhile(tmp_path: Path) -> None:
    assert races(3, tmp_path, seed=37) == (0, 0)
