"""The router kept running: a pass whenever something is due or the store changed, asleep in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from team_console.store.contract.team import WatchHint
from team_console.store.desk.caller import Caller
from team_console.store.desk.delivery.attempts import Delivered
from team_console.store.desk.delivery.push import deliver
from team_console.store.desk.outage import may_pass
from team_console.store.desk.waiting import follow
from team_console.store.model.errors import Code, TeamError

LONGEST_SLEEP = 30.0
"""Seconds after which the router looks again although nothing told it to."""
_PASSING = frozenset({Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.STORE_FAILED})
_AFTER_TROUBLE = 2.0
_SHORTEST_IDLE = 0.5
"""A message can be due and not ours to hand over: another router is busy with its agent."""


def deliver_loop(
    caller: Caller,
    *,
    stop: threading.Event,
    interval: float = LONGEST_SLEEP,
    limit: float | None = None,
    report: Callable[[Delivered], None] = lambda done: None,
    trouble: Callable[[TeamError], None] = lambda error: None,
) -> None:
    """Deliver until `stop` is set; running commands are waited for. Blocks the calling thread.

    Args:
        interval: Longest sleep in seconds; changes and due times end it earlier.
        report: Called after every pass that did something.
        trouble: Called when the store is locked, unreadable or cannot be written, once for each reason.

    Raises:
        TeamError: What will not pass by itself, such as `READ_ONLY`.
    """
    asyncio.run(_Loop(caller, stop, interval, limit, report, trouble).run())


class _Loop:
    def __init__(
        self,
        caller: Caller,
        stop: threading.Event,
        interval: float,
        limit: float | None,
        report: Callable[[Delivered], None],
        trouble: Callable[[TeamError], None],
    ) -> None:
        self._caller = caller
        self._stop = stop
        self._interval = interval
        self._limit = limit
        self._report = report
        self._trouble = trouble
        self._awake = asyncio.Event()
        self._told = ""

    async def run(self) -> None:
        """Watch and wait beside the passes; both end with the loop."""
        loop = asyncio.get_running_loop()
        over = threading.Event()
        waiter = threading.Thread(target=self._wait_for_stop, args=(loop, over), daemon=True)
        waiter.start()
        watcher = asyncio.create_task(self._listen(follow(self._caller.team)))
        try:
            while not self._stop.is_set():
                await self._sleep(await self._pass())
        finally:
            over.set()
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    def _wait_for_stop(self, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
        while not self._stop.wait(0.2):
            if over.is_set():
                return
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._awake.set)

    async def _listen(self, hints: AsyncIterator[WatchHint]) -> None:
        async for _ in hints:
            self._awake.set()

    async def _pass(self) -> float:
        """One pass; returns how many seconds to sleep."""
        self._awake.clear()
        try:
            done = await asyncio.to_thread(deliver, self._caller, limit=self._limit, stop=self._stop)
        except TeamError as error:
            if error.code not in _PASSING and not may_pass(error):
                raise
            if error.message != self._told:
                self._told = error.message
                self._trouble(error)
            return min(_AFTER_TROUBLE, self._interval)
        self._told = ""
        if done.attempts or done.expired:
            self._report(done)
        if done.next_due is None:
            return self._interval
        seconds = (done.next_due - self._caller.team.clock()).total_seconds()
        return min(max(seconds, 0.0 if done.attempts else _SHORTEST_IDLE), self._interval)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._awake.wait()
