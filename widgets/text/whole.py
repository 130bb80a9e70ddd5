"""Segments that are cut between characters, never within one: a letter with its marks, a flag, joined emoji."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from rich.segment import Segment
from rich.style import Style
from team_console.widgets.text.cells import clusters, is_of_narrow_signs
from textual.strip import Strip

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
