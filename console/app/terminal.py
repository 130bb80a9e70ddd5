"""Sends the terminal only the cells that changed, as curses does: a slow line carries little.

Textual writes every cell of a region it repaints, with a full colour sequence for each run. This driver
remembers what the terminal shows and writes the difference. What it does not understand it passes on
unchanged and then assumes nothing about the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rich.cells import get_character_cell_size, split_graphemes

if TYPE_CHECKING:
    from textual.driver import Driver

SYNC_BEGIN, SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
_TOKEN = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;:]*)m|(\n)|([^\x00-\x1f\x7f-\x9f]+)")
_ASIDE = re.compile(
    r"(?:\x07|\x1b\](?:2|9|22|777);[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[2[23];2t|\x1b\[\?(?:7|25|100[0346]|1015|2004)[hl])+",
)
"""Bell, title, notices, shape of the pointer, modes of keyboard and mouse: no cell changes."""
_JOINING = re.compile("[\u200d\ufe0f\U0001f3fb-\U0001f3ff]")
"""What makes one emoji of two characters."""
_GAP = 4
"""Unchanged cells that are cheaper to write again than to jump over."""
_PLAIN = ""
_BLANKS = 10
"""More spaces than this are erased rather than written."""
_STEPS = 3
"""Steps back that are shorter than naming the place."""
_HOME = (1, 1)
"""Where the cursor is left when nothing is typed; it is hidden then and may stay where it is."""

Cell = tuple[str, str]
"""The characters of one cell (none for the right half of a wide one) and its SGR parameters."""


class Canvas:
    """What the terminal is known to show, and the shortest way from there to something else."""

    def __init__(self, *, erases: bool = False) -> None:
        """`erases`: the terminal erases characters (ECH) in the present background colour."""
        self._erases = erases
        self._rows: dict[int, list[Cell | None]] = {}
        self._position: tuple[int, int] | None = None
        self._pen = Pen()

    def forget(self) -> None:
        """Assume nothing about what is on the screen."""
        self._rows.clear()
        self._position = None
        self._pen.lose()

    def update(self, data: str) -> str:
        """What to write so that the screen becomes what `data` would make it."""
        if _ASIDE.fullmatch(data):
            return data
        painted = self._paint(data)
        if painted is None:
            reset = self._pen.to("")
            self.forget()
            return reset + data
        rows, position = painted
        self._pen.lift()
        out = "".join(piece for number in sorted(rows) for piece in self._difference(number, rows[number]))
        if position != self._position or (out and position != _HOME):
            out += f"\x1b[{position[0]};{position[1]}H"
        self._position = position
        return out

    def _paint(self, data: str) -> tuple[dict[int, list[Cell | None]], tuple[int, int]] | None:
        """The rows `data` touches as they will be, and where it leaves the cursor; None when it does more than that."""
        rows: dict[int, list[Cell | None]] = {}
        y, x, style, end = 0, 0, _PLAIN, 0
        for match in _TOKEN.finditer(data):
            if match.start() != end:
                return None
            end = match.end()
            row, column, sgr, newline, text = match.groups()
            if row is not None:
                y, x = int(row), int(column)
            elif sgr is not None:
                style = "" if sgr in ("", "0") else sgr
            elif text is not None:
                if not y:
                    return None
                cells = _cells(text, style)
                line = rows.get(y)
                if line is None:
                    line = rows[y] = list(self._rows.get(y, ()))
                if len(line) < x - 1 + len(cells):
                    line.extend([None] * (x - 1 + len(cells) - len(line)))
                line[x - 1 : x - 1 + len(cells)] = cells
                x += len(cells)
            elif newline:
                y = 0
        return (rows, (y, x)) if end == len(data) and y else None

    def _difference(self, number: int, line: list[Cell | None]) -> Iterator[str]:
        """The changed runs of a row; a row with wide characters is written from its first change on in full."""
        before = self._rows.get(number, [])
        self._rows[number] = line
        if line == before:
            return
        before = before + [None] * (len(line) - len(before))
        runs = _runs(before, line)
        if any(cell is not None and not cell[0] for cell in (*before, *line)):
            runs = [(_first_known(line), len(line))]
        pen = self._pen
        for start, stop in runs:
            yield pen.move(number, start + 1)
            column = start + 1
            for style, text, width in _stretches(line[start:stop]):
                column += width
                if not (text.isspace() and pen.blanks_like(style)):
                    yield pen.to(style)
                if self._can_erase(text, style):
                    yield pen.erase(len(text))
                else:
                    yield pen.write(text)
                if _is_joined(text):
                    # Terminals differ in how wide this is: name the place of what follows, so that nothing moves.
                    pen.lift(row=number)
                    yield pen.move(number, column)
            if stop >= len(line):
                pen.lift(row=number)

    def _can_erase(self, text: str, style: str) -> bool:
        """Whether they are spaces that are shorter to erase, and the terminal does that in the background's colour."""
        blank = self._erases and len(text) > _BLANKS and text.isspace()
        return blank and _SHOWS_ON_BLANKS.isdisjoint(_parts(style)[0])


