"""Waits for something to be true of a team, woken by the store's own change notices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from store.team import Team

T = TypeVar("T")
_TICK = 1.0


def until(team: Team, check: Callable[[], T | None], *, timeout: float | None) -> T | None:
    """Call `check` now, after every change and once a second (a lease may end without a change), until it gives
    something; None when `timeout` seconds are over. `check` may raise, which ends the wait.
    """
    return asyncio.run(_until(team, check, timeout))


async def _until(team: Team, check: Callable[[], T | None], seconds: float | None) -> T | None:
    changed = asyncio.Event()
    watcher = asyncio.create_task(_watch(team, changed))
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    try:
        while (found := check()) is None:
            left = _TICK if end is None else min(_TICK, end - loop.time())
            if left <= 0:
                return None
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), left)
            changed.clear()
        return found
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher


async def _watch(team: Team, changed: asyncio.Event) -> None:
    async for _ in team.watch():
        changed.set()
