"""The few tones everything is written in, and how a widget turns them into terminal styles.

Tones are taken from the theme's variables rather than from component classes: a component class costs a
walk through the whole stylesheet for every widget that has it, and there are many widgets and many tones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from team_console.widgets.guarded import Guarded
from team_console.widgets.text import Line, clusters, is_of_narrow_signs
from textual.color import Color, ColorParseError
from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.app import App


_MAY_JOIN = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u1cff\u1dc0-\u1dff\u200d\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff"
    "\u302a-\u302f\u3099\u309a\ua66f-\uabff\ud7b0-\ud7ff\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd-\U0001bfff"
    "\U0001cf00-\U0001d24f\U0001da00-\U0001e8ff\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]"
)
"""Blocks of what stands in the cell of the character before it; hardly a text has any of them."""


plain_segment: Callable[[tuple[str, Style | None, None]], Segment] = partial(tuple.__new__, Segment)
"""What `Segment(...)` gives, without a call of its own."""


class Whole(Segment):
    """One character that is written as several; where it is cut, both halves are blank, as those of a wide one are.

    Textual cuts a line wherever another widget begins above or below it, and rich would cut this one in its middle.
    """

    __slots__ = ()

    def split_cells(self, cut: int) -> tuple[Segment, Segment]:
        """What stands before the cell `cut`, and the rest."""
        room = self.cell_length
        if cut <= 0:
            return Segment("", self.style), self
        if cut >= room:
            return self, Segment("", self.style)
        return Segment(" " * cut, self.style), Segment(" " * (room - cut), self.style)


def segments_of(text: str, style: Style | None) -> list[Segment]:
    """The text as segments: one, as nearly always, or more where it has characters that must stay whole."""
    if is_of_narrow_signs(text) or _MAY_JOIN.search(text) is None:
        return [Segment(text, style)]
    segments: list[Segment] = []
    plain = 0
    for start, stop, _ in clusters(text):
        if stop - start == 1:
            continue
        if start > plain:
            segments.append(Segment(text[plain:start], style))
        segments.append(Whole(text[start:stop], style))
        plain = stop
    if plain < len(text):
        segments.append(Segment(text[plain:], style))
    return segments


def kept_whole(strip: Strip) -> Strip:
    """The strip with such segments, when others made it."""
    if strip.text.isascii():
        return strip
    return Strip([part for segment in strip for part in segments_of(segment.text, segment.style)], strip.cell_length)


class Tone(Struct, frozen=True):
    """A theme variable for the letters, one for what is behind them, and a weight."""

    front: str = ""
    back: str = ""
    bold: bool = False
    italic: bool = False
    underline: bool = False


TONES: Mapping[str, Tone] = {
    "muted": Tone("text-muted"),
    "faint": Tone("text-disabled"),
    "strong": Tone(bold=True),
    "accent": Tone("text-accent"),
    "open": Tone("text-secondary"),
    "head": Tone(bold=True),
    "good": Tone("text-success"),
    "warn": Tone("text-warning"),
    "bad": Tone("text-error"),
    "alarm": Tone("text-error", bold=True),
    "alert": Tone("text-warning", bold=True),
    "code": Tone("text-secondary"),
    "italic": Tone(italic=True),
    "key": Tone("text-accent", bold=True),
    "mark": Tone("text-warning", bold=True),
    "bar": Tone("accent"),
    "chip": Tone("text-accent", "accent-muted", bold=True),
    "hit": Tone(underline=True),
    "moved": Tone(bold=True),
    "warn-chip": Tone("text-warning", "warning-muted", bold=True),
}
"""Words a `Part` may carry as its tone; meaning never rests on them alone, a glyph or a word is always there too."""


class _Inks(dict[str, Style]):
    """Tone -> style."""

    def __init__(self, make: Callable[[str], Style]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, tone: str) -> Style:
        style = self[tone] = self._make(tone)
        return style


class Inked(Guarded):
    """What a widget with a line API is mixed with: lines of parts become strips in the tones of the theme."""

    CURSOR: ClassVar[str] = "-none-"
    """The component class of what is selected; where colours lack it is shown reversed in all of its width."""
    _inks: dict[tuple[object, ...], _Inks] | None = None

    def inks(self, *states: str) -> Mapping[str, Style]:
        """The terminal style of each tone in a place with the component classes `states`, made when first asked for."""
        if self._inks is None:
            self._inks = {}
        place = (self.has_focus, *states)
        inks = self._inks.get(place)
        if inks is None:
            inks = self._inks[place] = _Inks(lambda tone: self._ink(tone, *states))
        return inks

    def _ink(self, tone: str, *states: str) -> Style:
        place = self.get_visual_style(*states)
        style = place.rich_style + _style(self.app, TONES.get(tone), place.background)
        if self.has_focus and self.CURSOR in states and has_few_colours(self.app):
            return Style(reverse=True, bold=style.bold)
        return style

    def strip(self, line: Line, width: int, *states: str) -> Strip:
        """The line as a strip of exactly `width` cells; it must have that width already."""
        inks = self.inks(*states)
        segments: list[Segment] = []
        for text, tone in line:
            if not text.isascii():
                segments += segments_of(text, inks[tone])
            elif text:  # nearly always: a call of ours for each part would be most of the work
                segments.append(plain_segment((text, inks[tone], None)))
        return Strip(segments, width)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Paint again: the screen is told at once, where Textual has two messages for each widget that changed."""
        if not repaint or layout or recompose or not self.is_mounted or not self.is_attached or not self.display:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        self._set_dirty(*regions)
        screen = self.screen
        screen._dirty_widgets.add(self)
        screen.check_idle()
        return self

    def notify_style_update(self) -> None:
        """Forget styles that a new theme or state made wrong."""
        super().notify_style_update()
        self._inks = None


def has_few_colours(app: App[object]) -> bool:
    """Whether backgrounds of a theme cannot be told apart: no colours, the terminal's own, or 16 of them."""
    return app.no_color or app.current_theme.name.startswith("ansi") or app.console.color_system == "standard"


def _style(app: App[object], tone: Tone | None, background: Color | None) -> Style:
    """The tone over `background`; without colours what has a background of its own is shown reversed."""
    if tone is None:
        return Style.null()
    variables = app.theme_variables
    back = _colour(variables.get(tone.back, ""), background) if tone.back else None
    front = _colour(variables.get(tone.front, ""), back or background) if tone.front else None
    plain = bool(tone.back) and (has_few_colours(app) or (back is not None and back.ansi is not None))
    return Style(
        color=front.rich_color if front is not None else None,
        bgcolor=back.rich_color if back is not None and not plain else None,
        bold=True if tone.bold else None,
        italic=True if tone.italic else None,
        underline=True if tone.underline else None,
        dim=True if front is not None and front.ansi is not None and "%" in variables.get(tone.front, "") else None,
        reverse=True if plain else None,
    )


def _colour(text: str, background: Color | None) -> Color | None:
    """A colour as theme variables spell it: `#5fb3b3`, `auto 60%`, `ansi_default 50%`."""
    name, _, share = text.partition(" ")
    part = float(share.rstrip("%")) / 100 if share else 1.0
    background = background or Color(0, 0, 0)
    try:
        colour = background.get_contrast_text(part) if name == "auto" else Color.parse(name)
    except ColorParseError:
        return None
    if colour.ansi is not None:
        return colour
    return background + (colour if name == "auto" or not share else colour.multiply_alpha(part))
