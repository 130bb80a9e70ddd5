"""Waiting for mail and verdicts inside a tool call: bounded, cancelled with its call, and told of while it lasts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from threading import Event
from typing import TypeVar

import anyio
from team_console.console.mcp.acting_agent import ActingAgent
from team_console.store.desk.caller import Caller
from team_console.store.desk.inbox import Received
from team_console.store.desk.waiting import wait_for_messages
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.views.requests.verdicts import Outcome, await_verdict

T = TypeVar("T")
LONGEST = 45.0
"""Seconds a call waits at most: many clients give a call up after 60, and an answer has to travel, too."""
LEASE = 60.0
"""Seconds for which messages are held until it is clear that the call that takes them comes to its end."""
_SLICE = 1.0
"""Seconds after which a wait for mail looks whether its call was given up."""
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
    stop = Event()
    look = partial(_verdict, request_id=request_id, seconds=seconds, stop=stop, asked=asked)
    try:
        return await _telling(tell, seconds, f"waiting for an answer to {request_id}", partial(agent.wait, look))
    finally:
        stop.set()


async def wait_for_mail(agent: ActingAgent, take: Take, seconds: float, tell: Tell) -> Received:
    """What `take` hands out as soon as there is anything; nothing when `seconds` are over.

    Raises:
        TeamError: As for `receive`.
    """

    async def look() -> Received:
        end = anyio.current_time() + seconds
        while True:
            left = max(0.0, end - anyio.current_time())
            received = await agent.wait(partial(_taken, take=take, seconds=min(left, _SLICE)))
            if received.messages or left <= _SLICE:
                return received

    return await _telling(tell, seconds, "waiting for mail", look)


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


def _verdict(caller: Caller, *, request_id: str, seconds: float, stop: Event, asked: Message | None) -> Outcome:
    return await_verdict(caller.team, request_id, timeout=seconds, stop=stop.is_set, me=caller.actor, asked=asked)


def _taken(caller: Caller, *, take: Take, seconds: float) -> Received:
    return wait_for_messages(caller, take, timeout=seconds) if seconds else take(caller)


async def _keep_telling(tell: Tell, seconds: float, what: str) -> None:
    start = time.monotonic()
    while True:
        await tell(time.monotonic() - start, seconds, what)
        await anyio.sleep(_TOLD_EVERY)
