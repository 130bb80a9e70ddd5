"""Waiting for mail and verdicts inside a tool call: bounded, cancelled with its call, and told of while it lasts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from threading import Event

import anyio
from team_console.console.mcp.seat import Seat
from team_console.store.desk import inbox
from team_console.store.desk.caller import Caller
from team_console.store.desk.inbox import Received
from team_console.store.desk.waiting import wait_for_messages
from team_console.store.views.requests.verdicts import Outcome, await_verdict

LONGEST = 45.0
"""Seconds a call waits at most: many clients give a call up after 60, and an answer has to travel, too."""
LEASE = 60.0
"""Seconds for which messages are held until it is clear that the call that takes them comes to its end."""
_SLICE = 1.0
"""Seconds after which a wait for mail looks whether its call was given up."""
_TOLD_EVERY = 5.0
"""Seconds from one sign of life to the next."""

Tell = Callable[[float, float, str], Awaitable[None]]
"""Sends progress: seconds waited, seconds at most, what is waited for."""


async def wait_for_verdict(seat: Seat, request_id: str, seconds: float, tell: Tell | None = None) -> Outcome:
    """How a request stands as soon as it is not open any more, at the latest after `seconds`.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
    """
    stop = Event()
    try:
        async with anyio.create_task_group() as group:
            if tell is not None and seconds:
                group.start_soon(_keep_telling, tell, seconds, f"waiting for an answer to {request_id}")
            outcome = await seat.wait(partial(_verdict, request_id=request_id, seconds=seconds, stop=stop))
            group.cancel_scope.cancel()
            return outcome
    finally:
        stop.set()


async def wait_for_mail(seat: Seat, limit: int, seconds: float, tell: Tell) -> Received:
    """Messages taken under a lease, as soon as there are any; none when `seconds` are over.

    Raises:
        TeamError: As for `receive`.
    """
    async with anyio.create_task_group() as group:
        if seconds:
            group.start_soon(_keep_telling, tell, seconds, "waiting for mail")
        end = anyio.current_time() + seconds
        while True:
            left = end - anyio.current_time()
            received = await seat.wait(partial(_take, limit=limit, seconds=min(max(left, 0.0), _SLICE)))
            if received.messages or left <= _SLICE:
                group.cancel_scope.cancel()
                return received


def _verdict(caller: Caller, *, request_id: str, seconds: float, stop: Event) -> Outcome:
    return await_verdict(caller.team, request_id, timeout=seconds, stop=stop.is_set, me=caller.actor)


def _take(caller: Caller, *, limit: int, seconds: float) -> Received:
    take = partial(inbox.receive, agent=caller.actor, lease=LEASE, limit=limit)
    return wait_for_messages(caller, take, timeout=seconds) if seconds else take(caller)


async def _keep_telling(tell: Tell, seconds: float, what: str) -> None:
    start = time.monotonic()
    while True:
        await tell(time.monotonic() - start, seconds, what)
        await anyio.sleep(_TOLD_EVERY)
