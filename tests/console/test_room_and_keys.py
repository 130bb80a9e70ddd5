"""What a list and a form leave room for, and which keys the last line names."""

from __future__ import annotations

import pytest
from team_console.widgets.fields import Note

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_a_list_without_rows_takes_the_room_of_the_detail_until_there_is_one(team: MemoryTeam) -> None:
    async with opened(team, size=(60, 20)) as desk:
        pane = desk.app.main.pane
        await desk.shows("Y copies")
        assert pane.detail.region.height == 0
        hand_in_plan(team)
        await desk.shows("1. Split")


async def test_while_words_to_filter_by_are_typed_the_last_line_names_their_keys(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.shows("a approve")
        await desk.press("slash")
        await desk.shows("enter keep these rows")
        assert "approve…" not in desk.text
        await desk.press("escape")
        await desk.shows("a approve")


async def test_a_conversation_names_its_topic_once_a_draft_goes_on_and_a_letter_can_be_urgent(
    team: MemoryTeam,
) -> None:
    hand_in_plan(team, "Refactor the report generator now")
    async with opened(team) as desk:
        await desk.press("c")
        await desk.shows("1. Split")
        assert desk.text.count("Refactor the report generator now") == 1
        await desk.press("escape")
        await desk.is_back()
        await desk.asks("r")
        await desk.type("Say how")
        await desk.press("escape", "r")
        note = (await desk.form()).query_one(Note)
        await desk.type(" to undo it")
        await desk.until(lambda: note.text == "Say how to undo it", "both parts")
        await desk.press("escape")
        await desk.asks("2", "m")
        await desk.shows("[ ] urgent")
