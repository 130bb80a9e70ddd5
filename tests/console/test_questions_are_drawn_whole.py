"""All that a client asks stands on the page it is decided on: previews, and fields that nobody expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

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
    ask(team, odd["question"])
    async with opened(team, size=(120, 60)) as desk:
        await desk.reads("Which database?")
        flat = desk.detail.replace("\n", "").replace(" ", "")
        assert all(text.replace(" ", "") in flat for text in odd["shown"]), desk.detail


async def test_the_preview_of_the_option_under_the_cursor_stands_whole_in_the_reader(team: MemoryTeam) -> None:
    tall = "\n".join(f"line {number}" for number in range(12))
    options = [{"label": f"Choice {name}", "preview": f"begin {name}\n{tall}\nend {name}"} for name in "ABC"]
    ask(team, {"question": "Which way?", "header": "Way", "options": options})
    async with opened(team) as desk:
        await desk.asks("a")
        for key, name in (("1", "A"), ("3", "C"), ("k", "B"), ("j", "C"), ("1", "A")):
            await desk.press(key)
            await desk.shows(f"│ begin {name}", f"│ end {name}")


@pytest.mark.usefixtures("long_grace")
async def test_the_words_beside_an_option_are_told_until_they_are_written(team: MemoryTeam) -> None:
    ask(team, database())
    async with opened(team) as desk:
        await desk.asks("a")
        await desk.press("1", "tab")
        await desk.type("but smaller")
        await desk.press("enter")
        await desk.shows("PostgreSQL (but smaller)")
