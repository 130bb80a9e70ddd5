"""Permissions and questions: asked, answered, edited, withdrawn and timed out, on every kind of team (D20, D21)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code
from team_console.store.model.message import Message
from team_console.store.service import asking, inbox, requests
from team_console.store.views.verdicts import verdict_of

from tests.equipment.asking import DATABASE, agent, ask, lead, plan, question, refusal, row, view
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FACTORIES, START, FakeClock, config

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "npm test *"}],
    "behavior": "allow",
    "destination": "session",
}


@pytest.fixture
def team(tmp_path: Path, clock: FakeClock) -> Iterator[Team]:
    """A team in files, whose ledger tells what was written."""
    with FACTORIES["yaml"](tmp_path, clock) as make:
        yield make()


def verdict(team: Team, request_id: str) -> Message:
    """The answer that stands."""
    message = verdict_of(team, request_id).verdict
    assert message is not None
    return message


@cases
def test_the_part_that_matters_is_edited(team: Team, given: Any, text: str, wanted: Any) -> None:
    request_id = ask(team, tool="T", input=given)
    requests.approve(lead(team), request_id=request_id, updated=text)
    assert verdict(team, request_id).payload.get("updated_input") == wanted


@cases
def test_a_yes_that_does_not_fit_is_refused_with_the_way_out(team: Team, asked: Any, more: Any, hint: str) -> None:
    request_id = ask(team, **asked)
    error = refusal(requests.approve, lead(team), request_id=request_id, **more)
    assert (error.code, hint in error.hint) == (Code.INVALID_FIELD, True)
    assert row(team, request_id).is_open


def test_words_alone_answer_the_only_question_and_decide_no_plan(team: Team) -> None:
    asked = plan(team)
    assert refusal(requests.answer, lead(team), request_id=asked, content="Maybe").code is Code.INVALID_FIELD
    assert row(team, asked).is_open
    request_id = question(team)
    requests.answer(lead(team), request_id=request_id, content="Whichever is there")
    assert verdict(team, request_id).payload["answers"] == {"Which database?": "Whichever is there"}


def test_a_yes_is_no_answer_to_a_question_and_a_refusal_is_one(team: Team) -> None:
    request_id = question(team)
    assert refusal(requests.approve, lead(team), request_id=request_id).code is Code.INVALID_FIELD
    requests.reject(lead(team), request_id=request_id, reason="Decide yourself")
    assert (verdict_of(team, request_id).state, verdict_of(team, request_id).reason) == ("rejected", "Decide yourself")


@cases
def test_a_permission_that_says_nothing_is_refused(team: Team, given: Any) -> None:
    assert refusal(asking.ask_permission, agent(team), **given).code is Code.INVALID_FIELD
    assert team.snapshot().messages == ()


TWICE = {"question": "Which?", "options": [{"label": "a", "preview": "1"}, {"label": "a ", "preview": "2"}]}
"""An answer says the label alone, and what goes back beside it would be of the other option."""
NAMELESS = [{"question": "Which?", "options": ["a", option]} for option in ("", {"label": ""}, {"label": " \u200b"}, 7)]


@pytest.mark.parametrize(
    "questions",
    [
        *((), ({"header": "DB"},), ("Which?",), (DATABASE, DATABASE), ({"question": " \u200b"},), (TWICE,)),
        *((question,) for question in NAMELESS),
    ],
)
def test_questions_that_cannot_be_told_apart_or_ask_nothing_are_refused(team: Team, questions: Any) -> None:
    assert refusal(asking.ask_question, agent(team), questions=questions).code is Code.INVALID_FIELD
    assert team.snapshot().messages == ()


def test_what_the_asker_withdraws_waits_nowhere_and_is_never_approved(any_team: Team) -> None:
    request_id = ask(any_team)
    asking.withdraw(agent(any_team), request_id=request_id, reason="answered in the session")
    assert asking.withdraw(agent(any_team), request_id=request_id, reason="session ended").repeated
    seen = view(any_team)
    assert seen.attention == ()
    assert [item.unread for item in seen.roster if item.name == "ceo"] == [0]
    assert inbox.receive(lead(any_team), agent="ceo").messages == ()
    outcome = verdict_of(any_team, request_id)
    assert (outcome.state, outcome.reason, outcome.verdict) == ("withdrawn", "answered in the session", None)
    error = refusal(requests.approve, lead(any_team), request_id=request_id)
    assert (error.code, error.facts["reason"]) == (Code.INVALID_REQUEST_ID, "answered in the session")


def test_only_the_asker_withdraws_and_it_says_why(team: Team) -> None:
    answered = ask(team)
    requests.approve(lead(team), request_id=answered)
    error = refusal(asking.withdraw, agent(team), request_id=answered, reason="timed out")
    assert (error.code, verdict_of(team, answered).state) == (Code.ALREADY_ANSWERED, "approved")
    error = refusal(asking.ask_permission, lead(team), tool="Bash", input={"command": "ls"})
    assert error.code is Code.NOT_PERMITTED
    request_id = ask(team)
    for caller in (lead(team), agent(team, "file-manager")):
        assert refusal(asking.withdraw, caller, request_id=request_id, reason="x").code is Code.NOT_PERMITTED
    assert refusal(asking.withdraw, agent(team), request_id=request_id, reason=" ").code is Code.MISSING_REASON
    assert refusal(asking.withdraw, agent(team), request_id="nope", reason="x").code is Code.INVALID_REQUEST_ID
    assert row(team, request_id).is_open


def test_a_request_that_expired_is_withdrawn_by_the_clock_alone(any_team: Team, clock: FakeClock) -> None:
    request_id = ask(any_team, expires=START + timedelta(seconds=60))
    assert verdict_of(any_team, request_id).is_open
    clock.advance(60)
    outcome = verdict_of(any_team, request_id)
    assert (outcome.state, outcome.reason) == ("withdrawn", "timed out")
    assert view(any_team).attention == ()
    error = refusal(requests.approve, lead(any_team), request_id=request_id)
    assert (error.code, error.facts["reason"]) == (Code.INVALID_REQUEST_ID, "timed out")


def test_whoever_may_ask_may_take_back(clock: FakeClock) -> None:
    settings = config()
    narrow = replace(settings.agents["task-manager"], may_send=frozenset({"permission_request"}))
    agents = {**settings.agents, "task-manager": narrow}
    team = MemoryTeam(config=replace(settings, agents=agents), clock=clock)
    asking.withdraw(agent(team), request_id=ask(team), reason="session ended")
    assert refusal(question, team).code is Code.NOT_PERMITTED
