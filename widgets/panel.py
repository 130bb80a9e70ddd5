"""What panels and screens over others share: titles on edges, room for content, messages, and being closed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from team_console.widgets.text import Line, Part, cell_len, crop_name, key_at, width_of
from team_console.widgets.tones import TONES
from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.style import Style
from textual.widget import Widget

if TYPE_CHECKING:
    _Widget = Widget
else:
    _Widget = object  # a mixin: it stands before the real base

_LEAST = 8
"""Cells that the left part of a title keeps beside a right part that stays."""


class TitledPanel(_Widget):
    """A panel whose title row is its edge: doubled where the keys go, single elsewhere, also without colours."""

    KEEPS_RIGHT: ClassVar[bool] = False
    """Whether the left part of the title is cut where both have no room; else the right part goes."""
    _left: Line = ()
    _right: Line = ()
    _title_drawn: Line = ()

    def set_title(self, left: Line, right: Line = ()) -> None:
        """Show safe text at the two ends of the edge."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.draw_title()

    def notify_style_update(self) -> None:
        """Draw the edge as the focus and the theme want it now."""
        super().notify_style_update()
        self.draw_title()

    def on_click(self, event: Click) -> None:
        """Press the key that is clicked on in the title."""
        if event.y < self.gutter.top:
            press_shown_key(self, self._title_drawn, event.x - 1)  # the first cell is the edge

    def draw_title(self) -> None:
        """Write the title, with the edge between its two parts."""
        before, room = " ", self.outer_size.width - 2
        if self.styles.border_left[0]:  # the toolkit sets a blank behind a corner, and keeps one more
            before, room = "", room - 2
        blanks = 2  # one before each part, one behind it
        least_left = _LEAST if self.KEEPS_RIGHT else width_of(self._left) + blanks + 1
        right = self._right if width_of(self._right) + blanks <= room - least_left else ()
        room_of_left = room - (width_of(right) + blanks if right else 0)
        parts: list[Part] = []
        cells_left = room_of_left - blanks
        for text, tone in self._left:
            shown = crop_name(text, max(0, cells_left))
            parts.append((shown, tone))
            cells_left -= cell_len(shown)
        line: Line = ((before, ""), *parts, (" ", "")) if parts else ()
        title = Content.assemble(*_styled(line))
        if right:
            kind, colour = self.styles.border_top
            edge = ("═" if kind == "double" else "─") * max(0, room_of_left - title.cell_length)
            said: Line = ((" ", ""), *right, (" ", ""))
            title = Content.assemble(title, Content.styled(edge, Style(foreground=colour)), *_styled(said))
            line = (*line, (edge, ""), *said)
        self._title_drawn = line
        if self.border_title != title:
            self.border_title = title


def _styled(line: Line) -> list[tuple[str, str]]:
    return [(text, _style(tone)) for text, tone in line]


def _style(tone: str) -> str:
    """Return a tone as styles of the toolkit spell it."""
    known = TONES.get(tone)
    if known is None:
        return ""
    words = ["bold"] if known.bold else []
    if known.front:
        words.append(f"${known.front}")
    return " ".join(words)


def room_of(view: ScrollView) -> Size:
    """Return the cells inside border and scrollbars, as the last layout gave them.

    Textual's `size` asks the screen, which may not know the widget at the very moment its new size is told.
    """
    inside = view.outer_size - view.styles.gutter.totals
    width, height = inside.width - view.scrollbar_size_vertical, inside.height - view.scrollbar_size_horizontal
    return Size(max(0, width), max(0, height))


# What a widget tells: that something happened in it, or that a part of it could not be drawn.

WidgetT = TypeVar("WidgetT", bound=Widget)


@dataclass
class WidgetMessage(Message, Generic[WidgetT]):
    """Something happened in `widget`, by whose id handlers choose what they are told of."""

    widget: WidgetT

    @property
    def control(self) -> WidgetT:
        """See `Message.control`."""
        return self.widget


@dataclass
class KeyClicked(WidgetMessage[Widget]):
    """A key that the screen shows was clicked on; it is to be pressed. `key` is written as people write it."""

    key: str


def press_shown_key(widget: Widget, line: Line, cell: int) -> None:
    """Have the key pressed that a line of `widget` shows at a cell, if it shows one there."""
    if key := key_at(line, cell):
        widget.post_message(KeyClicked(widget, key))


@dataclass
class NotShown(Message):
    """A record could not be drawn, because that raised `error`; the rest of the widget goes on."""

    error: Exception


if TYPE_CHECKING:
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    _Screen = object  # a mixin: it stands before the real base


class Overlay(_Screen):
    """What screens over others are mixed with, in front of Textual's own class; their keys call `dismiss`.

    It is closed once, however many keys ask for it, and closes only itself: Textual's `dismiss` takes away whatever is
    on top, so the second of two quick keys would close what was below, or end in an error when nothing was.
    """

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close with the result, unless it is gone already or another screen lies over it."""
        return super().dismiss(result) if self._is_on_top() else AwaitComplete()

    def _is_open(self) -> bool:
        """Return whether it is on the screen or below another one."""
        return self in self.app.screen_stack

    def _is_on_top(self) -> bool:
        """Return whether no screen lies over it, and it is still there."""
        try:
            return self.app.screen is self
        except ScreenStackError:
            return False
