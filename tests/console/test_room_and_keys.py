"""What a list and a form leave room for, and which keys the last line names."""

from __future__ import annotations

import pytest
from team_console.widgets.fields import Note

from tests.console.conftest import hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_a_list_without_rows_takes_the_room_of_the_detail_until_there_is_one(team: MemoryTeam) -> None:
    async with opened(team, size=(60, 20)) as desk:
        pane = desk.app.main.pane
        await desk.until(lambda: "Y copies" in desk.text, "the command that would put something there")
        assert pane.query_one("Detail").display is False
        hand_in_plan(team)
        await desk.until(lambda: "1. Split" in desk.text, "the plan")


async def test_while_words_to_filter_by_are_typed_the_last_line_names_their_keys(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(lambda: "a approve" in desk.text, "the keys of a plan")
        await desk.press("slash")
        await desk.until(lambda: "enter keep these rows" in desk.text, "the keys of the filter")
        assert "approve…" not in desk.text
        await desk.press("escape")
        await desk.until(lambda: "a approve" in desk.text, "the keys of a plan")


async def test_the_export_of_the_history_leaves_its_rows_in_sight(team: MemoryTeam) -> None:
    for number in range(12):
        hand_in_plan(team, f"Plan number {number}")
    async with opened(team, size=(80, 24)) as desk:
        await desk.press("3")
        await desk.until(lambda: "Plan number 11" in desk.text, "the history")
        await desk.press("w")
        await desk.form()
        await desk.until(lambda: "newest first" in desk.text, "the question")
        assert "Plan number 4" in desk.text, "rows fill what the form leaves"


async def test_a_conversation_names_its_topic_once_a_draft_goes_on_and_a_narrow_letter_shows_its_choices(
    team: MemoryTeam,
) -> None:
    hand_in_plan(team, "Refactor the report generator now")
    async with opened(team) as desk:
        await desk.press("c")
        await desk.until(lambda: "1. Split" in desk.text, "the plan")
        assert desk.text.count("Refactor the report generator now") == 1
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "the list")
        await desk.press("r")
        await desk.form()
        await desk.type("Say how")
        await desk.press("escape", "r")
        note = (await desk.form()).query_one(Note)
        await desk.type(" to undo it")
        await desk.until(lambda: note.text == "Say how to undo it", "both parts")
        await desk.press("escape")
        await desk.press("2", "m")
        await desk.form()
        await desk.until(lambda: "‹ default ›" in desk.text and "‹ message ›" in desk.text, "kind and priority")
