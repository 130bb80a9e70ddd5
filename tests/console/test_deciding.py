"""A human decides only on what stands on the screen, and what was typed is never lost."""

from __future__ import annotations

from functools import partial

import pytest
from team_console.console.tui import key_actions
from team_console.store.model.message import from_record
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.widgets import form_gate as forms
from textual.events import Key

from tests.console.conftest import LEAD, Desk, hand_in_plan, opened, three_plans, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


async def test_a_rejection_needs_a_reason(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("r")
        await desk.press("enter")
        assert desk.front is form
        await desk.shows("reason: nothing was typed")
        await desk.type("add tests")
        await desk.press("enter")
        await desk.decided(team)
        (verdict,) = verdicts(team)
        assert verdict.payload["approve"] is False
        assert "add tests" in verdict.content


async def test_a_deciding_key_asks_to_look_first_after_the_row_under_the_cursor_changed_by_itself(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_actions, "GUARD", 60.0)
    monkeypatch.setattr(forms, "LOOK", 60.0)
    hand_in_plan(team, "The first plan of the morning")
    async with opened(team) as desk:
        (plan,) = team.snapshot().messages
        rewrite(team, plan.message_id, content="1. Quite another plan")
        desk.app.look()
        await desk.shows("Quite another plan")
        form = await desk.asks("a")
        await desk.shows("The list changed")
        await desk.press("enter", "o", "k", "a", "enter")
        assert desk.front is form
        assert "press enter again" in " ".join(desk.text.split())
        assert "4 keys did nothing" in desk.said
        assert verdicts(team) == []
        monkeypatch.setattr(key_actions, "GUARD", 0.0)
        await desk.asks("escape", "a")
        await desk.press("enter")
        await desk.decided(team)
        assert verdicts(team)[0].content == ""


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


async def test_what_was_typed_survives_a_refused_write_and_leaving(team: MemoryTeam) -> None:
    request_id = hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks("r")
        await desk.type("no rollback")
        requests.approve(Caller(team, LEAD), request_id=request_id)
        await desk.press("enter")
        await desk.shows("ALREADY_ANSWERED")
        assert desk.front is form
        assert "no rollback" in desk.text
        assert "ceo" in desk.text
    async with opened(team) as desk:
        assert desk.app.main.drafts.get(f"reject:{request_id}")["words"] == "no rollback"


def rewrite(team: MemoryTeam, message_id: str, **payload: object) -> None:
    """Change a stored message as an agent that edits the queue by hand does."""
    state = team._state
    changed = []
    for message in state.messages:
        if message.message_id == message_id:
            message = from_record({**message.record, "payload": {**message.payload, **payload}})
        changed.append(message)
    state.messages = tuple(changed)
    state.revision += 1
