"""Lines of a terminal as SVG, for pictures of what really stood there."""

from __future__ import annotations

from html import escape
from itertools import groupby

from pyte import Screen
from pyte.screens import Char

from tests.equipment.cases import constant

CELL, LINE = 8.4, 17
"""Width of a cell and height of a line, in the units of the picture."""
BACK, FRONT = "#131920", "#cfd6de"
_FONTS = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
    f"font-family='{_FONTS}' "
    f'font-size="14" fill="{FRONT}"><style>text{{{{white-space:pre}}}}.b{{{{font-weight:bold}}}}'
)
"""The beginning of a picture, to be formatted with its size, up to the inside of its style."""
_NAMED = constant(__file__, "_NAMED", dict[str, str])


def drawn_line(screen: Screen, number: int) -> str:
    """Return one line of the screen: what stands behind it, and its text in runs of one look."""
    line = [screen.buffer[number][x] for x in range(screen.columns)]
    backs, runs = [], []
    for (back, front, bold), same in groupby(enumerate(line), lambda place: _look_of(place[1])):
        places = list(same)
        x, text = places[0][0] * CELL, "".join(cell.data for _, cell in places)
        if back not in ("", BACK):
            backs.append(f'<rect x="{x:.0f}" width="{len(places) * CELL:.0f}" height="{LINE}" fill="{back}"/>')
        look = (f' fill="{front}"' if front not in ("", FRONT) else "") + (' class="b"' if bold else "")
        runs.append(f"<tspan{look}>{escape(text)}</tspan>" if look and text.strip() else escape(text))
    return f'{"".join(backs)}<text y="13">{"".join(runs).rstrip()}</text>'


def _look_of(cell: Char) -> tuple[str, str, bool]:
    """Return its colours, back and front, and whether it is bold."""
    back, front = (_NAMED.get(name, f"#{name}") for name in (cell.bg, cell.fg))
    return (front, back, cell.bold) if cell.reverse else (back, front, cell.bold)
