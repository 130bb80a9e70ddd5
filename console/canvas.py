"""Sends the terminal only the cells that changed, as curses does: a slow line carries little.

Textual writes every cell of a region it repaints, with a full colour sequence for each run. The canvas
remembers what the terminal shows and writes the difference. What it does not understand it passes on
unchanged and then assumes nothing about the screen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, repeat
from operator import itemgetter, ne
from unicodedata import category

from msgspec import Struct
from rich.cells import get_character_cell_size, split_graphemes
from team_console.widgets.text import is_of_narrow_signs

PLAIN = ""
"""The style of a terminal nobody told anything."""
_STEPS = 3
"""Steps back that are shorter than naming the place."""


class Pen:
    """The style the terminal writes in at the moment, and where it writes as far as that is sure.

    The column is sure after plain text only: terminals differ in the width of other characters, and in what a move
    does after the last column was written. `ahead` are cells erased with the pen still before them.
    """

    def __init__(self) -> None:
        self.style: str | None = PLAIN
        self._row, self._column, self._ahead = 0, 0, 0

    def copy(self) -> Pen:
        """Another one in the same state, to try a way with."""
        other = Pen()
        other.style, other._row, other._column, other._ahead = self.style, self._row, self._column, self._ahead
        return other

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
            return f"\x1b[0;{style}m" if style else "\x1b[m"
        return change(before, style)

    def move(self, row: int, column: int) -> str:
        """Go to a place, counted from 1, in few bytes."""
        before, self._row, self._column, self._ahead = (self._row, self._column), row, column, 0
        back = before[1] - column
        if row == before[0]:
            return _within_row(before[1], column)
        if before[0] and row == before[0] + 1:
            if before[1] and 0 <= back <= _STEPS:
                return "\x1b[B" + "\b" * back
            return min("\x1b[E" + (_ahead(column - 1) if column > 1 else ""), _there(row, column), key=len)
        return _there(row, column)

    def write(self, text: str) -> str:
        """Write characters."""
        skip, self._ahead = self._ahead, 0
        self._column = self._column + skip + len(text) if self._column and text.isascii() else 0
        return (_ahead(skip) if skip else "") + text

    def erase(self, cells: int) -> str:
        """Make the next cells blank; the pen goes over them when more is written."""
        skip, self._ahead = self._ahead, cells
        self._column += skip if self._column else 0
        return (_ahead(skip) if skip else "") + f"\x1b[{cells}X"

    def to_blank(self, style: str) -> str:
        """Change so that blanks look as in `style`; of letters everything else stays, so that they cost less after."""
        if self.style is None or self.blanks_like(style):
            return "" if self.style is not None else self.to(style)
        (here, front, _), (there, _, back) = parts_of(self.style), parts_of(style)
        if not SHOWS_ON_BLANKS.isdisjoint((*here, *there)):
            return self.to(style)
        return self.to(";".join(filter(None, (*here, front, back))))

    def blanks_like(self, style: str) -> bool:
        """Whether spaces look the same in the present style as in `style`."""
        return self.style is not None and are_blanks_alike(self.style, style)


def are_blanks_alike(style: str, other: str) -> bool:
    """Whether spaces look the same in both styles."""
    (here, _, back), (there, _, behind) = parts_of(style), parts_of(other)
    return back == behind and SHOWS_ON_BLANKS.isdisjoint(here) and SHOWS_ON_BLANKS.isdisjoint(there)


def _within_row(column: int, target: int) -> str:
    """The way along a row; `column` is 0 where nobody knows where it begins.

    No control byte alone moves the cursor, though it would be shorter: whoever reads what reaches the terminal can tell
    our moves from such bytes in a text that was not made safe.
    """
    if column == target:
        return ""
    there = f"\x1b[{target}G" if target > 1 else "\x1b[G"
    if column and column < target:
        return min(there, _ahead(target - column), key=len)
    return there


def _there(row: int, column: int) -> str:
    return f"\x1b[{row};{column}H" if column > 1 else f"\x1b[{row}H"


def _ahead(cells: int) -> str:
    return f"\x1b[{cells}C" if cells > 1 else "\x1b[C"


@lru_cache(maxsize=4096)
def change(pen: str, style: str) -> str:
    """The shortest sequence from one style to another: what differs, or everything anew."""
    if pen == style:
        return ""
    codes = _different(parts_of(pen), parts_of(style))
    anew = f"0;{style}" if style else ""
    if codes == "" and style:
        return ""
    return f"\x1b[{anew if codes is None or len(anew) <= len(codes) else codes}m"


def _different(old: _Parts, new: _Parts) -> str | None:
    """The parameters of what is new in a style and of what has to end; None when something cannot be ended alone."""
    ended = [code for code in old[0] if code not in new[0]]
    if any(code not in _ENDS for code in ended):
        return None
    codes = [_ENDS[code] for code in ended]
    codes += [code for code in new[0] if ended or code not in old[0]]
    if new[1] != old[1]:
        codes.append(new[1] or "39")
    if new[2] != old[2]:
        codes.append(new[2] or "49")
    return ";".join(codes)


SHOWS_ON_BLANKS = frozenset({"4", "5", "7", "9", "21", "53"})
"""Attributes that are seen where nothing stands."""
_ENDS = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}
_Parts = tuple[tuple[str, ...], str, str]


@lru_cache(maxsize=4096)
def parts_of(style: str) -> _Parts:
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


# The cells a text takes on a terminal, as the widgets counted them.

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


# Order of writing: which cells of a screen changed, and the orders of them in which a pen changes its style seldom.

_GAP = 4
"""Unchanged cells that are cheaper to write again than to jump over."""
_MOST = 64
"""Runs up to which the next one is chosen by the pen: choosing takes time that grows with their square."""


class Run(Struct, frozen=True):
    """Neighbouring cells of one line that are to be written.

    Attributes:
        row: The line, from 1.
        start: The first cell, from 0.
        is_end: Whether it reaches the end of the line, after which terminals differ in where the cursor is.
    """

    row: int
    start: int
    cells: Row
    is_end: bool


def changed_stretches(before: Row, after: Row) -> list[tuple[int, int]]:
    """Stretches that differ, those joined that are only a small known gap apart."""
    runs: list[tuple[int, int]] = []
    start = stop = 0
    for index in [index for index, differs in enumerate(map(ne, before, after)) if differs]:
        if after[index] is None:
            continue
        if not stop or (index > stop and not _is_small(after[stop - 1 : index + 1])):
            if stop:
                runs.append((start, stop))
            start = index
        stop = index + 1
    if stop:
        runs.append((start, stop))
    return runs


def _is_small(gap: Row) -> bool:
    """Whether the cells between the first and the last are cheaper to write than to jump over."""
    if len(gap) > _GAP + 2 or None in gap:
        return False
    styles = [cell[1] for cell in gap if cell is not None]
    return set(styles[1:-1]) <= {styles[0], styles[-1]}


def orders(runs: Sequence[Run], style: str | None) -> Iterator[Sequence[Run]]:
    """Orders worth trying for a pen that has this style: as they stand, by the pen, and all of one style together."""
    yield runs
    if len(runs) <= 2:
        return
    inks = [_inks(run) for run in runs]
    if all(ink == inks[0] and len(ink) == 1 for ink in inks):
        return  # one style all over: no order changes it less often
    if len(runs) <= _MOST:
        yield _by_pen(runs, inks, style)
    yield _by_style(runs, inks, style)


def _by_pen(runs: Sequence[Run], inks: Sequence[list[str]], style: str | None) -> list[Run]:
    """Next is always a run that begins in the style in which the one before ended."""
    left, order = list(range(len(runs))), []
    while left:
        place = next((place for place in left if inks[place] and inks[place][0] == style), left[0])
        left.remove(place)
        order.append(runs[place])
        style = inks[place][-1] if inks[place] else style
    return order


def _by_style(runs: Sequence[Run], inks: Sequence[list[str]], style: str | None) -> list[Run]:
    """Runs cut where their style changes, those of one style together; next is always the style that is nearest."""
    groups: dict[str, list[Run]] = {}
    for run, styles in zip(runs, inks, strict=True):
        if len(styles) <= 1:
            groups.setdefault(styles[0] if styles else "", []).append(run)
            continue
        for piece in _cut(run):
            groups.setdefault((_inks(piece) or [""])[0], []).append(piece)
    order: list[Run] = []
    while groups:
        pen = style or ""
        style = min(groups, key=lambda other: len(change(pen, other)))
        order += groups.pop(style)
    return order


def _inks(run: Run) -> list[str]:
    """The styles its cells need in order, neighbours of one style told once."""
    return [style for style, _ in _pieces(run)]


def _cut(run: Run) -> Iterator[Run]:
    """A run in pieces of one style; one with a wide or a joined character stays whole: it has no sure places."""
    if any(cell is None or len(cell[0]) != 1 for cell in run.cells):
        yield run
        return
    begins = [begin for _, begin in _pieces(run)]
    for begin, end in zip(begins, [*begins[1:], len(run.cells)], strict=True):
        yield Run(run.row, run.start + begin, run.cells[begin:end], run.is_end and end == len(run.cells))


def _pieces(run: Run) -> Iterator[tuple[str, int]]:
    """The styles of a run, each with where it begins; a blank belongs to what is beside it if it looks alike in that.

    One that does not, as a piece of a scrollbar, is a piece of its own: between letters it costs two changes of style,
    with the others of its kind one for all.
    """
    style, begin, is_blank = "", 0, True
    for index, cell in enumerate(run.cells):
        if cell is None or (cell[1] == style and not is_blank):
            continue
        blank = cell[0].isspace()
        if index == 0:
            style, is_blank = cell[1], blank
        elif (blank or is_blank) and are_blanks_alike(style, cell[1]):
            if not blank:  # what stood before were blanks alone, which look the same in this style
                style, is_blank = cell[1], False
        elif cell[1] != style:
            yield style, begin
            style, begin, is_blank = cell[1], index, blank
        else:
            is_blank = is_blank and blank
    if run.cells:
        yield style, begin


# Scrolling: whether lines that moved up or down together are shorter to move on the terminal than to write again.

_LEAST_ROWS = 4
"""Fewer changed lines than this are written."""
_LEAST_GAIN = 40
"""Cells that need not be written from which on it is worth the bytes of a scroll."""
_NAMED_BY = slice(2, -2), slice(2, 60)
"""Cells by whose characters a line is found again: all but the marks of a cursor and a scrollbar, or the first ones
where something else stands beside the list.
"""
BLANK: Cell = (" ", "")


class Shift(Struct, frozen=True):
    """Lines `top` to `bottom`, from 1, of which all move down by `by` (up when it is negative); blank ones come in."""

    top: int
    bottom: int
    by: int

    def sequence(self) -> str:
        """What moves them on a terminal whose pen is plain. The cursor ends at home."""
        lines = "" if abs(self.by) == 1 else str(abs(self.by))
        return f"\x1b[{self.top};{self.bottom}r\x1b[{self.top}d\x1b[{lines}{'L' if self.by > 0 else 'M'}\x1b[r"

    def apply(self, rows: dict[int, Row]) -> None:
        """Move what is known of the lines."""
        width = len(rows[self.top])
        numbers = range(self.top, self.bottom + 1)
        moved = {number: rows.get(number - self.by) for number in numbers}
        for number in numbers:
            came = moved[number] if self.top <= number - self.by <= self.bottom else None
            rows[number] = [BLANK] * width if came is None else came


def best_shift(before: Mapping[int, Row], after: Mapping[int, Row]) -> Shift | None:
    """The move that saves most on the way from the lines `before` to those of them that are other `after`."""
    changed = [number for number, row in after.items() if before.get(number) != row]
    if len(changed) < _LEAST_ROWS:
        return None
    low, high = min(changed), max(changed)
    old, new = _lines(before, low, high), _lines({**before, **after}, low, high)
    if old is None or new is None or len({len(row) for row in (*old, *new)}) != 1:
        return None
    by = next(filter(None, (_distance(old, new, part) for part in _NAMED_BY)), 0)
    return _best_stretch(old, new, by, low) if by else None


def _lines(rows: Mapping[int, Row], low: int, high: int) -> list[Row] | None:
    """The lines from `low` to `high`; None when a cell of them is not known."""
    lines = [rows.get(number) for number in range(low, high + 1)]
    known = [row for row in lines if row is not None and None not in row]
    return known if len(known) == len(lines) else None


def _distance(old: list[Row], new: list[Row], part: slice) -> int:
    """By how many lines most of the text moved, 0 when too little did."""
    places: dict[str, int] = {}
    for place, row in enumerate(old):
        name = _name(row, part)
        places[name] = -1 if name in places else place
    moves: Counter[int] = Counter()
    for place, row in enumerate(new):
        name = _name(row, part)
        if name.strip() and (was := places.get(name, -1)) >= 0:
            moves[place - was] += 1
    (by, votes), *_ = moves.most_common(1) or [(0, 0)]
    return by if votes >= _LEAST_ROWS - 1 else 0


def _name(row: Row, part: slice) -> str:
    return "".join([cell[0] for cell in row[part] if cell is not None])


def _best_stretch(old: list[Row], new: list[Row], by: int, low: int) -> Shift | None:
    """The stretch of lines for which moving them by `by` saves most, as `new` would be written after it."""
    size, reach = len(old), abs(by)
    blank: Row = [BLANK] * len(old[0])
    still = [_differing(old[place], new[place]) for place in range(size)]
    gains = [
        still[place] - _differing(old[place - by], new[place]) if 0 <= place - by < size else -len(blank)
        for place in range(size)
    ]
    comes = [still[place] - _differing(blank, new[place]) for place in range(size)]
    best, shift = _LEAST_GAIN, None
    for start in range(size - reach):
        gain = sum(comes[start : start + reach]) if by > 0 else 0
        for end in range(start + reach, size):
            gain += gains[end] if by > 0 else gains[end - reach]
            total = gain if by > 0 else gain + sum(comes[end - reach + 1 : end + 1])
            if total > best:
                best, shift = total, Shift(low + start, low + end, by)
    return shift


def _differing(old: Row, new: Row) -> int:
    return sum(map(ne, old, new))


_TOKEN = re.compile(
    r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;:]*)m(?:([^\x00-\x1f\x7f-\x9f]+)(\x1b\[0m)?)?|(\n)|([^\x00-\x1f\x7f-\x9f]+)"
)
"""A move, a style with the text in it and its end, as nearly all come, a line's end, or text alone."""
_ASIDE = re.compile(
    r"(?:\x07|\x1b\](?:2|9|22|777);[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[2[23];2t|\x1b\[\?(?:7|25|100[0346]|1015|2004)[hl])+",
)
"""Bell, title, notices, shape of the pointer, modes of keyboard and mouse: no cell changes."""
_BLANKS, _LAST_BLANKS = 10, 4
"""More spaces than this are erased rather than written; fewer at the end of a run, where the pen need not pass them."""
_BLANKS_APART = re.compile(f"( {{{_BLANKS + 1},}}| {{{_LAST_BLANKS + 1},}}$)")
Stretch = tuple[str, str, int]
"""Neighbouring cells that are written together: their style, their text and how many they are."""
_HOME = (1, 1)
"""Where the cursor is left when nothing is typed; it is hidden then and may stay where it is."""


