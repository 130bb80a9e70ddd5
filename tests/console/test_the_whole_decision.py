"""What is decided stands there whole, in few keys, and nothing else is decided."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, Desk, opened
from tests.console.test_client_requests import COMMAND
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("long_grace")]
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "npm test *"}],
    "behavior": "allow",
    "destination": "session",
}


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
