"""Permissions and questions: asked, answered, edited, withdrawn and timed out, on every kind of team (D20, D21)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code
from team_console.store.model.message import Message
from team_console.store.service import asking, requests
from team_console.store.views.verdicts import verdict_of

from tests.equipment.asking import DATABASE, agent, ask, lead, question, refusal, row
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FACTORIES, FakeClock, config


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


def test_whoever_may_ask_may_take_back(clock: FakeClock) -> None:
    settings = config()
    narrow = replace(settings.agents["task-manager"], may_send=frozenset({"permission_request"}))
    agents = {**settings.agents, "task-manager": narrow}
    team = MemoryTeam(config=replace(settings, agents=agents), clock=clock)
    asking.withdraw(agent(team), request_id=ask(team), reason="session ended")
    assert refusal(question, team).code is Code.NOT_PERMITTED