def _stretches(cells: list[Cell | None]) -> Iterator[tuple[str, str, int]]:
    """Neighbouring cells of one style as that style, their text and how many they are; a joined character by itself."""
    known = [cell for cell in cells if cell is not None]
    for style, group in groupby(known, itemgetter(1)):
        texts = [cell[0] for cell in group]
        begin = 0
        for index, text in enumerate(texts):
            if _is_joined(text):
                if index > begin:
                    yield style, "".join(texts[begin:index]), index - begin
                end = index + 1
                while end < len(texts) and not texts[end]:
                    end += 1
                yield style, text, end - index
                begin = end
        if begin < len(texts):
            yield style, "".join(texts[begin:]), len(texts) - begin


def _is_joined(text: str) -> bool:
    """Whether the text holds a joiner, a selector of emoji form or a colour of skin, which not every terminal knows."""
    return not text.isascii() and _JOINING.search(text) is not None


def _runs(before: list[Cell | None], after: list[Cell | None]) -> list[tuple[int, int]]:
    """Stretches that differ, those joined that are only a small known gap apart."""
    runs: list[tuple[int, int]] = []
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if new is None or old == new:
            continue
        if runs and _is_small(after[runs[-1][1] - 1 : index + 1]):
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs


def _is_small(gap: list[Cell | None]) -> bool:
    """Whether the cells between the first and the last are cheaper to write than to jump over."""
    if len(gap) > _GAP + 2 or None in gap:
        return False
    styles = [cell[1] for cell in gap if cell is not None]
    return set(styles[1:-1]) <= {styles[0], styles[-1]}


def _first_known(line: list[Cell | None]) -> int:
    return next((index for index, cell in enumerate(line) if cell is not None), 0)


def _cells(text: str, style: str) -> list[Cell]:
    if text.isascii():
        return [(character, style) for character in text]
    if _is_joined(text):
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


