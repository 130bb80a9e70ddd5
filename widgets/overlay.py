"""A screen that lies over another one is closed once, however many keys ask for it, and closes only itself.

Textual's `dismiss` and `pop_screen` take away whatever is on top. Two keys typed quickly both reach the screen that is
about to go, so the second would close what was below it, or end in an error when nothing was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete

if TYPE_CHECKING:
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    _Screen = object  # a mixin: it stands before the real base


class Overlay(_Screen):
    """What screens over others are mixed with, in front of Textual's own class; their keys call `dismiss`."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close with the result, unless it is gone already or another screen lies over it."""
        return super().dismiss(result) if self._is_on_top() else AwaitComplete()

    def _is_open(self) -> bool:
        return self in self.app.screen_stack

    def _is_on_top(self) -> bool:
        try:
            return self.app.screen is self
        except ScreenStackError:
            return False
