"""One watch of the team for all calls that wait: while they wait, none of them has a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from team_console.store.contract.team import Team
from team_console.store.service.waiting import follow

T = TypeVar("T")


class SharedWatch:
    """Follows the team as long as somebody waits for a change of it.

    Args:
        open_it: Opens the team that is watched.
    """

    def __init__(self, open_it: Callable[[], Team]) -> None:
        self._open = open_it
        self._waits = 0
        self._begun: tuple[Team, asyncio.Task[None]] | None = None
        self._turn = anyio.Lock()
        self._one = CapacityLimiter(1)
        self._guard = Lock()
        self._changed = anyio.Event()

    @asynccontextmanager
    async def team(self) -> AsyncIterator[Team]:
        """The team that is watched, for `look` alone; it is closed when nobody waits any more.

        Raises:
            TeamError: `TEAM_NOT_FOUND`.
        """
        async with self._turn:
            if self._begun is None:
                team = await to_thread.run_sync(self._open)
                self._begun = team, asyncio.create_task(self._follow(team))
            self._waits += 1
            team = self._begun[0]
        try:
            yield team
        finally:
            with anyio.CancelScope(shield=True):  # a call that is given up must not leave the watch running
                async with self._turn:
                    self._waits -= 1
                    if not self._waits:
                        await self._end()

    @property
    def changed(self) -> anyio.Event:
        """The next change; to be asked for before a look, or one between look and wait would be missed."""
        return self._changed

    async def look(self, act: Callable[[], T]) -> T:
        """What `act` finds in the watched team, in a thread; one at a time, for nobody else may use the team then.

        It is not left behind when its call is given up: the team might be closed under it.
        """
        return await to_thread.run_sync(self._guarded, act, limiter=self._one)

    def _guarded(self, act: Callable[[], T]) -> T:
        """A task that the loop itself cancels leaves its thread behind: closing the team waits for that, too."""
        with self._guard:
            return act()

    async def _follow(self, team: Team) -> None:
        async for hint in follow(team):
            if not hint.beside:
                before, self._changed = self._changed, anyio.Event()
                before.set()

    async def _end(self) -> None:
        assert self._begun is not None
        (team, following), self._begun = self._begun, None
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        await to_thread.run_sync(self._guarded, team.close)