class Pen:
    """The style the terminal writes in at the moment, and where it writes as far as that is sure.

    The column is sure after plain text only: terminals differ in the width of other characters, and in what a move
    does after the last column was written. `ahead` are cells erased with the pen still before them.
    """

    def __init__(self) -> None:
        self.style: str | None = _PLAIN
        self._row, self._column, self._ahead = 0, 0, 0

    def lose(self) -> None:
        """Know nothing of the terminal's state any more."""
        self.style = None
        self.lift()

    def lift(self, *, row: int = 0) -> None:
        """Know nothing of the place any more, or only the row."""
        self._row, self._column, self._ahead = row, 0, 0

    def to(self, style: str) -> str:
        """Change to `style` and return the sequence for that."""
        before, self.style = self.style, style
        if before is None:
            return f"\x1b[0;{style}m" if style else "\x1b[0m"
        return _change(before, style)

    def move(self, row: int, column: int) -> str:
        """Go to a place, counted from 1, in few bytes."""
        before, self._row, self._column, self._ahead = (self._row, self._column), row, column, 0
        back = before[1] - column
        if row == before[0]:
            return f"\x1b[{column}G" if back else ""
        if before[1] and row == before[0] + 1 and 0 <= back <= _STEPS:
            return "\x1b[B" + "\b" * back
        return f"\x1b[{row};{column}H"

    def write(self, text: str) -> str:
        """Write characters."""
        skip, self._ahead = self._ahead, 0
        self._column = self._column + skip + len(text) if self._column and text.isascii() else 0
        return (f"\x1b[{skip}C" if skip else "") + text

    def erase(self, cells: int) -> str:
        """Make the next cells blank; the pen goes over them when more is written."""
        skip, self._ahead = self._ahead, cells
        self._column += skip if self._column else 0
        return (f"\x1b[{skip}C" if skip else "") + f"\x1b[{cells}X"

    def blanks_like(self, style: str) -> bool:
        """Whether spaces look the same in the present style as in `style`."""
        if self.style is None:
            return False
        (here, _, back), (there, _, other) = _parts(self.style), _parts(style)
        return back == other and _SHOWS_ON_BLANKS.isdisjoint(here) and _SHOWS_ON_BLANKS.isdisjoint(there)


def _change(pen: str, style: str) -> str:
    """The sequence from one style to another: what is new in it, and what of the old one has to end."""
    if not style:
        return "\x1b[0m" if pen else ""
    old, new = _parts(pen), _parts(style)
    ended = [code for code in old[0] if code not in new[0]]
    if any(code not in _ENDS for code in ended):
        return f"\x1b[0;{style}m"
    codes = [_ENDS[code] for code in ended]
    codes += [code for code in new[0] if ended or code not in old[0]]
    if new[1] != old[1]:
        codes.append(new[1] or "39")
    if new[2] != old[2]:
        codes.append(new[2] or "49")
    return f"\x1b[{';'.join(codes)}m" if codes else ""


_SHOWS_ON_BLANKS = frozenset({"4", "5", "7", "9", "21", "53"})
_ENDS = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}


@lru_cache(maxsize=4096)
def _parts(style: str) -> tuple[tuple[str, ...], str, str]:
    """Attributes, foreground and background of SGR parameters."""
    codes = style.split(";") if style else []
    attributes: list[str] = []
    front, back = "", ""
    while codes:
        code = codes.pop(0)
        if code in ("38", "48") and codes:
            count = 4 if codes[0] == "2" else 2
            colour = ";".join([code, *codes[:count]])
            del codes[:count]
        else:
            colour = code
        number = int(code) if code.isdigit() else 0
        if 30 <= number <= 39 or 90 <= number <= 97:
            front = colour
        elif 40 <= number <= 49 or 100 <= number <= 107:
            back = colour
        else:
            attributes.append(code)
    return tuple(attributes), front, back


def erases_in_colour() -> bool:
    """Whether the terminal database promises ECH in the background's colour."""
    import curses

    try:
        curses.setupterm()
        return bool(curses.tigetstr("ech")) and curses.tigetflag("bce") > 0
    except curses.error:
        return False


def sparing(driver_class: type[Driver]) -> type[Driver]:
    """A driver that writes through a `Canvas` and never waits for a terminal that is gone."""

    class SparingDriver(driver_class):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.canvas = Canvas(erases=erases_in_colour())
            self._begun = False

        def write(self, data: str) -> None:
            if data == SYNC_BEGIN:
                self._begun = True
            elif data == SYNC_END:
                if not self._begun:
                    self._send(data)
                self._begun = False
            else:
                changed = self.canvas.update(data)
                if changed:
                    self._send((SYNC_BEGIN if self._begun else "") + changed)
                    self._begun = False

        def _send(self, data: str) -> None:
            writer = getattr(self, "_writer_thread", None)
            if writer is None or writer.is_alive():
                super().write(data)

    return SparingDriver
