"""The progress bar, the one kind there is: told by stroke as well as by colour."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.widgets.text import Line, Part

DONE, RUNNING, FAILED, OPEN = ("━", "good"), ("┅", "open"), ("×", "bad"), ("─", "faint")
"""Stroke and tone of each part."""


def progress_bar(width: int, parts: Sequence[tuple[Part, int]], total: int) -> Line:
    """Return a bar of `width` cells; each part is a stroke with its tone and how many of `total` it stands for."""
    cells: list[Part] = []
    used = seen = 0
    for (stroke, tone), number in parts:
        seen += number
        end = round(width * seen / max(1, total))
        if end > used:
            cells.append((stroke * (end - used), tone))
            used = end
    return (*cells, (OPEN[0] * (width - used), OPEN[1])) if used < width else tuple(cells)
