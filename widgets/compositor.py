"""Compositor that paints all that moved, whatever was asked and shown in between.

A layout marks as dirty what stands elsewhere than in the map of the screen. Textual also renews that map when somebody
asks where a hidden widget is, and scrolling does not enter what it moved: what moved between two layouts then counted
as unmoved, and stayed painted at its old place for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._compositor import Compositor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual._compositor import CompositorMap, ReflowResult
    from textual.geometry import Region, Size
    from textual.widget import Widget


class MovesCompositor(Compositor):
    """Compares a layout with where the widgets stood when a layout or a scroll was last to be painted."""

    def __init__(self) -> None:
        super().__init__()
        self._placed: CompositorMap = self._full_map

    def clear(self) -> None:
        """Forget the widgets."""
        super().clear()
        self._placed = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """See `Compositor`."""
        before, is_compared = self._placed, self._full_map is self._placed
        result = super().reflow(parent, size)
        self._placed = self._full_map
        if not is_compared and size.region not in self._dirty_regions:
            self._dirty_regions.update(_moved(before, self._placed))
        return result

    def reflow_visible(self, parent: Widget, size: Size) -> set[Widget]:
        """See `Compositor`."""
        exposed = super().reflow_visible(parent, size)
        self._placed = {**self._placed, **(self._visible_map or {})}
        return exposed


def _moved(before: CompositorMap, after: CompositorMap) -> Iterator[Region]:
    """Where widgets were and are that are not where they were, as far as that is seen."""
    for _, place in before.items() ^ after.items():
        if seen := place.clip.intersection(place.region):
            yield seen
