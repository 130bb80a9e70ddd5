"""What changes beside the queue, as lock and ledger do with every write, is not read for itself, unless it is news."""

from __future__ import annotations

import pytest
from team_console.console.tui import following
from team_console.console.tui.following import StoreChanged as Changed
from team_console.store.contract.team import WatchHint, WatchState

from tests.console.conftest import Desk, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.slow

BESIDE, QUEUE = (Changed(WatchHint(WatchState.LIVE, beside=beside)) for beside in (True, False))


def _number(desk: Desk) -> int:
    reading = desk.app.main.situation.reading
    return reading.number if reading is not None else 0


async def _read_after(desk: Desk, *changes: Changed) -> None:
    before = _number(desk)
    for change in changes:
        desk.app.post_message(change)
    await desk.until(lambda: _number(desk) > before, "a reading")


@pytest.mark.anyio
async def test_what_changed_beside_is_looked_at_by_itself_in_the_end(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "BESIDE", 0.01)
    async with opened(team) as desk:
        await _read_after(desk, BESIDE)