class Canvas:
    """What the terminal is known to show, and the shortest way from there to something else."""

    def __init__(self, *, erases: bool = False, scrolls: bool = False) -> None:
        """Assume nothing about the screen.

        Args:
            erases: The terminal erases characters (ECH) in the present background colour.
            scrolls: It moves the lines between two margins (DECSTBM, IL, DL).
        """
        self._erases, self._scrolls = erases, scrolls
        self._rows: dict[int, Row] = {}
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
        is_first = not self._rows
        painted = self._paint(data)
        if painted is None:
            reset = self._pen.to("")
            self.forget()
            return reset + data
        rows, position = painted
        self._pen.lift()
        out = self._scroll(rows) if self._scrolls else ""
        runs = [run for number in sorted(rows) for run in self._difference(number, rows[number])]
        out += self._in_order(runs) if is_first else self._shortest(runs)
        if position != self._position or (out and position != _HOME):
            out += f"\x1b[{position[0]};{position[1]}H"
        self._position = position
        return out

    def _scroll(self, rows: dict[int, Row]) -> str:
        """Move lines that only changed their place."""
        shift = best_shift(self._rows, rows)
        if shift is None:
            return ""
        still = {number: self._rows[number] for number in range(shift.top, shift.bottom + 1)}
        shift.apply(self._rows)
        rows.update({number: row for number, row in still.items() if number not in rows})
        return self._pen.to(PLAIN) + shift.sequence()

    def _paint(self, data: str) -> tuple[dict[int, Row], tuple[int, int]] | None:
        """The rows `data` touches as they will be, and where it leaves the cursor; None when it does more than that."""
        rows: dict[int, Row] = {}
        y, x, style, end = 0, 0, PLAIN, 0
        for match in _TOKEN.finditer(data):
            start, stop = match.span()
            if start != end:
                return None
            end = stop
            row, column, sgr, styled, reset, newline, plain = match.groups()
            if row is not None:
                y, x = int(row), int(column)
            elif newline is not None:
                y = 0
            elif sgr is not None:
                style = "" if sgr in ("", "0") else sgr
            text = plain if styled is None else styled
            if text is not None:
                if not y:
                    return None
                cells = cells_of(text, style)
                line = rows.get(y)
                if line is None:
                    line = rows[y] = list(self._rows.get(y, ()))
                if len(line) < x - 1 + len(cells):
                    line.extend([None] * (x - 1 + len(cells) - len(line)))
                line[x - 1 : x - 1 + len(cells)] = cells
                x += len(cells)
                if reset is not None:
                    style = PLAIN
        return (rows, (y, x)) if end == len(data) and y else None

    def _difference(self, number: int, line: Row) -> list[Run]:
        """The changed runs of a row; one with what is wide, or is in some terminals, is written in full."""
        before = self._rows.get(number, [])
        self._rows[number] = line
        if line == before:
            return []
        before = before + [None] * (len(line) - len(before))
        runs = changed_stretches(before, line)
        if _is_uneven(line) or _is_uneven(before):
            runs = [(_first_known(line), len(line))]
        return [Run(number, start, line[start:stop], stop >= len(line)) for start, stop in runs]

    def _in_order(self, runs: Sequence[Run]) -> str:
        """The runs as they stand: of the first picture, which is waited for, no other order is tried."""
        return "".join([piece for run in runs for piece in self._written(run, tuple(_stretches(run.cells)))])

    def _shortest(self, runs: Sequence[Run]) -> str:
        """The runs, written in the order that takes the fewest bytes."""
        before, best, pen = self._pen, None, self._pen
        stretches: dict[tuple[int, int, int], Sequence[Stretch]] = {}
        for order in orders(runs, before.style):
            self._pen = before.copy()
            out = "".join([piece for run in order for piece in self._written(run, _known(stretches, run))])
            if best is None or len(out) < len(best):
                best, pen = out, self._pen
        self._pen = pen
        return best or ""

    def _written(self, run: Run, stretches: Sequence[Stretch]) -> Iterator[str]:
        yield self._pen.move(run.row, run.start + 1)
        yield from self._run(run.row, run.start + 1, stretches)
        if run.is_end:
            self._pen.lift(row=run.row)

    def _run(self, number: int, column: int, stretches: Sequence[Stretch]) -> Iterator[str]:
        """Stretches of a row one after the other, the first of them at `column`, where the pen is."""
        pen, last = self._pen, len(stretches) - 1
        for place, (style, text, width) in enumerate(stretches):
            column += width
            blank = text.isspace()
            if blank:
                # Blanks look the same in the style of what follows: one change of style does for both.
                ahead = stretches[place + 1][0] if place < last else ""
                alike = bool(ahead) and not pen.blanks_like(style) and are_blanks_alike(style, ahead)
                yield pen.to(ahead) if alike else pen.to_blank(style)
            else:
                yield pen.to(style)
            if blank and len(text) > (_BLANKS if place < last else _LAST_BLANKS) and self._can_erase(style):
                yield pen.erase(len(text))
            elif is_doubtful(text):
                # Terminals differ in how wide this is: nothing may stay of what stood there where it is narrow, and
                # the place of what follows is named, so that nothing moves where it is broad.
                yield pen.write(" " * width) + pen.move(number, column - width)
                yield pen.write(text.rstrip())
                pen.lift(row=number)
                yield pen.move(number, column)
            else:
                yield pen.write(text)

    def _can_erase(self, style: str) -> bool:
        """Whether spaces of this style can be erased: the terminal does it in the background's colour."""
        return self._erases and SHOWS_ON_BLANKS.isdisjoint(parts_of(style)[0])


