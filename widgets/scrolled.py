"""A scrolled widget whose lines are our own, with a bar beside them, drawn in as little time as they need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from team_console.widgets.tones import Inked
from textual._border import get_box
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.css.styles import StylesBase
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.style import Style

if TYPE_CHECKING:
    from rich.style import Style as RichStyle
    from textual.widget import Widget


_OVER_A_LINE = ("hatch", "tint", "text_opacity")
_ROUND_A_LINE = ("outline_top", "outline_right", "outline_bottom", "outline_left")


class PlainSides(StylesCache):
    """What Textual keeps of a widget's lines; those with border and padding alone are made the short way."""

    _first, _is_plain = 0, False
    _blank: RichStyle | None = None
    _left: tuple[Segment, ...] = ()
    _right: tuple[Segment, ...] = ()
    _filters: Sequence[LineFilter] = ()

    def render(self, styles: StylesBase, size: Size, *rest: Any, **named: Any) -> list[Strip]:
        """The lines asked for; once for all of them is looked whether the short way says the same.

        Colours of a theme are numbers already wherever Textual would make numbers of the terminal's own colours.
        """
        behind, background, line_of, filters, *titles = rest
        self._is_plain = named.get("opacity", 1.0) == 1.0 and not _is_decorated(styles)
        if self._is_plain:
            self._first = styles.gutter.top
            self._make_sides(styles, behind, background)
        self._filters = [each for each in filters if not isinstance(each, ANSIToTruecolor)]
        return super().render(styles, size, behind, background, line_of, self._filters, *titles, **named)

    def render_line(self, styles: StylesBase, y: int, size: Size, *rest: Any) -> Strip:
        """One line with its sides."""
        content, _, _, _, line_of, *_ = rest
        row = y - self._first
        if not self._is_plain or not 0 <= row < content.height:
            return super().render_line(styles, y, size, *rest)
        return self._with_sides(line_of(row), content.width, size.width)

    def _with_sides(self, line: Strip, room: int, width: int) -> Strip:
        whole = line.adjust_cell_length(room, self._blank)
        return Strip((*self._left, *whole, *self._right), width) if self._left or self._right else whole

    def _make_sides(self, styles: StylesBase, behind: Color, background: Color) -> None:
        inner, outer = self.get_inner_outer(behind, background)
        self._blank = inner.rich_style
        (_, (right, right_colour), _, (left, left_colour)), padding = styles.border, styles.padding
        blanks = [(Segment(" " * cells, inner.rich_style),) if cells else () for cells in (padding.left, padding.right)]
        before = (get_box(left, inner, outer, Style(foreground=behind + left_colour))[1][0],) if left else ()
        after = (get_box(right, inner, outer, Style(foreground=behind + right_colour))[1][2],) if right else ()
        self._left, self._right = (*before, *blanks[0]), (*blanks[1], *after)


class PlainLine(PlainSides):
    """What Textual keeps of a widget of one line, and what is round the line, for as long as Textual keeps that."""

    _known: tuple[Size, int] | None = None

    def clear(self) -> None:
        """Forget the line and what is round it: something else than its words changed."""
        super().clear()
        self._known = None

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """The line in its sides; nothing of it is clicked as a link."""
        if self._known is None or self._known[0] != widget.outer_size or crop.line_span != (0, 1) or self._filters:
            lines = super().render_widget(widget, crop)
            is_whole = self._is_plain and self._first == 0 and widget.size.height == 1
            self._known = (widget.outer_size, widget.size.width) if is_whole else None
            return lines
        (width, _), room = self._known
        line = None if self.is_dirty(0) else self._cache.get(0)
        if line is None:
            line = self._cache[0] = self._with_sides(widget.render_line(0), room, width)
            self._dirty_lines.clear()
        return [line if crop.column_span == (0, width) else line.crop(*crop.column_span)]


def _is_decorated(styles: StylesBase) -> bool:
    """Whether something lies over the lines, or around them beyond border and padding."""
    if any(styles.has_rule(name) for name in _OVER_A_LINE):
        return True
    return any(styles.has_rule(name) and getattr(styles, name)[0] for name in _ROUND_A_LINE)


class Scrolled(Inked, ScrollView):
    """The base of lists and documents."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._styles_cache = PlainSides()

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The bar, which is drawn anew with every line that is scrolled."""
        bar = super().vertical_scrollbar
        if not isinstance(bar._styles_cache, PlainSides):
            bar._styles_cache = PlainSides()
        return bar


# The room a scrolling widget has for its content.


def room_of(view: ScrollView) -> Size:
    """Cells inside border and scrollbars, as the last layout gave them.

    Textual's `size` asks the screen, which may not know the widget at the very moment its new size is told.
    """
    inside = view.outer_size - view.styles.gutter.totals
    width, height = inside.width - view.scrollbar_size_vertical, inside.height - view.scrollbar_size_horizontal
    return Size(max(0, width), max(0, height))


# What Textual keeps of widgets that are closed is let go.


@cache
def let_go_of_closed_widgets() -> None:
    """Have all widgets share the colours that Textual works out for their lines.

    It keeps them by the widget as well, though they rest on two colours alone, and so it kept the last few hundred
    widgets that were closed with all their lines: 185 KB for each form.
    """
    StylesCache.get_inner_outer = classmethod(StylesCache.get_inner_outer)  # type: ignore[method-assign,assignment,arg-type]
