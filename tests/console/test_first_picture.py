"""The first picture says how far a long first reading is, and leaving stops it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.reader import StoreReader
from team_console.store.contract.team import Snapshot

from tests.console.conftest import LEAD, Desk
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class LargeTeam(MemoryTeam):
    """A team that is read when `rest` is set."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.rest = Event()

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        """Everything, after a while."""
        while not self.rest.wait(0.01):
            if progress is not None and not progress(1, 3):
                raise InterruptedError
        return super().snapshot()


async def test_how_far_a_long_reading_is_shows_and_leaving_stops_it(team: MemoryTeam) -> None:
    large = LargeTeam(config=team.config(), clock=team.clock)
    app = ConsoleApp(large, me=LEAD, reader=StoreReader(large, LEAD))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.shows("1 of 3")
        assert "Nothing waits" not in desk.text
        app.exit()
    assert not large.rest.is_set()
