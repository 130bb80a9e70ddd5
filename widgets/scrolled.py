"""What scrolling widgets share: the room they have for their content, and what they post when a record fails."""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView


def room_of(view: ScrollView) -> Size:
    """Cells inside border and scrollbars, as the last layout gave them.

    Textual's `size` asks the screen, which may not know the widget at the very moment its new size is told.
    """
    inside = view.outer_size - view.styles.gutter.totals
    width, height = inside.width - view.scrollbar_size_vertical, inside.height - view.scrollbar_size_horizontal
    return Size(max(0, width), max(0, height))


@dataclass
class NotShown(Message):
    """A record could not be drawn, because that raised `error`; the rest of the widget goes on."""

    error: Exception
