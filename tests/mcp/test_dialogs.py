"""Clients with a dialog of their own (elicitation): asked there while nobody is at a console, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest
from mcp.client import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult
from team_console.store.service import requests
from team_console.store.service.waiting import announce_presence

from tests.conftest import CommandLine
from tests.mcp.conftest import AGENT, LEAD, Place, told

pytestmark = pytest.mark.slow

Content = str | int | float | bool | list[str] | None
QUESTIONS = [
    {
        "question": "Which database?",
        "header": "Database",
        "options": [{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL"}],
    },
    {"question": "Which targets?", "options": [{"label": "Linux"}, {"label": "macOS"}], "multi_select": True},
    {"question": "Which name?"},
]
FILLED: dict[str, Content] = {"answer_1": "PostgreSQL", "answer_2": ["Linux", "macOS"], "answer_3": " loader "}
MODES = ["auto", "legacy"]
"""A client of today, asked in a round of its own, and one of 2025-11-25, asked in the middle of the call."""


class User:
    """The user in front of the client's dialog: answers it, or leaves it open."""

    def __init__(self, answer: ElicitResult | None) -> None:
        self.answer = answer
        self.forms: list[Any] = []
        self.dismissed = False
        self.finish = asyncio.Event()
        self.shown = asyncio.Event()

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        """A form is shown."""
        self.forms.append(params)
        self.shown.set()
        if self.answer is not None:
            return self.answer
        try:
            await self.finish.wait()
        except asyncio.CancelledError:
            self.dismissed = True
            raise
        return ElicitResult(action="accept", content=FILLED)


def asking(
    place: Place,
    mode: str,
    answer: ElicitResult | None,
    *,
    meanwhile: Callable[[User], Awaitable[Any]] | None = None,
    wait: float = 45,
) -> tuple[Any, User]:
    """What the model is told of its questions, and what its user saw."""

    async def ask() -> tuple[Any, User]:
        user = User(answer)
        async with place.inside(mode=mode, elicitation_callback=user) as client:
            call = asyncio.create_task(told(client, "ask_human", questions=QUESTIONS, wait_seconds=wait))
            if meanwhile is not None:
                await user.shown.wait()
                await meanwhile(user)
            return await call, user

    return asyncio.run(asyncio.wait_for(ask(), timeout=60))


def states(place: Place) -> list[tuple[str, str]]:
    """State and reason of every request."""
    return [(row["state"], row["reason"]) for row in place.verb("requests")["requests"]]


@pytest.mark.parametrize("mode", MODES)
def test_the_user_of_the_client_answers_while_nobody_is_at_a_console(mode: str, place: Place) -> None:
    answers, user = asking(place, mode, ElicitResult(action="accept", content=FILLED))
    assert answers["answers"] == {
        "Which database?": "PostgreSQL",
        "Which targets?": ["Linux", "macOS"],
        "Which name?": "loader",
    }
    assert (answers["state"], answers["answered_by"]) == ("answered", "the user of this session")
    assert states(place) == [("withdrawn", "answered in the session")]
    (form,) = user.forms
    assert form.message.splitlines()[:3] == [f"{AGENT} asks:", "Which database?", "- SQLite: a file"]
    fields = form.requested_schema["properties"]
    assert fields["answer_1"]["enum"] == ["SQLite", "PostgreSQL"]
    assert fields["answer_2"]["items"]["enum"] == ["Linux", "macOS"]
    assert form.requested_schema["required"] == ["answer_3"]


def test_own_words_go_before_a_choice(place: Place) -> None:
    answers, _ = asking(place, "auto", ElicitResult(action="accept", content={**FILLED, "words_1": "DuckDB"}))
    assert answers["answers"]["Which database?"] == "DuckDB"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept"),
        ElicitResult(action="accept", content={"answer_1": "SQLite", "answer_3": 3}),
    ],
    ids=["declined", "dismissed", "empty", "in part"],
)
def test_what_is_no_answer_there_leaves_the_question_to_the_console(
    answer: ElicitResult, mode: str, place: Place
) -> None:
    ticket, _ = asking(place, mode, answer)
    assert (ticket["state"], ticket.get("answers")) == ("open", None)
    assert states(place) == [("open", "")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("setting", "console", "dialog"), [("present", True, False), ("always", False, False), ("never", True, True)]
)
def test_the_team_says_who_is_asked(
    setting: str, console: bool, dialog: bool, mode: str, make_team: Callable[..., CommandLine]
) -> None:
    office = make_team(AGENT)
    settings = office.folder / "messenger-config.yaml"
    settings.write_text(f"{settings.read_text()}wait_for_human: {setting}\n")
    place = Place(str(office.folder), office)
    with ExitStack() as stack:
        team = place.team()
        stack.callback(team.close)
        if console:
            stack.enter_context(announce_presence(team))
        _, user = asking(place, mode, ElicitResult(action="decline"), wait=0.01)
    assert bool(user.forms) is dialog


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_at_a_console_that_was_opened_meanwhile_stands(mode: str, place: Place) -> None:
    answers = {"Which database?": "SQLite", "Which targets?": ["Linux"], "Which name?": "saver"}

    async def decide(user: User) -> None:
        (row,) = await asyncio.to_thread(lambda: place.verb("requests", "--open")["requests"])
        await asyncio.to_thread(requests.answer, place.caller(LEAD), request_id=row["request_id"], answers=answers)
        if mode == "auto":  # asked between two calls: the dialog stays until its user is through with it
            user.finish.set()

    verdict, user = asking(place, mode, None, meanwhile=decide)
    assert (verdict["state"], verdict["answers"], verdict["answered_by"]) == ("answered", answers, LEAD)
    assert [state for state, _ in states(place)] == ["answered"]
    assert user.dismissed is (mode == "legacy")


def test_who_wants_only_a_ticket_is_shown_no_dialog(place: Place) -> None:
    ticket, user = asking(place, "auto", ElicitResult(action="accept", content=FILLED), wait=0)
    assert (ticket["state"], user.forms) == ("open", [])


def test_a_dialog_decides_no_plan(place: Place) -> None:
    async def hand_in() -> tuple[Any, User]:
        user = User(ElicitResult(action="accept", content={}))
        async with place.inside(elicitation_callback=user) as client:
            return await told(client, "hand_in_plan", plan="1. Go", wait_seconds=0.01), user

    ticket, user = asyncio.run(hand_in())
    assert (ticket["state"], user.forms) == ("open", [])
    assert states(place) == [("open", "")]
