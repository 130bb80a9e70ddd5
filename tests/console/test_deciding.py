"""A human decides only on what stands on the screen, and what was typed is never lost."""

from __future__ import annotations

from functools import partial

import pytest
from team_console.console.tui import key_actions
from textual.events import Key

from tests.console.conftest import Desk, opened, three_plans, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


def _has_rows(desk: Desk, number: int) -> bool:
    return len(desk.rows) == number


async def test_what_a_verdict_takes_from_the_list_is_no_disturbance_and_the_next_key_is_about_the_next_thing(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_actions, "GUARD", 60.0)
    three_plans(team)
    async with opened(team) as desk:
        for left in (2, 1, 0):
            await desk.asks("a")
            desk.app.post_message(Key("enter", None))
            desk.app.post_message(Key("a", "a"))  # it waits for what the verdict leads to
            await desk.until(partial(_has_rows, desk, left), "a list without the plan")
            if left:
                await desk.form()
                await desk.press("escape")
        assert len(verdicts(team)) == 3
        assert not any("just changed" in text for text in (*desk.toasts, desk.text))
