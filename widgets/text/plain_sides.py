"""Sides of a widget that is scrolled, made once for all its lines.

Textual works out border, outline, hatching, tint and opacity for each line anew, which costs more than the line itself;
a page of a long text has forty of them.
"""

from __future__ import annotations

from typing import Any

from rich.segment import Segment
from textual._border import get_box
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.css.styles import StylesBase
from textual.filter import ANSIToTruecolor
from textual.geometry import Size
from textual.strip import Strip
from textual.style import Style

_OVER_A_LINE = ("hatch", "tint", "text_opacity")
_ROUND_A_LINE = ("outline_top", "outline_right", "outline_bottom", "outline_left")


class PlainSides(StylesCache):
    """What Textual keeps of a widget's lines; those with border and padding alone are made the short way."""

    _first, _is_plain = 0, False
    _left: tuple[Segment, ...] = ()
    _right: tuple[Segment, ...] = ()

    def render(self, styles: StylesBase, size: Size, *rest: Any, **named: Any) -> list[Strip]:
        """The lines asked for; once for all of them is looked whether the short way says the same.

        Colours of a theme are numbers already wherever Textual would make numbers of the terminal's own colours.
        """
        behind, background, line_of, filters, *titles = rest
        self._is_plain = named.get("opacity", 1.0) == 1.0 and not _is_decorated(styles)
        if self._is_plain:
            self._first = styles.gutter.top
            self._make_sides(styles, behind, background)
        needed = [each for each in filters if not isinstance(each, ANSIToTruecolor)]
        return super().render(styles, size, behind, background, line_of, needed, *titles, **named)

    def render_line(self, styles: StylesBase, y: int, size: Size, *rest: Any) -> Strip:
        """One line with its sides."""
        content, _, behind, background, line_of, *_ = rest
        row = y - self._first
        if not self._is_plain or not 0 <= row < content.height:
            return super().render_line(styles, y, size, *rest)
        inner, _ = self.get_inner_outer(behind, background)
        line: Strip = line_of(row).adjust_cell_length(content.width, inner.rich_style)
        if not self._left and not self._right:
            return line
        return Strip((*self._left, *line, *self._right), size.width)

    def _make_sides(self, styles: StylesBase, behind: Color, background: Color) -> None:
        inner, outer = self.get_inner_outer(behind, background)
        (_, (right, right_colour), _, (left, left_colour)), padding = styles.border, styles.padding
        blanks = [(Segment(" " * cells, inner.rich_style),) if cells else () for cells in (padding.left, padding.right)]
        before = (get_box(left, inner, outer, Style(foreground=behind + left_colour))[1][0],) if left else ()
        after = (get_box(right, inner, outer, Style(foreground=behind + right_colour))[1][2],) if right else ()
        self._left, self._right = (*before, *blanks[0]), (*blanks[1], *after)


def _is_decorated(styles: StylesBase) -> bool:
    """Whether something lies over the lines, or around them beyond border and padding."""
    if any(styles.has_rule(name) for name in _OVER_A_LINE):
        return True
    return any(styles.has_rule(name) and getattr(styles, name)[0] for name in _ROUND_A_LINE)
