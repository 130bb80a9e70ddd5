"""The line between a list and the thing under its cursor: how the room is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from team_console.console.tui.cache import ScreenCache
from team_console.widgets.detail import Detail
from textual.containers import Container

if TYPE_CHECKING:
    from textual.widget import Widget

_SHARES_SIDE_BY_SIDE, _SHARES_BELOW = (12, 13), (10, 10)
"""Shares of list and detail, side by side and below each other."""
_MOST = 8
"""Shares the divider moves at most."""


class Divider:
    """Shares the room of one pane; where the human moved the line, it is in all of them."""

    def __init__(self, pane: Container, cache: ScreenCache) -> None:
        self._pane, self._cache = pane, cache

    def move(self, shares: int) -> None:
        """Give the list more of the room, or less."""
        self._cache.divider = max(-_MOST, min(_MOST, self._cache.divider + shares))
        self.lay_out()

    def shrink_list(self, is_shrunk: bool) -> None:
        """Leave the list a few lines, or give it its room back."""
        self._pane.set_class(is_shrunk, "-inside")
        self.lay_out()

    def show_form(self, form: Widget) -> None:
        """Show a form below the thing it is about; a narrow list gives way."""
        self._pane.add_class("-asking")
        self._pane.query_one(".pane--thing").mount(form)
        self.lay_out()

    def remove_form(self, form: Widget) -> None:
        """Give the thing its room back."""
        self._pane.remove_class("-asking")
        form.remove()
        self.lay_out()

    def lay_out(self) -> None:
        """Put the divider where the human wants it."""
        pane = self._pane
        rows, thing = pane.query_one(".pane--rows"), pane.query_one(".pane--thing")
        is_wide = pane.screen.has_class("-wide")
        moved = 0 if pane.query_one(Detail).fills_screen else self._cache.divider
        is_inside = pane.has_class("-inside") or pane.has_class("-asking")
        for widget, place, sign in ((rows, 0, 1), (thing, 1, -1)):
            share = f"{max(1, (_SHARES_SIDE_BY_SIDE if is_wide else _SHARES_BELOW)[place] + sign * moved)}fr"
            widget.styles.width = share if moved and is_wide else None
            widget.styles.height = share if moved and not is_wide and not is_inside else None
