"""Waiting until a Textual app has handled what was sent to it, without waking widgets that have nothing to do.

`Pilot` asks every widget of the screen for a sign of life, several times for each key: two thirds of the work of a test
of the console. A widget whose task waits at its empty queue has handled everything; only the others are asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from textual.message_pump import MessagePump
from textual.pilot import Pilot

_TURNS = 5
"""Turns of the loop that a key takes from the driver, as from another thread, into the queue of the app."""


async def wait_for_widgets(pilot: Pilot[object], timeout: float = 60.0) -> bool:  # noqa: ASYNC109 - Pilot's own
    """Wait until the app and each widget of its screen that is at work has handled what it was sent until now.

    Returns:
        False when the app failed meanwhile, or has no screen.

    Raises:
        TimeoutError: One of them did not come to an end within `timeout` seconds.
    """
    app = pilot.app
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    if not app._screen_stack:
        return False
    handled = [event for pump in _at_work(app) if (event := _asked(pump))]
    if not handled:
        return True
    failed: asyncio.Task[bool] = asyncio.create_task(app._exception_event.wait())
    waiting = asyncio.gather(*(event.wait() for event in handled))
    done, _ = await asyncio.wait((waiting, failed), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    failed.cancel()
    waiting.cancel()
    if not done:
        raise TimeoutError(f"a widget did not handle its messages within {timeout} s")
    return waiting in done


def _at_work(app: MessagePump) -> Iterator[MessagePump]:
    for pump in (app, *app.app.screen.walk_children(with_self=True)):
        arrival: asyncio.Event = pump._message_queue.ready_event
        if arrival.is_set() or not arrival._waiters:
            yield pump


def _asked(pump: MessagePump) -> asyncio.Event | None:
    """An event for when it has handled all that came before; None when it takes nothing any more."""
    event = asyncio.Event()
    return event if pump.call_later(event.set) else None
