"""While an editor is open or the process is stopped no grace ends, so what was decided is written before."""

from __future__ import annotations

import pytest

from tests.console.conftest import hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


async def test_what_was_decided_is_written_before_the_console_steps_aside(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_CONSOLE_GRACE", "60")
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.asks("a")
        await desk.press("enter")
        await desk.until(lambda: len(desk.app.main.pending_decisions) == 1, "a decision in its grace")
        desk.app._suspend_signal()  # as ctrl+z and an editor do
        assert len(verdicts(team)) == 1
        await desk.tells("Approved")
        await desk.until(lambda: desk.rows == [], "the list without it")
