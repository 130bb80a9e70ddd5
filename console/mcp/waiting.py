"""Waiting for mail and verdicts inside a tool call: bounded, cancelled with its call, and told of while it lasts.

A call that waits has no thread: dozens of them would fill the pool and slow down every other call.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from team_console.console.mcp.acting_agent import ActingAgent
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller, Received
from team_console.store.service.waiting import Arrival
from team_console.store.views.verdicts import FollowedVerdict, Outcome

T = TypeVar("T")
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

            async def look() -> Outcome | None:
                outcome = await agent.watch.look(followed.look_again)
                return None if outcome is None or outcome.is_open else outcome

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
