"""The cells a text takes on a terminal, as the widgets counted them."""

from __future__ import annotations

import re

from rich.cells import get_character_cell_size, split_graphemes

_JOINING = re.compile("[\u200d\ufe0f\U0001f3fb-\U0001f3ff]")
"""What makes one emoji of two characters."""

Cell = tuple[str, str]
"""The characters of one cell (none for the right half of a wide one) and its SGR parameters."""
Row = list[Cell | None]
"""The cells of a line from the left; None for one nobody wrote."""


def is_joined(text: str) -> bool:
    """Whether the text holds a joiner, a selector of emoji form or a colour of skin, which not every terminal knows."""
    return not text.isascii() and _JOINING.search(text) is not None


def cells_of(text: str, style: str) -> list[Cell]:
    """The cells of `text`, all of one style."""
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
