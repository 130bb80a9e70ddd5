"""Rows of two lines where they fit, details that begin with their title, ids on demand, empty lists that lead on."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

import pytest
from team_console.console.selection import Mode
from team_console.console.tui.reader import ReadResult
from team_console.console.tui.words import ScreenState, first_step
from team_console.store.backends.open import open_team
from team_console.store.views.projection import view_of

from tests.console.conftest import LEAD, hand_in_plan, opened
from tests.equipment.command_line import CommandLine
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_the_detail_begins_with_its_title_and_shows_ids_on_demand(team: MemoryTeam) -> None:
    request = hand_in_plan(team, "Split the loader from the renderer")
    async with opened(team) as desk:
        await desk.reads("Split the loader")
        assert desk.detail.splitlines()[0] == "Split the loader from the renderer"
        assert desk.detail.splitlines()[1].startswith("task-manager → you · just asked · due in")
        assert request not in desk.detail
        await desk.performs("ids")
        assert request in "".join(desk.detail.split()), "it may go on in the next line"
        await desk.performs("ids")
        assert request not in desk.detail


async def test_an_empty_list_says_what_it_is_for_and_copies_a_command(team: MemoryTeam) -> None:
    async with opened(team, size=(160, 40)) as desk:
        for mode in Mode:
            await desk.press(mode.place.key, *(() if mode.place is mode else ("right",)))
            await desk.until(lambda mode=mode: desk.app.main.lists.mode is mode, mode.label)  # type: ignore[misc]
            if mode is Mode.HEALTH:
                continue
            await desk.until(lambda: "team-console" in desk.text.split("Y copies")[-1], f"the command of {mode.label}")
            if mode is Mode.AGENTS:
                await desk.press("enter")
            desk.app.copy_to_clipboard("")
            await desk.press("Y")
            await desk.until(lambda: "team-console" in desk.app.clipboard, "the command")
            await desk.shows("Copied the command")


async def test_no_command_is_copied_where_none_is_offered(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        for mode in ("1", "right", "2"):
            await desk.press(mode, "/", *"zzz", "enter")
            await desk.shows("Nothing here holds “zzz”")
            await desk.press("Y")
            await desk.shows("There is no text to copy here")
        assert not desk.app.clipboard


def test_the_command_of_an_empty_list_works(elsewhere: CommandLine) -> None:
    team = str(elsewhere.folder / "team")
    elsewhere.ok("init", "-t", team, "--lead", LEAD)
    view = view_of(open_team(team).snapshot(), me=LEAD, now=datetime(2026, 2, 24, tzinfo=UTC))
    state = ScreenState(root=team, reading=ReadResult(1, view.snapshot, view, True))
    elsewhere.ok(*shlex.split(first_step(state))[1:])
    assert [agent["name"] for agent in elsewhere.ok("roster", "-t", team, "--json").json["agents"]] == [LEAD, "helper"]
