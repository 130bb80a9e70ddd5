"""The base of messages in which a widget tells that something happened in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from textual.message import Message
from textual.widget import Widget

WidgetT = TypeVar("WidgetT", bound=Widget)


@dataclass
class Told(Message, Generic[WidgetT]):
    """Something happened in `widget`, by whose id handlers choose what they are told of."""

    widget: WidgetT

    @property
    def control(self) -> WidgetT:
        """See `Message.control`."""
        return self.widget
