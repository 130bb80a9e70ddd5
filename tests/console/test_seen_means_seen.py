"""What is decided stands there whole: the request, all of its choices and evidence, and whatever is decided with it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from team_console.console.tui import background, evidence, pending_decisions
from team_console.store.service import asking, sending
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent
from team_console.store.views.evidence import Evidence
from team_console.widgets.detail import Detail
from team_console.widgets.many_form import ManyForm

from tests.console.conftest import (
    AUTHOR,
    LEAD,
    WAIT,
    Clock,
    Desk,
    ask_permission,
    hand_in_plan,
    opened,
    rewrite,
    three_plans,
    verdicts,
)
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import team_of

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_evidence_that_cannot_be_looked_for_takes_nothing_else_with_it(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object) -> Evidence:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(evidence, "runs_of", fails)
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.reads("it could not be looked for")
        await desk.approves(team)
    assert verdicts(team)[0].payload["evidence"] == ["evidence: not known: it could not be looked for [this console]"]


async def test_in_the_form_of_several_nothing_is_cut_and_what_differs_is_marked(team: MemoryTeam) -> None:
    for name in ("alpha", "beta", "gamma"):
        ask_permission(team, f"python3 tools/migrate.py --table customers_of_the_north --only {name} --verbose")
    async with opened(team, size=(80, 30)) as desk:
        await desk.shows("3 alike")
        form = await desk.asks("a")
        items = form.query_one("#items", Detail)
        words = [text for line in items._lines for text, tone in line if tone == "hit"]
        assert words == ["alpha", "beta", "gamma"]
        told = " ".join("".join(text for text, _ in line).strip() for line in items._lines)
        assert told.count("--verbose") == 3
        assert "…" not in told


TABLE = "CREATE TABLE orders (\n  id uuid,\n  placed timestamptz\n);"
DOCUMENTS = "db.orders.insertOne({\n  _id: 1\n})"


def ask(team: MemoryTeam, *questions: dict[str, Any], **more: Any) -> str:
    """A question; its id."""
    asked = asking.ask_question(Caller(team, AUTHOR), questions=questions, **more)
    assert asked.request_id is not None
    return asked.request_id


def database(**more: Any) -> dict[str, Any]:
    """A question with two options, of which the first has a preview."""
    options = [{"label": "PostgreSQL", "description": "Relational", "preview": TABLE}, {"label": "MongoDB", **more}]
    return {"question": "Which database?", "header": "Database", "multiSelect": False, "options": options}


@pytest.mark.parametrize("key", ["preview", "markdown"])
async def test_previews_stand_below_their_options_and_are_counted(team: MemoryTeam, key: str) -> None:
    ask(team, database(**{key: DOCUMENTS}))
    async with opened(team) as desk:
        await desk.reads("1. PostgreSQL — Relational\n", "│   id uuid,\n", "2. MongoDB\n", "│ db.orders.insertOne({\n")
        lines = desk.detail.split("\n")
        first, second = lines.index("1. PostgreSQL — Relational"), lines.index("2. MongoDB")
        assert lines[first + 1 : first + 5] == [f"│ {line}" for line in TABLE.split("\n")]
        assert lines[second + 1].startswith("│ db.orders")
        detail = desk.app.main.pane.detail
        (token,) = (detail.document.token,) if detail.document is not None else ("",)
        await desk.until(lambda: bool(detail.painted_before[token].text_lines >= 9), "nine lines and more")


ODD: list[dict[str, Any]] = json.loads(Path(__file__).with_name("odd_questions.json").read_text(encoding="utf-8"))
"""A question with fields that nobody expected, and the words in which they are shown."""


@pytest.mark.parametrize("odd", ODD, ids=[odd["shown"][0][:20] for odd in ODD])
async def test_every_field_of_a_question_is_shown(team: MemoryTeam, odd: dict[str, Any]) -> None:
    request_id = ask(team, database())
    (asked,) = (message for message in team.snapshot().messages if message.request_id == request_id)
    rewrite(team, asked.message_id, questions=[odd["question"]])
    async with opened(team, size=(120, 60)) as desk:
        await desk.reads("Which database?")
        flat = desk.detail.replace("\n", "").replace(" ", "")
        assert all(text.replace(" ", "") in flat for text in odd["shown"]), desk.detail


LAST = "and then the backups are deleted"
LONG = "A plan of many words.\n" * 5_000 + LAST


class SlowShelf(MemoryTeam):
    """Gives contents out only when the test says so, and perhaps others than were stored."""

    gate: threading.Event
    swapped = b""

    def attachment(self, reference: str) -> bytes:
        self.gate.wait(10)
        return self.swapped or super().attachment(reference)


@pytest.fixture
def cache(clock: Clock) -> SlowShelf:
    team = SlowShelf(config=team_of(Agent(AUTHOR, plan_mode_required=True)), clock=clock)
    team.gate = threading.Event()
    return team


async def test_a_long_plan_can_be_decided_only_when_all_of_it_is_there(cache: SlowShelf) -> None:
    hand_in_plan(cache, content=LONG)
    async with opened(cache) as desk:
        await desk.reads("Only the beginning is shown")
        await desk.press("a")
        await desk.tells("full text is still loading")
        assert desk.front is desk.app.main
        cache.gate.set()
        await desk.until(lambda: "Only the beginning" not in desk.detail, "all of it")
        await desk.performs("raw")
        ends = ("more characters are not shown here", LAST)
        await desk.until(lambda: any(words in desk.detail for words in ends), "its end, which is laid out later")
        await desk.calm()
        await desk.asks("a")


async def test_a_text_that_could_not_be_read_is_read_again(cache: SlowShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_FETCH_AGAIN", 0.0)
    cache.gate.set()
    hand_in_plan(cache, content=LONG)
    kept = dict(cache._state.attachments)
    cache._state.attachments.clear()
    async with opened(cache) as desk:
        await desk.tells("no attachment")
        cache._state.attachments.update(kept)
        desk.app._tick()
        await desk.until(lambda: not desk.app.main.context().selection.incomplete, "all of it")
        assert sum("no attachment" in toast for toast in desk.toasts) == 1


async def test_a_stored_content_that_was_changed_is_not_shown_as_the_message(cache: SlowShelf) -> None:
    cache.swapped = b"Something else entirely"
    cache.gate.set()
    sending.send(Caller(cache, AUTHOR), to=LEAD, summary="The report is ready for reading", content=LONG)
    async with opened(cache) as desk:
        await desk.tells("is not what the message says")
        await desk.reads("Only the beginning is shown")
        assert "Something else entirely" not in desk.detail


def held_at_the_second(patch: pytest.MonkeyPatch, name: str) -> Event:
    """Have the console's own `name` wait at the second act until the event is set."""
    go_on, calls = Event(), list[None]()
    step: Callable[..., Any] = getattr(pending_decisions, name)

    def held(*arguments: Any) -> Any:
        calls.append(None)
        assert len(calls) != 2 or go_on.wait(WAIT)
        return step(*arguments)

    patch.setattr(pending_decisions, name, held)
    patch.setattr(pending_decisions, "_PACE", 0.0)
    return go_on


async def hand_in(desk: Desk, words: str) -> ManyForm[Any]:
    """Approve all plans with `words`."""
    await desk.looks_through()
    form = await desk.asks("asterisk", "a")
    assert isinstance(form, ManyForm)
    await desk.press("n")
    await desk.type(words)
    await desk.press("enter")
    return form


async def test_writing_many_at_once_is_stopped_between_two_and_each_says_what_became_of_it(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = held_at_the_second(monkeypatch, "_try_write")
    three_plans(team)
    async with opened(team) as desk:
        await hand_in(desk, "go on")
        await desk.until(lambda: "writing 1 of 3" in desk.said, "how far it is")
        await desk.press("escape")
        go_on.set()
        await desk.tells("2 requests approved")
        assert any("Not written: 1 decision" in toast and "writing 2 of 3" in toast for toast in desk.toasts)
        assert len(verdicts(team)) == 2
