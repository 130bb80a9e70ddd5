"""Marks of agents: how many there are is said, and what is copied is what the cursor is on."""

from __future__ import annotations

import pytest
from team_console.console.modes.inboxes import InboxesPane
from team_console.store.model.message import Message
from team_console.store.views.rows import RequestRow

from tests.console.conftest import LEAD, hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


async def test_marked_agents_are_counted_and_the_one_under_the_cursor_is_copied(team: MemoryTeam) -> None:
    async with opened(team) as desk:
        await desk.press("2")
        pane = desk.app.main.pane
        assert isinstance(pane, InboxesPane)
        await desk.press("space", "space")
        await desk.shows("* 2 marked")
        under = pane.roster.cursor_key
        assert under not in pane.roster.marks
        await desk.press("y")
        assert desk.app.clipboard == under
        await desk.press("escape")
        await desk.until(lambda: "marked" not in desk.text, "no marks")


async def test_many_marked_messages_take_one_pass_through_the_ledger(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        hand_in_plan(team, f"A plan that is the number {number}")
    async with opened(team) as desk:
        await desk.press("2")
        pane = desk.app.main.pane
        assert isinstance(pane, InboxesPane)
        pane.roster.select(LEAD)
        pane.rows.focus()
        await desk.press("asterisk")
        looked: list[Message | None] = []
        found = pane._request_of

        def counting(message: Message | None) -> RequestRow | None:
            looked.append(message)
            return found(message)

        monkeypatch.setattr(pane, "_request_of", counting)
        selection = pane.subject()
        assert len(selection.requests) == 9
        assert len(looked) == 1
