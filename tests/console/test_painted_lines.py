"""The record of a decision says what was painted on the terminal, and no more."""

from __future__ import annotations

import re

import pytest
from team_console.store.protocol.verdicts import EVIDENCE, SHOWN_BY
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.slow

LINES = 192
PLAN = "\n".join(f"{number}. step {number}" for number in range(1, LINES + 1))


@pytest.mark.anyio
async def test_what_is_scrolled_to_is_added_and_what_was_not_is_named(team: MemoryTeam) -> None:
    requests.submit_plan(Caller(team, AUTHOR), content=PLAN, summary="What is to be done")
    async with opened(team) as desk:
        await desk.until(lambda: "what it ran" in desk.detail, "the plan and its evidence")
        await desk.until(lambda: re.search(r"lines 1-.* of 19\d · shown \d+ % ─", desk.text) is not None, "the place")
        await desk.asks("enter", "G", "escape", "space", "a")
        assert f"1 not shown whole stay: {AUTHOR}" in " ".join(desk.text.replace("│", "").split())
        await desk.press("enter")
        assert verdicts(team) == []
        await desk.press("escape", "escape")
        await desk.asks("a")
        await desk.press("enter")
        await desk.decided(team)
    (verdict,) = verdicts(team)
    words = verdict.payload[SHOWN_BY]
    assert words.startswith("the console: lines 1-")
    assert f"-{LINES} of {LINES}; of its evidence all" in words
    assert verdict.payload[EVIDENCE] != []
