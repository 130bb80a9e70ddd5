"""A choice that is kept in a draft is one of words, not of a place: the request may offer other things by now."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.model.message import from_record
from team_console.widgets.fields import Options

from tests.console.conftest import Desk, ask_permission, opened
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def rule(command: str) -> dict[str, Any]:
    """A suggestion to let a command run always."""
    rules = [{"toolName": "Bash", "ruleContent": command}]
    return {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}


async def change(desk: Desk, team: MemoryTeam, **payload: Any) -> None:
    """Another program changes what the one message says; the screen has it, and rests."""
    before = desk.app.main.situation
    (asked,) = team._state.messages
    changed = from_record({**asked.record, "payload": {**asked.payload, **payload}})
    team._state.messages = (changed,)
    team._state.revision += 1
    await desk.until(lambda: desk.app.main.lists.shown_in_front not in (None, before), "the change on the screen")
    await desk.calm()


async def chosen(desk: Desk) -> tuple[int, ...]:
    """Open the form; what is chosen in it."""
    form = await desk.asks("a")
    await desk.settle()
    return form.query_one(Options).chosen


@cases
async def test_always_is_kept_only_for_the_same_command(team: MemoryTeam, command: str, kept: int) -> None:
    ask_permission(team, suggestions=[rule("npm test *")])
    async with opened(team) as desk:
        assert await chosen(desk) == (0,)
        await desk.press("2", "escape")
        await change(desk, team, suggestions=[rule(command)])
        assert await chosen(desk) == (kept,)