def _known(stretches: dict[tuple[int, int, int], Sequence[Stretch]], run: Run) -> Sequence[Stretch]:
    """The stretches of a run, worked out once for all orders it is tried in."""
    place = (run.row, run.start, len(run.cells))
    if place not in stretches:
        stretches[place] = tuple(_stretches(run.cells))
    return stretches[place]


def _stretches(cells: Row) -> Iterator[Stretch]:
    """Neighbouring cells of one style as that style, their text and how many they are.

    What is of doubtful width and many blanks are by themselves.
    """
    for style, texts in _of_one_look([cell for cell in cells if cell is not None]):
        plain = "".join(texts)
        if len(texts) <= _LAST_BLANKS and plain.isascii():
            yield style, plain, len(plain)
        elif len(texts) > _LAST_BLANKS and len(plain) == len(texts) and all(texts) and not is_doubtful(plain):
            yield from ((style, piece, len(piece)) for piece in _BLANKS_APART.split(plain) if piece)
        else:
            yield from ((style, piece, width) for piece, width in _clusters_apart(texts))


def _of_one_look(cells: Sequence[Cell]) -> Iterator[tuple[str, list[str]]]:
    """Neighbouring cells of one style; blanks behind blanks that look alike belong to those, and are one erasure."""
    style, texts = "", list[str]()
    for other, group in groupby(cells, itemgetter(1)):
        more = [cell[0] for cell in group]
        if texts and texts[-1] == " " and are_blanks_alike(style, other) and "".join(more).isspace():
            texts += more
            continue
        if texts:
            yield style, texts
        style, texts = other, more
    if texts:
        yield style, texts


