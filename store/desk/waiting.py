"""Waits for something to be true of a team, woken by the store's own change notices."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.desk.caller import Caller
from team_console.store.desk.inbox import Received
from team_console.store.model.errors import Code, TeamError

T = TypeVar("T")
Check = Callable[[], T | None]
Tick = Callable[[], float | None]
TICK = 1.0
"""Seconds after which what may change by itself is looked at again, as a lease that ends."""
LONGEST_WAIT = 31_536_000.0
"""Seconds of the longest wait for messages that can be asked for: a year."""
_PATIENCE = 0.5
"""Seconds for which one try of a wait waits for the lock."""
_INTERRUPT = {signal.SIGINT}
_LONGEST_OUTAGE = 10.0
"""Seconds for which a wait goes on although it cannot read its store, as while an editor or git writes it in place."""
_PASSING = {Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.TEAM_NOT_FOUND, Code.INVALID_REQUEST_ID}
_CERTAIN = {"changed", "outcome_unknown"}
"""Facts of an error that no later look takes back."""


def until(
    team: Team, check: Callable[[], T | None], *, timeout: float | None, tick: Callable[[], float | None] = lambda: TICK
) -> T | None:
    """Call `check` now and after every change, until it gives something; None when `timeout` seconds are over.

    `check` may raise, which ends the wait. `tick` is asked after each call how many seconds later to call again all
    the same; None when nothing can come without a change.

    Raises:
        TeamError: `USAGE` in a thread whose event loop runs, which the wait would bring to a stop.
    """
    _refuse_running_loop()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        return asyncio.run(_interruptible(team, check, timeout, tick))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for_messages(caller: Caller, take: Callable[[Caller], Received], *, timeout: float | None) -> Received:
    """Take at once and after every change, until `take` hands out a message; the last empty result after `timeout`.

    A lock that is held is waited for as long as the wait lasts: only the last try may raise `STORE_LOCKED`.

    Args:
        take: A `receive` of the inbox with everything but its caller filled in.
        timeout: Seconds; None waits until a message comes.

    Raises:
        TeamError: What `take` raises, or as for `until`.
    """
    arrival = Arrival(take)
    found = until(caller.team, lambda: arrival.look(caller), timeout=timeout, tick=arrival.tick)
    return found or arrival.end(caller)


class Outage:
    """Bears with a store that was read before and for a moment cannot be: half of its text, no file, no folder.

    Attributes:
        lasts: Whether the last look found it so.
    """

    def __init__(self) -> None:
        self.lasts = False
        self._was_read = False
        self._end = 0.0

    def look(self, act: Callable[[], T]) -> T | None:
        """What `act` finds; None while that can be expected to pass.

        Raises:
            TeamError: What `act` raises for another reason, the first time, or for too long.
        """
        try:
            found = act()
        except TeamError as error:
            if not self._passes(error):
                raise
            return None
        self.lasts, self._was_read = False, True
        return found

    def _passes(self, error: TeamError) -> bool:
        if not self._was_read or error.code not in _PASSING or error.facts.keys() & _CERTAIN:
            return False
        if not self.lasts:
            self.lasts, self._end = True, time.monotonic() + _LONGEST_OUTAGE
        return time.monotonic() < self._end


class Arrival:
    """Messages that are waited for, from one look to the next.

    Args:
        take: As for `wait_for_messages`.
    """

    def __init__(self, take: Callable[[Caller], Received]) -> None:
        self._take = take
        self._last: Received | None = None
        self._outage = Outage()

    def look(self, caller: Caller) -> Received | None:
        """What is handed out now; None when it is nothing, another has the lock, or the store is away for a moment.

        Raises:
            TeamError: What `take` raises.
        """
        try:
            self._last = self._outage.look(lambda: self._take(replace(caller, wait=_PATIENCE)))
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            self._last = None
        return self._last if self._last is not None and self._last.messages else None

    def tick(self) -> float | None:
        """Seconds after which to look again although nothing changed; None when nothing can come then."""
        return TICK if self._last is None or self._last.may_change_by_itself else None

    def end(self, caller: Caller) -> Received:
        """The last empty result; when the last look found a held lock or nothing to read, of one more try.

        Raises:
            TeamError: What `take` raises, `STORE_LOCKED` among it.
        """
        return self._last or self._take(replace(caller, wait=_PATIENCE))


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    text = "a wait would stop the event loop that runs in this thread"
    raise TeamError(Code.USAGE, text, "Wait in another thread: await asyncio.to_thread(agent.receive, wait=30)")


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
            left = min((item for item in (tick(), end and end - loop.time()) if item is not None), default=None)
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
