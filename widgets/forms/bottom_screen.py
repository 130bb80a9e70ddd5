"""Where a form stands: it grows out of the bottom of what it is about, and its fields scroll where they need more."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from team_console.widgets.fields.in_sight import bring_into_sight
from team_console.widgets.fields.options import Options
from team_console.widgets.overlay import Overlay
from team_console.widgets.standing import Behind
from textual import on
from textual.events import Resize
from textual.geometry import NULL_SIZE, Region
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import TextArea

ResultT = TypeVar("ResultT")

_BROAD, _LEAST = 76, 8
"""Columns from which on a form has a button to leave; lines it has at least."""
_FEWEST = 2
"""Lines its fields have at least, however much is said below them."""
_FRAME = 2
"""Lines of the border and of the keys."""


class BottomScreen(Overlay, ModalScreen[ResultT | None], Generic[ResultT]):
    """A box at the bottom of the thing it is about, which moves with it and leaves room for it above.

    Attributes:
        behind: The screen it stands on; None for one that stands alone.
    """

    DEFAULT_CSS = """
    BottomScreen { align: left bottom; background: transparent; overflow: hidden hidden; }
    BottomScreen:ansi { background: transparent; }
    BottomScreen > .form--box { width: 100%; height: auto; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; padding: 0 1; }
    BottomScreen .form--body { height: auto; scrollbar-size-vertical: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.behind: Behind | None = None
        self._limit = _LEAST
        self._stood_in = Region()
        self._body_sizes = NULL_SIZE, NULL_SIZE

    def on_mount(self) -> None:
        """Follow what it stands on: that is laid out after the form where the terminal changes its size."""
        if self.behind is not None and self.behind.laid_out is not None:
            self.behind.laid_out.subscribe(self, self._follow, immediate=True)
        self.screen_layout_refresh_signal.subscribe(self, self._keep_place, immediate=True)

    def on_resize(self, event: Resize) -> None:
        """Another size gives it another place."""
        self.call_after_refresh(self.stand)

    def stand(self) -> None:
        """Stand at the bottom of the thing it is about, and leave room for that above."""
        self._stood_in = room = self._room_behind()
        box = self.query_one(".form--box")
        self.set_class(room.width < _BROAD, "-slim")
        box.styles.width = room.width
        box.styles.margin = (0, 0, max(0, self.app.size.height - room.bottom), room.x)
        self._limit = max(_LEAST, round(room.height * self.share()))
        self._fit()
        self.call_after_refresh(self.leave_room)

    def leave_room(self) -> None:
        """Take the lines it needs now; what it is about has the others."""
        self._fit()
        self.call_after_refresh(self._show_place)
        if self.behind is not None and self.is_attached and self.app.screen is self:
            self.behind.cover(self.query_one(".form--box").outer_size.height)

    def share(self) -> float:
        """How much of the room it may take."""
        return 0.6

    def fit_inside(self, lines: int) -> None:
        """Let what may give way fit into so many lines; the rest scrolls."""

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Give a field the focus and scroll to the place in it that keys act on, not to its middle."""
        super().set_focus(widget, scroll_visible=False, from_app_focus=from_app_focus)
        self.call_after_refresh(self._show_place)

    def _room_behind(self) -> Region:
        return self.behind.room() if self.behind is not None else self.app.size.region

    def _follow(self, behind: Screen[Any]) -> None:
        if self._stood_in and self._stood_in != self._room_behind():
            self.call_after_refresh(self.stand)

    def _keep_place(self, form: Screen[Any]) -> None:
        # A scrollbar that comes leaves less room beside it: words above a field take more lines and push it away,
        # after it was brought into sight.
        body = self.query_one(".form--body")
        before, self._body_sizes = self._body_sizes, (body.size, body.virtual_size)
        if self._body_sizes != before:
            self.call_after_refresh(self._show_place)

    def _fit(self) -> None:
        """Let fields scroll where they have too little room: keys, buttons and what went wrong stay in sight."""
        rest = _FRAME + sum(widget.outer_size.height for widget in self.query(".form--below") if widget.display)
        lines = max(_FEWEST, self._limit - rest)
        self.query_one(".form--body").styles.max_height = lines
        self.fit_inside(lines)

    @on(Options.Moved)
    @on(TextArea.SelectionChanged)
    def _show_place(self) -> None:
        body = self.query_one(".form--body")
        if self.focused is not None and body in self.focused.ancestors:
            bring_into_sight(self.focused, body)
