"""Permissions in one row: the whole input of each is drawn, with what differs marked, and every number is the same."""

from __future__ import annotations

import re

import pytest
from team_console.store.service import asking
from team_console.store.service.caller import Caller
from team_console.widgets.detail import Detail

from tests.console.conftest import AUTHOR, Desk, ask_permission, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def numbers(desk: Desk) -> set[str]:
    """Every number that says how much waits: of the tab, the border, the group."""
    found = re.findall(r"Needs you(?: ·)? (\d+)|WAITING (\d+)|(\d+) permissions?", desk.text)
    return {number for each in found for number in each if number}


async def test_a_row_that_was_withdrawn_or_answered_while_it_is_read_is_counted_nowhere(team: MemoryTeam) -> None:
    asked = [ask_permission(team, f"make {name}") for name in "abc"] + [ask_permission(team, "rm -r build")]
    async with opened(team) as desk:
        await desk.shows("3 alike: Bash: make …", "Needs you 4")
        assert numbers(desk) == {"4"}
        asking.withdraw(Caller(team, AUTHOR), request_id=asked[0], reason="found another way")
        await desk.shows("Needs you 3")
        assert numbers(desk) == {"3"}
        await desk.press("G")
        await desk.reads("rm -r build")
        asking.withdraw(Caller(team, AUTHOR), request_id=asked[3], reason="no need")
        await desk.shows("Needs you 2")
        assert numbers(desk) == {"2"}
        assert "rm -r build" in desk.text, "what is read stays there"


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000", "\u202f"])
async def test_a_blank_that_is_no_space_is_seen_in_row_page_and_form(team: MemoryTeam, blank: str) -> None:
    ask_permission(team, f"rm -rf /tmp{blank}/x")
    async with opened(team) as desk:
        await desk.shows("Bash: rm -rf /tmp\u237d/x")
        await desk.reads("│ rm -rf /tmp\u237d/x")
        await desk.asks("a")
        await desk.shows("“Bash: rm -rf /tmp\u237d/x”")


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
