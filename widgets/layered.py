"""A screen that shows through another one: what changes on it is painted with the one in front, and only that.

Textual marks both screens themselves then. A marked screen forgets which of its widgets are dirty, so that what one of
them changed at the same moment was not painted; and the one behind stays marked, so that each later change paints
anew all that was ever painted behind the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual import events

if TYPE_CHECKING:
    from textual._types import CallbackType
    from textual.geometry import Region
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    _Screen = object  # a mixin, as `Guarded` is


class Layered(_Screen):
    """What screens are mixed with that lie over others or have others over them, in front of Textual's own class."""

    def call_next(self, callback: CallbackType, *arguments: Any, **named: Any) -> None:
        """Call after what is done now; bare where that is enough: of a wrapped one Textual asks the signature anew."""
        if arguments or named:
            super().call_next(callback, *arguments, **named)
            return
        message = events.Callback(callback=callback)
        message._prevent.update(self._get_prevented_messages())
        self._next_callbacks.append(message)
        self.check_idle()

    async def _on_resize(self, event: events.Resize) -> None:
        """Take no size that the terminal has no more.

        A layout tells its own screen the size it was made for. Of two sizes that come while one picture is made, each
        would be told again after the other, without end: the console was lost to a window that is dragged.
        """
        if event.size != self.app.size:
            event.stop()
            event.prevent_default()

    def _compositor_refresh(self) -> None:
        front = self.app.screen
        if self is front or self.app.is_inline:
            super()._compositor_refresh()
            return
        dirty = self._compositor._dirty_regions
        if self in self.app._background_screens and dirty:
            _hand_over(dirty, front)
            dirty.clear()
            self._dirty_widgets.clear()


def _hand_over(regions: Iterable[Region], front: Screen[Any]) -> None:
    """Have the screen in front paint these regions, beside whatever of its own it has to paint."""
    front._set_dirty(*regions)
    front._dirty_widgets.add(front)
    front.check_idle()
