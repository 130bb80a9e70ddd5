"""Looking around: live rows, filters, marks, modes, help and palette; nothing of it writes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from team_console.console.actions import actions_in
from team_console.console.selection import Mode
from team_console.widgets.help_panel import HelpPanel

from tests.console.conftest import Clock, ask_permission, hand_in_plan, letter, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.mark.parametrize("way", ["filter", "snooze"])
async def test_only_what_is_listed_is_cleared(team: MemoryTeam, way: str) -> None:
    for words in ("The alpha report is ready today", "The beta report is ready today"):
        letter(team, words)
    async with opened(team) as desk:
        if way == "filter":
            await desk.press("slash")
            await desk.type("alpha")
            await desk.press("enter")
        else:
            await desk.press("z")
        await desk.lists(1)
        (shown,) = desk.rows
        await desk.press("D")
        await desk.tells("Read")
        (left,) = [message for message in team.snapshot().messages if message.status == "pending"]
        assert f"MESSAGE:{left.message_id}" != shown


async def test_a_snooze_ends_well_before_the_request_does(team: MemoryTeam, clock: Clock) -> None:
    end = team.clock() + timedelta(minutes=10)
    ask_permission(team, expires=end)
    async with opened(team) as desk:
        await desk.lists(1)
        await desk.press("z")
        await desk.tells("1 snoozed for 5 min; :wake shows it again")
        clock.advance(5 * 60 + 1)
        desk.app._tick()
        await desk.lists(1)


async def test_help_is_made_from_the_registry_and_says_why_not(team: MemoryTeam) -> None:
    async with opened(team, size=(120, 140)) as desk:
        await desk.press("question_mark")
        await desk.until(lambda: isinstance(desk.front, HelpPanel), "help")
        for action in actions_in(Mode.NEEDS, read_only=False):
            assert action.help.split(",")[0][:40] in desk.text.replace("│", "")
        await desk.type("reject")
        await desk.shows("Not now: this is not a request")
        await desk.press("escape")
        assert desk.front is desk.app.main


@pytest.mark.parametrize("key", ["question_mark", "colon"])
async def test_what_is_typed_filters_the_list_of_actions_and_enter_runs_one(team: MemoryTeam, key: str) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.press(key)
        await desk.type("say no")
        await desk.asks("enter")
        await desk.shows("Reject the plan")


async def test_history_is_searched_in_all_archives_and_can_be_stopped(team: MemoryTeam) -> None:
    for number in range(30):
        letter(team, f"Note number {number} of many notes", "x", to="file-manager")
    async with opened(team) as desk:
        await desk.press("3")
        await desk.lists(30)
        await desk.press("slash")
        await desk.type("number 17")
        await desk.press("enter")
        await desk.lists(1)
        await desk.shows("1 found in 30")
        letter(team, "Another number 17 after the first", "x", to="file-manager")
        await desk.lists(2)
