"""Waits for something to be true of a team, woken by the store's own change notices."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from store.team import Team

T = TypeVar("T")
_TICK = 1.0
_INTERRUPT = {signal.SIGINT}


def until(team: Team, check: Callable[[], T | None], *, timeout: float | None) -> T | None:
    """Call `check` now, after every change and once a second (a lease may end without a change), until it gives
    something; None when `timeout` seconds are over. `check` may raise, which ends the wait.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        return asyncio.run(_interruptible(team, check, timeout))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _interruptible(team: Team, check: Callable[[], T | None], seconds: float | None) -> T | None:
    """Ctrl-C is let in only while the loop can end its tasks; before and after, it would leave them lying about."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    try:
        return await _until(team, check, seconds)
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)


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
            await either(changed, left)
            changed.clear()
        return found
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher


async def either(changed: asyncio.Event, seconds: float) -> None:
    """Wait for a change, but not longer. `asyncio.wait_for` of Python 3.11 loses a Ctrl-C that meets the change."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await changed.wait()


async def _watch(team: Team, changed: asyncio.Event) -> None:
    async for _ in team.watch():
        changed.set()
