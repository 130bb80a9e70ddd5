"""What is decided stands there whole, in few keys, and nothing else is decided."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, Desk, hand_in_plan, opened, verdicts
from tests.console.test_client_requests import COMMAND, RULE
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("long_grace")]


async def decide(desk: Desk, *keys: str) -> None:
    """Press the keys of a decision."""
    await desk.asks(keys[0])
    await desk.press(*keys[1:])


@cases
async def test_a_permission_takes_two_keys_or_three_and_its_rule_stands_in_the_banner(
    team: MemoryTeam, keys: tuple[str, ...], banner: str
) -> None:
    suggested: list[dict[str, Any]] = [RULE]
    asking.ask_permission(Caller(team, AUTHOR), tool="Bash", input=COMMAND, suggestions=suggested)
    async with opened(team) as desk:
        await desk.shows("2. allow Bash(npm test *)")  # the number that chooses it in the form
        await decide(desk, *keys)
        if keys[1] == "3":
            await desk.type("not today")
            await desk.press("enter")
        await desk.shows("sends in", banner, "U undo  W write now")
        await desk.press("enter")
        assert len(desk.app.main.pending_decisions) == 1
        await desk.press("W")
        await desk.until(lambda: len(desk.app.main.pending_decisions) == 0, "W writes it")
    assert len(team.snapshot().messages) == 2


async def test_a_request_with_a_draft_says_so_until_it_is_decided(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.asks("r")
        await desk.type("too long")
        await desk.press("escape")
        await desk.shows("✎ draft · 2 lines", "a and r go on with your words")
        await desk.press("enter", "enter")  # nothing is sent by them, and both go into what is read
        await desk.shows("space page", "✎ draft")
        form = await desk.asks("r")
        assert form.typed()["words"] == "too long"
        await desk.press("enter")
        await desk.shows("reject task-manager's plan: “too long”")
        await desk.press("W")
        await desk.until(lambda: bool(verdicts(team)) and "Nothing waits for you" in desk.text, "the verdict")
        assert desk.app.main.drafts.requests() == frozenset()
