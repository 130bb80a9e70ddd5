"""A wait ends by a Ctrl-C at any moment, also when a change arrives together with it."""

from __future__ import annotations

import asyncio

import pytest
from team_console.store.service.waiting import either


@pytest.mark.parametrize("steps", range(6))
def test_a_cancellation_that_meets_a_change_is_not_lost(steps: int) -> None:
    async def wait_for_ever(changed: asyncio.Event) -> None:
        while True:
            await either(changed, 60.0)
            changed.clear()

    async def race() -> bool:
        changed = asyncio.Event()
        waiting = asyncio.create_task(wait_for_ever(changed))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        changed.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        done, _ = await asyncio.wait([waiting], timeout=60)
        waiting.cancel()
        return bool(done)

    assert asyncio.run(race())
