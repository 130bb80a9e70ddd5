"""Breakpoints: the classes a terminal's size gives the screen, which style sheets fit their layout to."""

from __future__ import annotations

from textual.geometry import Size

HORIZONTAL = [(0, "-slim"), (72, "-narrow"), (100, "-wide")]
VERTICAL = [(0, "-low"), (20, "-middle"), (30, "-tall")]
BROAD = 160
"""Columns from which on a third column shows the team; Textual gives a screen one class of width only."""


def size_classes(size: Size) -> tuple[str, ...]:
    """The classes of a size, to have from the first picture on and not only after the first resize."""
    fitting = (
        max((least, name) for least, name in steps if least <= cells)[1]
        for cells, steps in zip(size, (HORIZONTAL, VERTICAL), strict=True)
    )
    return (*fitting, "-broad") if size.width >= BROAD else tuple(fitting)