def _clusters_apart(texts: list[str]) -> Iterator[tuple[str, int]]:
    """The characters of cells as text with its width, what is of doubtful width by itself."""
    begin = index = 0
    while index < len(texts):
        end = index + 1
        if is_doubtful(texts[index]):
            if index > begin:
                yield "".join(texts[begin:index]), index - begin
            begin = end = _end_of_words(texts, index)
            yield "".join(texts[index:end]), end - index
        index = end
    if begin < len(texts):
        yield "".join(texts[begin:]), len(texts) - begin


def _end_of_words(texts: list[str], start: int) -> int:
    """Where the words end to which the character at `start` belongs, and the blanks behind them, their room.

    Words are written as a whole: letter by letter, each would cover the vowel of the one before. ASCII and the gap
    between two columns end them. An emoji is no word and has no room: what is left of a broad one is written over.
    """
    if not texts[start][0].isalpha():
        return next((place for place in range(start + 1, len(texts)) if texts[place]), len(texts))
    is_over = False
    for place in range(start + 1, len(texts)):
        text = texts[place]
        if text == " ":
            is_over |= texts[place - 1] == " "
        elif text and (is_over or text.isascii() or not text[0].isalpha()):
            return place
    return len(texts)


def _is_uneven(line: Row) -> bool:
    """Whether a cell is the right half of a wide character, or its text may take more of them or fewer."""
    texts = [cell[0] for cell in line if cell is not None]
    return "" in texts or is_doubtful("".join(texts))


def _first_known(line: Row) -> int:
    return next((index for index, cell in enumerate(line) if cell is not None), 0)
