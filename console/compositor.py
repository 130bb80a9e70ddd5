"""Compositor of a screen that renders only what is painted anew.

Textual renders every widget beside or behind a changed one, the whole screen for a single line, and writes a changed
line from the left edge of its widget on. Here a change costs what it changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any

from rich.cells import cached_cell_len
from rich.console import Console
from team_console.widgets.compositor import MovesCompositor
from textual._compositor import ChopsUpdate
from textual.geometry import Region
from textual.screen import UPDATE_PERIOD, Screen
from textual.strip import Strip
from textual.widget import Widget

_MOST_BANDS = 12
"""Parts that are rendered one by one; of more, as where a whole list changes, each widget is rendered in one go."""
Rendered = tuple[Region, Region, list[Strip]]
"""The place of a widget, the part of it that is painted, and the lines of that part."""


class SparingCompositor(MovesCompositor):
    """Renders the widgets of a screen, in a partial update only the lines that are dirty.

    Attributes:
        painted_at: When it was last asked for an update, in seconds of `time.monotonic`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bands: tuple[Region, ...] = ()
        self.painted_at = 0.0

    def render_partial_update(self) -> ChopsUpdate | None:
        """See `Compositor`; None when nothing is to be painted."""
        self.painted_at = monotonic()
        bands = bands_of(self._regions_to_spans(self._dirty_regions))
        self._bands = bands if len(bands) <= _MOST_BANDS else ()
        try:
            update = super().render_partial_update()
        finally:
            self._bands = ()
        return update and SpansUpdate(update.chops, update.spans, update.chop_ends)

    def _get_renders(self, crop: Region | None = None) -> Iterable[Rendered]:
        return self._renders_in_bands() if self._bands else super()._get_renders(crop)

    def _renders_in_bands(self) -> Iterator[Rendered]:
        """Widgets from the front to the back, each in the bands that those before it leave open."""
        open_bands = list(self._bands)
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            for band in [band for band in open_bands if seen.overlaps(band)]:
                part = seen.intersection(Region(seen.x, band.y, seen.width, band.height))
                yield region, part, widget.render_lines(part.translate(-region.offset))
                if seen.contains_region(band):
                    open_bands.remove(band)


def paint_now(screen: Screen[Any]) -> None:
    """Paint what changed on a screen at once, when that is lines of our own alone; Textual waits for its next frame.

    What comes within a frame of the last picture does wait, so that many changes are one picture.
    """
    compositor = screen._compositor
    if not screen._dirty_widgets or not isinstance(compositor, SparingCompositor):
        return
    unsettled = [widget for widget in compositor.visible_widgets if _is_unsettled(widget)]
    for widget in unsettled:  # told to the screen now, not after it has painted once without
        if widget is not screen:  # what the screen was told already would be taken for its own wish, and forgotten
            widget._check_refresh()
    if not unsettled and monotonic() - compositor.painted_at > UPDATE_PERIOD:
        screen._on_timer_update()


def _is_unsettled(widget: Widget) -> bool:
    """Whether more of it changes than is marked already: its place, its styles, or what Textual itself draws."""
    return (
        widget._layout_required
        or widget._scroll_required
        or widget._repaint_required
        or widget._recompose_required
        or widget._refresh_styles_required
    )


class SpansUpdate(ChopsUpdate):
    """Writes the cells of each changed span and none before or after it."""

    def render_segments(self, console: Console) -> str:
        """The update as terminal sequences."""
        return "\n".join(
            "".join([f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, strip in self.pieces(y, x1, x2)])
            for y, x1, x2 in self.spans
        )

    def pieces(self, y: int, start: int, stop: int) -> Iterator[tuple[int, Strip]]:
        """What stands in the cells of a line from `start` to before `stop`, each piece with its first cell."""
        for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=True):
            first, last = max(x, start), min(end, stop)
            if strip is not None and first < last:
                yield first, _cropped(strip, first - x, last - x)


def _cropped(strip: Strip, start: int, stop: int) -> Strip:
    """As `Strip.crop`, without its steps for each segment; mostly whole segments of plain letters are wanted."""
    if not start and stop == strip.cell_length:
        return strip
    inside, at = [], 0
    for segment in strip:
        end = at + cached_cell_len(segment.text)  # no longer than a line of the terminal
        if end > start:
            if at < start or end > stop:
                return strip.crop(start, stop)
            inside.append(segment)
        at = end
        if at >= stop:
            break
    return Strip(inside, stop - start)


def bands_of(spans: Iterable[tuple[int, int, int]]) -> tuple[Region, ...]:
    """Regions that hold the spans (line, first column, column after the last), neighbouring lines together."""
    bands: list[Region] = []
    for y, start, stop in spans:
        last = bands[-1] if bands else None
        if last is not None and (last.x, last.bottom, last.right) == (start, y, stop):
            bands[-1] = last.grow((0, 0, 1, 0))
        else:
            bands.append(Region(start, y, stop - start, 1))
    return tuple(bands)
