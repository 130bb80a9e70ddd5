"""The cells a text takes on a terminal, as the widgets counted them."""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import get_character_cell_size, split_graphemes
from team_console.console.terminal.pen import parts_of

_JOINING = re.compile("[\u200d\ufe0f\U0001f3fb-\U0001f3ff]")
"""What makes one emoji of two characters."""

_SURE = frozenset({"1", "3", "7"})
"""Attributes that do not change the colour of ink given as numbers."""
Cell = tuple[str, str]
"""The characters of one cell (none for the right half of a wide one) and its SGR parameters."""
Row = list[Cell | None]
"""The cells of a line from the left; None for one nobody wrote."""


def is_joined(text: str) -> bool:
    """Whether the text holds a joiner, a selector of emoji form or a colour of skin, which not every terminal knows."""
    return not text.isascii() and _JOINING.search(text) is not None


def cells_of(text: str, style: str) -> list[Cell]:
    """The cells of `text`, all of one style; what is all ink, or blank in reverse, as the blank it looks like."""
    style = _upright(style)
    blank = _blank_of_ink(style) if "█" in text or _is_reversed(style) else None
    if blank is None:
        return _cells_as_written(text, style)
    ink = " " if _is_reversed(style) else "█"
    return [(" ", blank) if cell[0] == ink else cell for cell in _cells_as_written(text, style)]


@lru_cache(maxsize=1024)
def _upright(style: str) -> str:
    """A style in reverse as the one it looks like, with ink and ground exchanged; the same where that is not sure."""
    attributes, front, back = parts_of(style)
    if "7" not in attributes or front[:3] != "38;" or back[:3] != "48;" or not _SURE.issuperset(attributes):
        return style
    return ";".join((*(code for code in attributes if code != "7"), f"38;{back[3:]}", f"48;{front[3:]}"))


@lru_cache(maxsize=256)
def _blank_of_ink(style: str) -> str | None:
    """The style in which a blank looks as if all ink of `style` were there; None where that is not sure."""
    attributes, front, _ = parts_of(style)
    if front[:3] != "38;" or not _SURE.issuperset(attributes):
        return None
    return f"48;{front[3:]}"


def _is_reversed(style: str) -> bool:
    return "7" in parts_of(style)[0]


def _cells_as_written(text: str, style: str) -> list[Cell]:
    if text.isascii():
        return [(character, style) for character in text]
    if is_joined(text):
        return _cells_of_clusters(text, style)
    cells: list[Cell] = []
    for character in text:
        size = get_character_cell_size(character)
        if size == 0 and cells:
            last = next(index for index in range(len(cells) - 1, -1, -1) if cells[index][0])
            cells[last] = (cells[last][0] + character, style)
        else:
            cells.append((character, style))
            if size == 2:
                cells.append(("", style))
    return cells


def _cells_of_clusters(text: str, style: str) -> list[Cell]:
    """The cells of a text in which several characters may make one, counted as the widgets counted them."""
    cells: list[Cell] = []
    for start, stop, width in split_graphemes(text)[0]:
        if width == 0 and cells:
            last = next(index for index in range(len(cells) - 1, -1, -1) if cells[index][0])
            cells[last] = (cells[last][0] + text[start:stop], style)
        else:
            cells += [(text[start:stop], style), *[("", style)] * (width - 1)]
    return cells
