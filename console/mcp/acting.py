"""The agent that acts through MCP tools: its work at the team, in threads, and its waits, which have none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from threading import Lock
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import Received
from team_console.store.service.waiting import Arrival, follow
from team_console.store.views.rows import RequestRow, View
from team_console.store.views.status import view_of_team
from team_console.store.views.verdicts import FollowedVerdict

T = TypeVar("T")
# guard: mcp-wait-limit
LONGEST = 45.0
"""Seconds a call waits at most: many clients give a call up after 60, and an answer has to travel, too."""
LEASE = 60.0
"""Seconds for which messages are held until it is clear that the call that takes them comes to its end."""
_TOLD_EVERY = 5.0
"""Seconds from one sign of life to the next."""

Take = Callable[[Caller], Received]
"""A `receive` of the inbox with everything but who calls filled in; under a lease, for its call may be given up."""
SendProgress = Callable[[float, float, str], Awaitable[None]]
"""Sends progress to a client that asked for it: seconds waited, seconds at most, what is waited for."""


class ActingAgent:
    """One agent of a team. Any number of calls may be under way; they take turns at its open team, in a thread.

    Attributes:
        name: Who acts; it comes from the environment of the process and is no argument of any tool.
        location: The team, as `-t` takes it; None for that of the environment or of the current folder.
        _turn: Lets one call at a time into a thread; `_guard` lets one thread at a time to the team.
        _waits: How many calls wait for a change.
        _following: The task that follows the team for all of them; None while no call waits.
        _changed: Set at the next change, and then replaced by a new one.
    """

    def __init__(self, name: str, location: str | None) -> None:
        self.name = name
        self.location = location
        self._team: Team | None = None
        self._turn = CapacityLimiter(1)
        self._guard = Lock()
        self._waits = 0
        self._following: asyncio.Task[None] | None = None
        self._changed = anyio.Event()

    async def run(self, act: Callable[[Caller], T]) -> T:
        """Return the result of `act` on behalf of this agent, in a thread; a call that is given up is finished.

        Raises:
            TeamError: What `act` raises, or `TEAM_NOT_FOUND`.
        """
        return await to_thread.run_sync(self._run, act, limiter=self._turn)

    def open(self) -> Team:
        """Open the team unless it is open.

        Raises:
            TeamError: `TEAM_NOT_FOUND`.
        """
        if self._team is None:
            self._team = open_team(self.location)
        return self._team

    def close(self) -> None:
        """Release the team."""
        # A task that the loop itself cancels leaves its thread behind, which may still be at work there.
        with self._guard:
            if self._team is not None:
                self._team.close()
                self._team = None

    def _run(self, act: Callable[[Caller], T]) -> T:
        with self._guard:
            return act(Caller(self.open(), self.name))

    async def until(
        self, look: Callable[[Caller], T | None], tick: Callable[[], float | None], seconds: float
    ) -> T | None:
        """Return what `look` finds now or after a change; None after `seconds`. Unlike the store's own it needs no
        thread.

        Args:
            tick: Asked after each look how many seconds later to look again all the same.

        Raises:
            TeamError: What `look` raises, or `TEAM_NOT_FOUND`.
        """
        end = anyio.current_time() + seconds
        async with self._watch():
            while True:
                changed = self._changed  # taken before the look, or a change between look and wait would be missed
                found = await self.run(look)
                left = min(item for item in (tick(), end - anyio.current_time()) if item is not None)
                if found is not None or left <= 0:
                    return found
                with anyio.move_on_after(left):
                    await changed.wait()

    @asynccontextmanager
    async def _watch(self) -> AsyncIterator[None]:
        """Follow the team as long as at least one call waits: one watch for all of them."""
        self._waits += 1
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._following.cancel()
                self._following = None

    async def _follow(self) -> None:
        """Wake the calls that wait at each change of the team, until this task is cancelled."""
        async for hint in follow(await self.run(lambda caller: caller.team)):
            if not hint.beside:
                before, self._changed = self._changed, anyio.Event()
                before.set()


def view_for(caller: Caller) -> View:
    """Return everything views know about the team of `caller` now, for it.

    Raises:
        TeamError: `STORE_UNREADABLE`: an unreadable queue is not an empty one.
    """
    return view_of_team(caller.team, caller.team.snapshot().require_known(), me=caller.actor)


# Waiting for mail and verdicts inside a tool call: bounded, cancelled with its call, and told of while it lasts.


async def await_answer(
    agent: ActingAgent, request_id: str, seconds: float, tell: SendProgress, *, asked: Message | None = None
) -> RequestRow:
    """Return the request once it is no longer open, at the latest after `seconds`.

    Args:
        asked: The question as it was written; an answer to anything else is refused.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
    """

    followed = await agent.run(
        lambda caller: FollowedVerdict(caller.team, request_id, me=agent.name, asked=asked),
    )
    if not seconds:
        return await agent.run(lambda caller: followed.look())

    async def settled() -> RequestRow:
        first = await agent.run(lambda caller: followed.look_again())
        asked_back_before = first.asked_back if first is not None else None

        def look(caller: Caller) -> RequestRow | None:
            """Return the request once it is decided, or its asker is asked something that was not asked before."""
            outcome = followed.look_again()
            if outcome is None:
                return None
            is_asked_now = outcome.asked_back not in (None, asked_back_before)
            return outcome if is_asked_now or not outcome.is_open else None

        found: RequestRow | None = await agent.until(look, followed.seconds_left, seconds)
        return await agent.run(lambda caller: followed.end()) if found is None else found

    return await _act_with_progress(tell, seconds, f"waiting for an answer to {request_id}", settled)


async def await_mail(agent: ActingAgent, take: Take, seconds: float, tell: SendProgress) -> Received:
    """Return what `take` hands out as soon as there is mail; nothing after `seconds`.

    Raises:
        TeamError: As for `receive`.
    """
    if not seconds:
        return await agent.run(take)
    arrival = Arrival(take)

    async def arrived() -> Received:
        found: Received | None = await agent.until(arrival.look, arrival.tick, seconds)
        return await agent.run(arrival.end) if found is None else found

    return await _act_with_progress(tell, seconds, "waiting for mail", arrived)


async def _act_with_progress(tell: SendProgress, seconds: float, what: str, act: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `act`, with signs of life from time to time."""
    failure: TeamError | None = None

    async def keep_telling() -> None:
        start = time.monotonic()
        while True:
            await tell(time.monotonic() - start, seconds, what)
            await anyio.sleep(_TOLD_EVERY)

    async with anyio.create_task_group() as group:
        group.start_soon(keep_telling)
        try:
            result = await act()
        except TeamError as error:  # a task group would hand it on inside a group of errors
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return result
