"""Deciding on very many: how far it is, is said; esc stops it between two; what was handed in takes no letters."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from team_console.console.tui import decisions
from team_console.widgets.many import Many

from tests.console.conftest import WAIT, Desk, opened, three_plans, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def held_at_the_second(patch: pytest.MonkeyPatch, name: str) -> Event:
    """Have the console's own `name` wait at the second act until the event is set."""
    go_on, calls = Event(), list[None]()
    step: Callable[..., Any] = getattr(decisions, name)

    def held(*arguments: Any) -> Any:
        calls.append(None)
        assert len(calls) != 2 or go_on.wait(WAIT)
        return step(*arguments)

    patch.setattr(decisions, name, held)
    patch.setattr(decisions, "_PACE", 0.0)
    return go_on


async def hand_in(desk: Desk, words: str) -> Many[Any]:
    """Approve all plans with `words`."""
    await desk.looks_through()
    form = await desk.asks("asterisk", "a")
    assert isinstance(form, Many)
    await desk.press("n")
    await desk.type(words)
    await desk.press("enter")
    return form


async def test_writing_many_at_once_is_stopped_between_two_and_each_says_what_became_of_it(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = held_at_the_second(monkeypatch, "_written")
    three_plans(team)
    async with opened(team) as desk:
        await hand_in(desk, "go on")
        await desk.until(lambda: "writing 1 of 3" in desk.said, "how far it is")
        await desk.press("escape")
        go_on.set()
        await desk.tells("2 requests approved")
        assert any("Not written: 1 decision" in toast and "writing 2 of 3" in toast for toast in desk.toasts)
        assert len(verdicts(team)) == 2
