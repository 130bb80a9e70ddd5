"""Fast hands: nothing typed for a list lands in a form, and no key is refused where nothing changed."""

from __future__ import annotations

import pytest
from team_console.console.screens import performer
from team_console.store.model.message import from_record

from tests.console.conftest import hand_in_plan, opened, verdicts
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


def read_again(team: MemoryTeam) -> None:
    """Have the next look read every record anew, as a full reading behind an early one does."""
    team._state.messages = tuple(from_record(dict(message.record)) for message in team._state.messages)
    team._state.revision += 1


async def test_equal_messages_read_twice_are_no_change(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        monkeypatch.setattr(performer, "GUARD", 3600.0)
        shown = desk.app.situation.sight
        read_again(team)
        desk.app.look()
        await desk.until(lambda: desk.app.situation.sight is not shown, "a second reading")
        await desk.press("a")
        await desk.form()
        assert desk.said == ""
        await desk.press("enter")
        await desk.until(lambda: len(verdicts(team)) == 1, "a verdict")
