"""What Textual keeps of widgets that are closed is let go."""

from __future__ import annotations

from functools import cache

from textual._styles_cache import StylesCache


@cache
def let_go_of_closed_widgets() -> None:
    """Have all widgets share the colours that Textual works out for their lines.

    It keeps them by the widget as well, though they rest on two colours alone, and so it kept the last few hundred
    widgets that were closed with all their lines: 185 KB for each form.
    """
    StylesCache.get_inner_outer = classmethod(StylesCache.get_inner_outer)  # type: ignore[method-assign,assignment,arg-type]
