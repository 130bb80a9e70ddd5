"""Send the terminal only the cells that changed.

Textual writes every cell of a region it repaints. The canvas keeps what the terminal shows and writes the difference.
With `TEAM_CONSOLE_CANVAS=off` all that Textual writes goes out as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any

from rich.cells import split_graphemes
from team_console.console.tui.textual_fixes import SYNC_END, SYNC_START, MendedDriver
from team_console.widgets.text import is_of_narrow_signs

_TOKEN = re.compile(
    r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;:]*)m(?:([^\x00-\x1f\x7f-\x9f]+)(\x1b\[0m)?)?|(\n)|([^\x00-\x1f\x7f-\x9f]+)"
)
"""A move (line, column), a style with its text and its end (a text rarely comes without), the end of a line, or plain
text: seven groups, of which those of one alternative are set."""
_CHANGES_NO_CELL = re.compile(
    r"(?:\x07|\x1b\](?:2|9|22|52|777|7501);[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[2[23];2t|\x1b\[\?(?:7|25|100[0346]|1015|2004)[hl])+"
)
"""Bell, title, notices, clipboard, modes of keyboard and mouse: they change no cell."""
_GAP = 6
"""Unchanged cells that take fewer bytes than a move over them."""
Cell = tuple[str, str]
"""The characters of a cell, none for the right half of a wide one, and the parameters of its style."""
Row = list[Cell | None]
"""The cells of a line; None for one whose content is not known."""
Run = tuple[str, int, int, str]
"""Style, line, column, text."""


class Canvas:
    """The cells that the terminal shows."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._cursor: tuple[int, int] | None = None

    def forget(self) -> None:
        """Assume nothing about the screen."""
        self._rows.clear()
        self._cursor = None

    def update(self, data: str) -> str:
        """Return what has to be written for `data` to be shown; what is not understood is returned unchanged."""
        if _CHANGES_NO_CELL.fullmatch(data):
            return data
        painted = self._paint(data)
        if painted is None:
            self.forget()
            return data
        rows, cursor = painted
        out, runs = list[str](), list[Run]()
        for number, row in rows.items():
            before = self._rows.get(number, [])
            self._rows[number] = row
            if row != before:
                if _has_uncertain_width(row) or _has_uncertain_width(before):
                    out += _redrawn_line(number, row)
                else:
                    runs += _changed(number, before, row)
        pen = None
        for style, number, column, text in sorted(runs):  # by style: a style takes more bytes than a move
            out.append(f"\x1b[{number};{column}H{_sgr(style) if style != pen else ''}{text}")
            pen = style
        if out:
            out.append("\x1b[m")
        if out or cursor != self._cursor:
            out.append(f"\x1b[{cursor[0]};{cursor[1]}H")
        self._cursor = cursor
        return "".join(out)

    def text_at(self, line: int, column: int, cells: int) -> str | None:
        """Return what stands in so many cells from there on, counted from 0; None where a cell is not known."""
        found = (self._rows.get(line + 1) or [])[column : column + cells]
        found += [None] * (cells - len(found))
        known = [cell[0] for cell in found if cell is not None]
        return "".join(known) if len(known) == cells else None

    def _paint(self, data: str) -> tuple[dict[int, Row], tuple[int, int]] | None:
        """Return the rows that `data` touches as they will be, by their number from 1, and line and column of the
        cursor behind it; None for anything but cells.
        """
        rows: dict[int, Row] = {}
        y = x = end = 0  # line and column of the cursor, from 1; y is 0 where the line is not known
        style = ""
        for match in _TOKEN.finditer(data):
            if match.start() != end:
                return None
            end = match.end()
            line, column, sgr, styled, reset, newline, plain = match.groups()
            if line is not None:
                y, x = int(line), int(column)
            elif newline is not None:
                y = 0
            elif sgr is not None:
                style = "" if sgr == "0" else sgr
            text = plain if styled is None else styled
            if text is not None:
                if not y:
                    return None
                cells = [(each, style) for each in (text if text.isascii() else _characters(text))]
                row = rows.get(y)
                if row is None:
                    row = rows[y] = list(self._rows.get(y, ()))
                begin, x = x - 1, x + len(cells)
                row += [None] * (begin + len(cells) - len(row))
                row[begin : begin + len(cells)] = cells
                if reset is not None:
                    style = ""
        return (rows, (y, x)) if end == len(data) and y else None


def _changed(number: int, before: Row, after: Row) -> Iterator[Run]:
    """Yield the changed cells of a line as runs of one style, with the few unchanged cells between them."""
    old = before + [None] * (len(after) - len(before))
    start = stop = 0  # of the run that grows; all of its cells have one style, so its last one stands for them
    for place, cell in enumerate(after):
        if cell is None or cell == old[place]:
            continue
        is_near = start < stop and place - stop <= _GAP
        if not is_near or any(near is None or near[1] != cell[1] for near in after[stop - 1 : place]):
            yield from _run_of_cells(number, start, after[start:stop])
            start = place
        stop = place + 1
    yield from _run_of_cells(number, start, after[start:stop])


def _run_of_cells(number: int, start: int, cells: Row) -> Iterator[Run]:
    """Yield cells of one style as a run; nothing for none."""
    known = [cell for cell in cells if cell is not None]
    if known:
        yield known[0][1], number, start + 1, "".join([text for text, _ in known])


def _redrawn_line(number: int, row: Row) -> Iterator[str]:
    """Yield a line with characters that some terminals show in another number of cells.

    Each word is put at its place, so that nothing else moves; it is not cut, so that a vowel stays with its letter.
    """
    if None not in row:
        yield f"\x1b[{number};1H\x1b[m\x1b[K"
    column = 1
    for key, group in groupby(row, lambda cell: cell and (cell[1], cell[0] == " ")):
        cells = list(group)
        if key is not None:
            yield f"\x1b[{number};{column}H{_sgr(key[0])}{''.join(cell[0] for cell in cells if cell is not None)}"
        column += len(cells)


def _sgr(style: str) -> str:
    """Return the sequence that sets this style alone (SGR)."""
    return f"\x1b[0;{style}m" if style else "\x1b[m"


def _has_uncertain_width(row: Row) -> bool:
    """Return whether some terminals show a character of the line in another number of cells."""
    return not is_of_narrow_signs("".join([cell[0] for cell in row if cell is not None]))


@lru_cache(maxsize=4096)
def _characters(text: str) -> tuple[str, ...]:
    """Return the characters of each cell."""
    cells: list[str] = []
    for start, stop, width in split_graphemes(text)[0]:
        if width:
            cells += [text[start:stop], *[""] * (width - 1)]
        elif cells:
            cells[-1] += text[start:stop]
    return tuple(cells)


class CanvasDriver(MendedDriver):
    """The driver of a terminal that writes through a canvas."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self.canvas = app.canvas
        self._is_synchronized = False
        self.is_on = os.environ.get("TEAM_CONSOLE_CANVAS") != "off"

    def write(self, data: str) -> None:
        """Send what `data` changes, as one picture; nothing when it changes nothing."""
        if not self.is_on:
            super().write(data)
        elif data in (SYNC_START, SYNC_END):
            self._is_synchronized = True
        elif changed := self.canvas.update(data):
            is_picture = self._is_synchronized and changed is not data
            super().write(f"{SYNC_START}{changed}{SYNC_END}" if is_picture else changed)
