"""Waits for something to be true of a team, woken by the store's own change notices."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from store.team import Team

T = TypeVar("T")
Check = Callable[[], T | None]
Tick = Callable[[], float | None]
TICK = 1.0
"""Seconds after which what may change by itself is looked at again, as a lease that ends."""
_INTERRUPT = {signal.SIGINT}


def until(
    team: Team, check: Callable[[], T | None], *, timeout: float | None, tick: Callable[[], float | None] = lambda: TICK
) -> T | None:
    """Call `check` now and after every change, until it gives something; None when `timeout` seconds are over.

    `check` may raise, which ends the wait. `tick` is asked after each call how many seconds later to call again all
    the same; None when nothing can come without a change.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        return asyncio.run(_interruptible(team, check, timeout, tick))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _interruptible(team: Team, check: Check[T], seconds: float | None, tick: Tick) -> T | None:
    """Ctrl-C is let in only while the loop can end its tasks; before and after, it would leave them lying about."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    try:
        return await _until(team, check, seconds, tick)
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)


async def _until(team: Team, check: Check[T], seconds: float | None, tick: Tick) -> T | None:
    changed = asyncio.Event()
    watcher = asyncio.create_task(_watch(team, changed))
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    try:
        while (found := check()) is None:
            left = min((one for one in (tick(), end and end - loop.time()) if one is not None), default=None)
            if left is not None and left <= 0:
                return None
            await either(changed, left)
            changed.clear()
        return found
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher


async def either(changed: asyncio.Event, seconds: float | None) -> None:
    """Wait for a change, but not longer; None: however long it takes.

    `asyncio.wait_for` of Python 3.11 loses a Ctrl-C that meets the change.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await changed.wait()


async def _watch(team: Team, changed: asyncio.Event) -> None:
    async for hint in team.watch():
        if not hint.beside:
            changed.set()
