"""Characters for a terminal of another encoding than UTF-8: what it cannot show is told in as many cells.

Python writes `\\u25c6` there, six cells for one, and everything behind it stands elsewhere than the console believes.
"""

from __future__ import annotations

import codecs

from rich.cells import get_character_cell_size

ERRORS = "team-console-cells"
"""Name of the way to encode, for `str.encode`."""
_ALIKE = {
    character: plain
    for plain, characters in {
        "*": "●◉◆•■▣★",
        "o": "○◌◇□◐",
        "+": "✓✚",
        "x": "✗✕×",
        "!": "‼",
        "@": "◷◔↻",
        "^": "△▲↑",
        "v": "↓▼",
        ">": "→›▸",
        "<": "←‹◂",
        ".": "…·",
        "-": "─━┅┄–—−",
        "|": "│┃▏▎▍▌▋▊▐",
        "#": "█▁▂▃▄▅▆▇▀",
        '"': "“”„«»",
        "'": "‘’",
    }.items()
    for character in characters
}


def _in_as_many_cells(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_ALIKE.get(each) or "?" * get_character_cell_size(each) for each in characters), error.end


codecs.register_error(ERRORS, _in_as_many_cells)
