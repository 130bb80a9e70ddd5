"""Typed fast and shown small: no letter is lost, a key answers a question, forms keep in sight what counts."""

from __future__ import annotations

import pytest
from team_console.store.service import sending
from team_console.store.service.caller import Caller
from team_console.widgets.forms import Compose
from textual.events import Key

from tests.console.conftest import AUTHOR, LEAD, Desk, letter, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def type_at_once(desk: Desk, text: str) -> None:
    """Keys that are there before the first of them has acted."""
    for sign in text:
        desk.app.post_message(Key("slash" if sign == "/" else sign, sign))


async def test_no_letter_of_a_filter_is_lost_and_the_next_one_begins_empty(team: MemoryTeam) -> None:
    for words in ("Export the month", "Split the loader"):
        letter(team, words, "x")
    async with opened(team) as desk:
        await desk.until(desk.can_act, "a screen to act on")
        type_at_once(desk, "/export")
        await desk.shows("/ export")
        await desk.press("enter")
        assert len(desk.rows) == 1
        type_at_once(desk, "/load")
        await desk.shows("/ load")


async def test_a_answers_a_question_and_leaves_its_bulk_verdict_alone(team: MemoryTeam) -> None:
    ask = Caller(team, AUTHOR)
    fields = {"question": "Is the release still planned for Thursday?", "context": "The audit is late."}
    sending.send(ask, to=LEAD, type="clarify", payload=fields)
    async with opened(team) as desk:
        await desk.shows("a answer…")
        await desk.press("a")
        assert isinstance(await desk.form(), Compose)
        assert "Is the release still planned" in desk.text
