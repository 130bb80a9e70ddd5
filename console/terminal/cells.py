"""The cells a text takes on a terminal, as the widgets counted them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import repeat
from unicodedata import category

from rich.cells import get_character_cell_size, split_graphemes
from team_console.console.terminal.pen import parts_of
from team_console.widgets.text.cells import is_of_narrow_signs

_UNUSUAL = re.compile(
    "[\u0600-\u1cff\u200d\ufe0e\ufe0f\ua800-\uabff\ud7b0-\ud7ff\U00010a00-\U0001bfff\U0001f3fb-\U0001f3ff\U0001fa70-\U0001faff]"
)
"""Blocks in which there are characters of doubtful width; hardly a text has any of them."""
_DOUBTFUL = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u08e2\u0e33\u0eb3\u1160-\u11ff\u200d\ufe0e\ufe0f\ud7b0-\ud7ff"
    "\U0001f3fb-\U0001f3ff\U0001fa70-\U0001faff]"
)
"""Signs of Arabic that stand before what they mark, vowels that Thai and Lao write as two, vowels and ends of Korean
syllables; what makes one emoji of two characters or another of one, and the block of emoji that still grows."""

_SURE = frozenset({"1", "3", "7"})
"""Attributes that do not change the colour of ink given as numbers."""
Cell = tuple[str, str]
"""The characters of one cell (none for the right half of a wide one) and its SGR parameters."""
Row = list[Cell | None]
"""The cells of a line from the left; None for one nobody wrote."""


def is_doubtful(text: str) -> bool:
    """Whether the text holds a character that takes another number of cells in one terminal than in another.

    Above all vowels that are written beside their consonant, as Hindi and Tamil have them, and joined emoji.
    """
    return not is_of_narrow_signs(text) and _UNUSUAL.search(text) is not None and any(map(_is_doubtful, text))


@lru_cache(maxsize=1024)
def _is_doubtful(character: str) -> bool:
    return _DOUBTFUL.match(character) is not None or category(character) == "Mc"


def cells_of(text: str, style: str) -> list[Cell]:
    """The cells of `text`, all of one style; what is all ink, or blank in reverse, as the blank it looks like."""
    style, is_reversed, blank = _as_seen(style)
    if blank is None or not (is_reversed or "█" in text):
        return list(zip(text, repeat(style))) if text.isascii() else _cells_as_written(text, style)
    ink = " " if is_reversed else "█"
    return [(" ", blank) if cell[0] == ink else cell for cell in _cells_as_written(text, style)]


@lru_cache(maxsize=1024)
def _as_seen(style: str) -> tuple[str, bool, str | None]:
    """A style as what it looks like, whether that still is in reverse, and the style of a blank that looks like ink."""
    style = _upright(style)
    return style, _is_reversed(style), _blank_of_ink(style)


def _upright(style: str) -> str:
    """A style in reverse as the one it looks like, with ink and ground exchanged; the same where that is not sure."""
    attributes, front, back = parts_of(style)
    if "7" not in attributes or front[:3] != "38;" or back[:3] != "48;" or not _SURE.issuperset(attributes):
        return style
    return ";".join((*(code for code in attributes if code != "7"), f"38;{back[3:]}", f"48;{front[3:]}"))


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
    if is_doubtful(text):
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
