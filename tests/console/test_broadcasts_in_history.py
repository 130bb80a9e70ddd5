"""A broadcast is one row of the history, however many copies were written, and tells who of them read it."""

from __future__ import annotations

import pytest
from team_console.console.tui.modes.history import HistoryPane
from team_console.store.model.message import Message
from team_console.store.service import inbox, sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Desk, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
WORDS = "The freeze begins at noon"


def shouted(team: MemoryTeam) -> tuple[Message, ...]:
    """Copies of a broadcast that one agent read."""
    copies = sending.broadcast(Caller(team, LEAD), summary=WORDS, content="Commit before.").messages
    inbox.receive(Caller(team, AUTHOR), agent=AUTHOR)
    return copies


def history(desk: Desk) -> HistoryPane:
    pane = desk.app.main.pane
    assert isinstance(pane, HistoryPane)
    return pane


async def test_who_reads_it_meanwhile_is_told_in_the_row_that_stays(team: MemoryTeam) -> None:
    copies = shouted(team)
    async with opened(team) as desk:
        await desk.press("3")
        await desk.shows(WORDS)
        await desk.press("enter")
        await desk.reads(f"{len(copies)} recipients")
        reader = next(copy.recipients[0] for copy in copies if copy.recipients[0] != AUTHOR)
        key = history(desk).listing.key_of(history(desk).rows.rows[0])
        inbox.receive(Caller(team, reader), agent=reader)
        await desk.reads("2 read")
        assert [history(desk).listing.key_of(row) for row in history(desk).rows.rows] == [key]
