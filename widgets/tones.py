"""The few tones everything is written in, and how a widget turns them into terminal styles.

Tones are taken from the theme's variables rather than from component classes: a component class costs a
walk through the whole stylesheet for every widget that has it, and there are many widgets and many tones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from team_console.widgets.text import Line
from textual.color import Color, ColorParseError
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget as _Widget
else:
    _Widget = object  # a mixin: it stands before the real base


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
    "head1": Tone(bold=True, underline=True),
    "head": Tone(bold=True),
    "section": Tone("text-muted"),
    "good": Tone("text-success"),
    "warn": Tone("text-warning"),
    "bad": Tone("text-error"),
    "alarm": Tone("text-error", bold=True),
    "alert": Tone("text-warning", bold=True),
    "code": Tone("text-secondary"),
    "italic": Tone(italic=True),
    "key": Tone("text-accent", bold=True),
    "mark": Tone("text-warning", bold=True),
    "chip": Tone("text-accent", "accent-muted", bold=True),
    "hit": Tone(underline=True),
    "warn-chip": Tone("text-warning", "warning-muted", bold=True),
}
"""Words a `Part` may carry as its tone; meaning never rests on them alone, a glyph or a word is always there too."""


class ThemedLines(_Widget):
    """Mixin for widgets that draw lines themselves: turn a line of parts into a strip in the colours of the theme."""

    CURSOR: ClassVar[str] = "-none-"
    """The component class of what is selected; where colours lack it is shown reversed in all of its width."""
    _terminal_styles: dict[tuple[object, ...], Style] | None = None

    def strip(self, line: Line, width: int, *states: str) -> Strip:
        """Return the line as a strip of exactly `width` cells, in a place with the component classes `states`.

        It must have that width already. The terminal style of each tone is made when it is first asked for.
        """
        if self._terminal_styles is None:
            self._terminal_styles = {}
        segments = []
        for text, tone in line:
            key = (tone, self.has_focus, *states)
            if (style := self._terminal_styles.get(key)) is None:
                style = self._terminal_styles[key] = self._terminal_style(tone, *states)
            if text:
                segments.append(Segment(text, style))
        return Strip(segments, width)

    def _terminal_style(self, tone: str, *states: str) -> Style:
        """Return the style of a tone in a place with these component classes."""
        place = self.get_visual_style(*states)
        style = place.rich_style + _style(self.app, TONES.get(tone), place.background)
        if self.has_focus and self.CURSOR in states and has_few_colours(self.app):
            return Style(reverse=True, bold=style.bold)
        return style

    def notify_style_update(self) -> None:
        """Forget styles that a new theme or state made wrong."""
        super().notify_style_update()
        self._terminal_styles = None


def has_few_colours(app: App[object]) -> bool:
    """Return whether backgrounds of a theme cannot be told apart: no colours, the terminal's own, or 16 of them."""
    return app.no_color or app.current_theme.name.startswith("ansi") or app.console.color_system == "standard"


def _style(app: App[object], tone: Tone | None, background: Color | None) -> Style:
    """Return the tone over `background`; without colours what has a background of its own is shown reversed."""
    if tone is None:
        return Style.null()
    variables = app.theme_variables
    back = _colour(variables.get(tone.back, ""), background) if tone.back else None
    front = _colour(variables.get(tone.front, ""), back or background) if tone.front else None
    plain = bool(tone.back) and (has_few_colours(app) or (back is not None and back.ansi is not None))
    return Style(
        color=front.rich_color if front is not None else None,
        bgcolor=back.rich_color if back is not None and not plain else None,
        bold=tone.bold or None,
        italic=tone.italic or None,
        underline=tone.underline or None,
        dim=True if front is not None and front.ansi is not None and "%" in variables.get(tone.front, "") else None,
        reverse=plain or None,
    )


def _colour(text: str, background: Color | None) -> Color | None:
    """Return a colour as theme variables spell it: `#5fb3b3`, `auto 60%`, `ansi_default 50%`."""
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
