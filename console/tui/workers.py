"""Work that is done beside the keys: in a worker of the screen, or later."""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from textual.dom import DOMNode
from textual.message_pump import MessagePump


def start_worker(
    node: DOMNode,
    work: Callable[..., Coroutine[Any, Any, None]],
    *arguments: object,
    group: str,
    exit_on_error: bool = False,
) -> None:
    """Run `work` with its arguments as a worker of `node`.

    It is called when the worker begins: an app that is told to end before would leave a coroutine that nobody awaits,
    and Python says so on the terminal.
    """
    begun: Any = partial(work, *arguments)
    # Without a description Textual writes all arguments out as text: a view of 10,000 messages takes 0.6 s.
    node.run_worker(begun, group=group, description=group, exit_on_error=exit_on_error)


def call_later_on(node: MessagePump, seconds: float, function: Callable[[], None]) -> TimerHandle:
    """Call `function` after so many seconds, unless `cancel` of what is returned is called.

    Each of Textual's timers takes a task; of these many are set, and few ever come due.

    It runs as a message of `node`, so that a defect in it is told as any other and not printed by the loop.
    """
    return asyncio.get_running_loop().call_later(seconds, node.call_next, function)
