"""Agent that acts through MCP tools: who it is, in which team, and how its work at the desk runs in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from team_console.console.mcp.shared_watch import SharedWatch
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import readable
from team_console.store.views.rows import View
from team_console.store.views.truth import view_of_team

T = TypeVar("T")
LOCK_WAIT = 10.0
"""Seconds a tool waits for the lock, as a verb does (decision D7)."""
_IDLE = 3
"""Open teams that are kept for the next calls; calls at the same time beyond that open and close their own."""


class ActingAgent:
    """One agent of a team. Any number of calls may be under way: each has a thread and an open team while it works.

    Attributes:
        name: Who acts; it comes from the environment of the process and is no argument of any tool.
        location: The team, as `-t` takes it; None for that of the environment or of the current folder.
        watch: What calls wait at for a change.
    """

    def __init__(self, name: str, location: str | None = None) -> None:
        self.name = name
        self.location = location
        self._idle: list[Team] = []
        self._lock = Lock()
        self._looks = CapacityLimiter(_IDLE)
        self.watch = SharedWatch(lambda: open_team(self.location))

    async def run(self, act: Callable[[Caller], T]) -> T:
        """The result of `act` on behalf of this agent, in a thread; a call that is given up is finished.

        Raises:
            TeamError: What `act` raises, or `TEAM_NOT_FOUND`.
        """
        return await to_thread.run_sync(self._run, act)

    async def look(self, act: Callable[[Caller], T]) -> T:
        """The same for one look of a call that waits: a change wakes all of them, and other calls must not queue up."""
        return await to_thread.run_sync(self._run, act, limiter=self._looks)

    async def view(self) -> View:
        """Everything views know about the team now.

        Raises:
            TeamError: `STORE_UNREADABLE`: an unreadable queue is not an empty one.
        """
        return await self.run(view_of)

    def open(self) -> str:
        """Open the team once, to find out at the start whether it is there; its location.

        Raises:
            TeamError: `TEAM_NOT_FOUND`.
        """
        with self._team() as team:
            return team.location

    def close(self) -> None:
        """Release the teams that are kept open."""
        with self._lock:
            teams, self._idle = self._idle, []
        for team in teams:
            team.close()

    def _run(self, act: Callable[[Caller], T]) -> T:
        with self._team() as team:
            return act(Caller(team, self.name, LOCK_WAIT))

    @contextmanager
    def _team(self) -> Iterator[Team]:
        with self._lock:
            team = self._idle.pop() if self._idle else None
        team = team or open_team(self.location)
        try:
            yield team
        except TeamError:
            self._put_back(team)
            raise
        except BaseException:
            team.close()
            raise
        self._put_back(team)

    def _put_back(self, team: Team) -> None:
        with self._lock:
            keep = len(self._idle) < _IDLE
            if keep:
                self._idle.append(team)
        if not keep:
            team.close()


def view_of(caller: Caller) -> View:
    """Everything views know about the team of `caller` now, for it.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    return view_of_team(caller.team, readable(caller.team.snapshot()), me=caller.actor)
