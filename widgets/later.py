"""Calls a function later, without the task that each of Textual's timers takes: many are set and few ever come due."""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget


def later(node: MessagePump, seconds: float, function: Callable[[], None]) -> TimerHandle:
    """Call `function` after so many seconds, unless `cancel` of what is returned is called.

    It runs as a message of `node`, so that a defect in it is told as any other and not printed by the loop.
    """
    return asyncio.get_running_loop().call_later(seconds, node.call_next, function)


# The base of messages in which a widget tells that something happened in it.

WidgetT = TypeVar("WidgetT", bound=Widget)


@dataclass
class WidgetMessage(Message, Generic[WidgetT]):
    """Something happened in `widget`, by whose id handlers choose what they are told of."""

    widget: WidgetT

    @property
    def control(self) -> WidgetT:
        """See `Message.control`."""
        return self.widget
