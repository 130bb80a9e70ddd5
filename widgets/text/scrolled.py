"""A scrolled widget whose lines are our own, with a bar beside them, drawn in as little time as they need."""

from __future__ import annotations

from typing import Any

from team_console.widgets.text.plain_sides import PlainSides
from team_console.widgets.text.tones import Inked
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar


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
