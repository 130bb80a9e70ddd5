"""The few tones everything is written in, and how a widget turns them into terminal styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from widgets.cells import Line

if TYPE_CHECKING:
    from textual.widget import Widget as _Widget
else:
    _Widget = object

_RULES = {
    "muted": "color: $text-muted;",
    "faint": "color: $text-disabled;",
    "strong": "text-style: bold;",
    "accent": "color: $text-accent;",
    "head": "color: $text-accent; text-style: bold;",
    "good": "color: $text-success;",
    "warn": "color: $text-warning;",
    "bad": "color: $text-error;",
    "alarm": "color: $text-error; text-style: bold;",
    "alert": "color: $text-warning; text-style: bold;",
    "code": "color: $text-secondary;",
    "italic": "text-style: italic;",
    "key": "color: $text-accent; text-style: bold;",
    "chip": "background: $accent-muted; color: $text-accent;",
    "bad-chip": "background: $error-muted; color: $text-error; text-style: bold;",
    "warn-chip": "background: $warning-muted; color: $text-warning; text-style: bold;",
    "good-chip": "background: $success-muted; color: $text-success; text-style: bold;",
}
TONES = frozenset(_RULES)
"""Words a `Part` may carry as its tone; meaning never rests on them alone, a glyph or a word is always there too."""


def tone_css(widget: str) -> str:
    """The rules of all tones for the widget class named; put them first in its `DEFAULT_CSS`."""
    rules = "\n".join(f"  &> .tone--{tone} {{ {rule} }}" for tone, rule in _RULES.items())
    plain = "\n".join(f"  &:nocolor > .tone--{tone} {{ text-style: reverse; }}" for tone in TONES if "chip" in tone)
    return f"{widget} {{\n{rules}\n{plain}\n}}\n"


TONE_CLASSES = {f"tone--{tone}" for tone in TONES}


class Inked(_Widget):
    """What a widget with a line API is mixed with: lines of parts become strips in its component styles.

    The widget names `TONE_CLASSES` among its `COMPONENT_CLASSES` and `tone_css` in its `DEFAULT_CSS`.
    """

    _inks: dict[tuple[object, ...], Style] | None = None

    def ink(self, tone: str, *states: str) -> Style:
        """The terminal style of `tone` in a place with the component classes `states`."""
        inks = self._inks
        if inks is None:
            inks = self._inks = {}
        key = (self.has_focus, tone, *states)
        style = inks.get(key)
        if style is None:
            names = [*states, f"tone--{tone}"] if tone in TONES else list(states)
            style = inks[key] = self.get_visual_style(*names).rich_style
        return style

    def strip(self, line: Line, width: int, *states: str) -> Strip:
        """The line as a strip of exactly `width` cells; it must have that width already."""
        return Strip([Segment(text, self.ink(tone, *states)) for text, tone in line if text], width)

    def notify_style_update(self) -> None:
        """Forget styles that a new theme or state made wrong."""
        super().notify_style_update()
        self._inks = None
