"""One watch of the team for all calls that wait: while they wait, none of them has a thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Lock
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller, Received
from team_console.store.service.inbox import readable
from team_console.store.service.waiting import Arrival, follow
from team_console.store.views.rows import View
from team_console.store.views.status import view_of_team
from team_console.store.views.verdicts import FollowedVerdict, Outcome

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


# Agent that acts through MCP tools: who it is, in which team, and how its work at the desk runs in threads.

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


# Waiting for mail and verdicts inside a tool call: bounded, cancelled with its call, and told of while it lasts.

# guard: mcp-wait-limit
LONGEST = 45.0
"""Seconds a call waits at most: many clients give a call up after 60, and an answer has to travel, too."""
LEASE = 60.0
"""Seconds for which messages are held until it is clear that the call that takes them comes to its end."""
_TOLD_EVERY = 5.0
"""Seconds from one sign of life to the next."""

Take = Callable[[Caller], Received]
"""A `receive` of the inbox with everything but who calls filled in; under a lease, for its call may be given up."""
Tell = Callable[[float, float, str], Awaitable[None]]
"""Sends progress: seconds waited, seconds at most, what is waited for."""


async def wait_for_verdict(
    agent: ActingAgent, request_id: str, seconds: float, tell: Tell | None = None, *, asked: Message | None = None
) -> Outcome:
    """How a request stands as soon as it is not open any more, at the latest after `seconds`.

    Args:
        asked: The question as it was written; an answer to anything else is refused.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
    """
    if not seconds:
        return await agent.run(
            lambda caller: FollowedVerdict(caller.team, request_id, me=agent.name, asked=asked).look()
        )

    async def settled() -> Outcome:
        async with agent.watch.team() as team:
            followed = FollowedVerdict(team, request_id, me=agent.name, asked=asked)
            first = await agent.watch.look(followed.look_again)
            known = first.asked_back if first is not None else None

            async def look() -> Outcome | None:
                outcome = await agent.watch.look(followed.look_again)
                is_news = outcome is not None and outcome.asked_back not in (None, known)
                return outcome if outcome is not None and (is_news or not outcome.is_open) else None

            found: Outcome | None = await _until(agent, look, followed.seconds_left, seconds)
            return await agent.watch.look(followed.end) if found is None else found

    return await _telling(tell, seconds, f"waiting for an answer to {request_id}", settled)


async def wait_for_mail(agent: ActingAgent, take: Take, seconds: float, tell: Tell) -> Received:
    """What `take` hands out as soon as there is anything; nothing when `seconds` are over.

    Raises:
        TeamError: As for `receive`.
    """

    if not seconds:
        return await agent.run(take)
    arrival = Arrival(take)

    async def arrived() -> Received:
        async with agent.watch.team():
            found: Received | None = await _until(agent, lambda: agent.look(arrival.look), arrival.tick, seconds)
            return await agent.look(arrival.end) if found is None else found

    return await _telling(tell, seconds, "waiting for mail", arrived)


async def _until(
    agent: ActingAgent, look: Callable[[], Awaitable[T | None]], tick: Callable[[], float | None], seconds: float
) -> T | None:
    """What `look` finds now or after a change; None after `seconds`. Unlike `desk.waiting.until` it has no thread.

    Args:
        tick: Asked after each look how many seconds later to look again all the same.
    """
    end = anyio.current_time() + seconds
    while True:
        changed = agent.watch.changed
        found = await look()
        left = min(item for item in (tick(), end - anyio.current_time()) if item is not None)
        if found is not None or left <= 0:
            return found
        with anyio.move_on_after(left):
            await changed.wait()


async def _telling(tell: Tell | None, seconds: float, what: str, act: Callable[[], Awaitable[T]]) -> T:
    """The result of `act`, with signs of life from time to time if it may take a while."""
    if tell is None or not seconds:
        return await act()
    failure: TeamError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_keep_telling, tell, seconds, what)
        try:
            result = await act()
        except TeamError as error:  # a task group would hand it on inside a group of errors
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return result


async def _keep_telling(tell: Tell, seconds: float, what: str) -> None:
    start = time.monotonic()
    while True:
        await tell(time.monotonic() - start, seconds, what)
        await anyio.sleep(_TOLD_EVERY)
